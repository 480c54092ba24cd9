import { type Server, startBare, startGo, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import { type Case, takeTurns, withUsage } from '../measure.ts'
import { atLeast, compare, type Runs } from '../results.ts'
import { type Bench, batched, closedLoop, type Findings, type Suite } from '../suite.ts'

const connections = 32

interface Peer {
  readonly name: string
  readonly server: Server
}

/** Our binding with either authentication, Dapr's Go binding where there is Go, and the bare servers. */
export async function inboundPeers(bench: Bench, stack: AsyncDisposableStack): Promise<Peer[]> {
  const { azure, go, nodeFlags } = bench
  const entra = stack.use(await startOurs(azure, { authentication: 'entra', nodeFlags }))
  const secret = stack.use(await startOurs(azure, { authentication: 'secret', nodeFlags }))
  return [
    { name: names.entra, server: entra },
    { name: names.secret, server: secret },
    ...('program' in go ? [{ name: names.go, server: stack.use(await startGo(azure, go)) }] : []),
    { name: names.floor, server: stack.use(await startBare('floor', secret.targets)) },
    { name: names.fastify, server: stack.use(await startBare('fastify', secret.targets)) },
  ]
}

export const names = {
  entra: 'ours, Entra token',
  secret: 'ours, delivery secret',
  go: "Dapr's Go binding, Entra token",
  floor: 'node:http floor',
  fastify: 'bare Fastify route',
} as const

/** Loads every peer in turns; its runs by name. */
async function rates(bench: Bench, peers: readonly Peer[], bytes: number, batch: number): Promise<Map<string, Runs>> {
  const body = deliveryBody({ bytes, batch })
  const { rounds, runMs, warmUpMs } = bench.scale
  const load = async ({ child, targets }: Server, ms: number) => {
    const { answers, ms: took } = await closedLoop(bench, {
      targets: batch > 1 ? batched(targets) : targets,
      ...{ body, connections, ms, awake: true },
    })
    return { events: answers * batch, ms: took, child }
  }
  for (const { server } of peers) await load(server, warmUpMs)
  const cases = peers.map(
    ({ name, server }): Case => ({ name, run: () => withUsage(server.child, () => load(server, runMs)) }),
  )
  const samples = await takeTurns(cases, rounds)
  return new Map([...samples].map(([name, runs]) => [name, { name, samples: runs }]))
}

/** Events a second, one in a delivery and a hundred. */
export const inbound: Suite = {
  name: 'inbound',
  async run(bench): Promise<Findings> {
    await using stack = new AsyncDisposableStack()
    const peers = await inboundPeers(bench, stack)
    const single = await rates(bench, peers, 1_024, 1)
    const batchPeers = peers.filter(({ name }) => name !== names.go && name !== names.entra)
    const batch = await rates(bench, batchPeers, 1_024, 100)
    const [entra, secret] = [single.get(names.entra), single.get(names.secret)]
    const unit = 'events/s'
    const line = (what: string, ours: Runs | undefined, peer: Runs | undefined, factor?: number) =>
      compare({ what, unit, ours, peer, ...(factor !== undefined && { target: atLeast(factor) }) })
    const inBatches = batch.get(names.secret)
    return {
      title: 'Deliveries to the listener',
      how: `CloudEvents of 1 kB over ${connections} kept-alive connections in a closed loop; a handler that resolves at once.`,
      results: [
        ...line('Entra token on each request', entra, single.get(names.go), 3),
        ...line('Entra token on each request', entra, single.get(names.floor)),
        ...line('delivery secret', secret, single.get(names.floor), 0.75),
        ...line('delivery secret', secret, single.get(names.fastify), 0.85),
        ...line('batches of 100', inBatches, secret && { ...secret, name: 'ours, one by one' }, 5),
        ...line('batches of 100', inBatches, batch.get(names.floor)),
      ],
      bars: {
        title: 'Deliveries of one event of 1 kB, on one core',
        unit: 'events/s',
        bars: [...single.values()].map(({ name, samples }) => ({ name, values: samples.map(({ value }) => value) })),
      },
    }
  },
}
