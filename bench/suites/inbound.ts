import { type Server, startBare, startGo, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { atLeast, compare, type Runs } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
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
    { name: names.nodeHttp, server: stack.use(await startBare('node-http', secret.targets)) },
    { name: names.fastify, server: stack.use(await startBare('fastify', secret.targets)) },
  ]
}

export const names = {
  entra: 'ours, Entra token',
  secret: 'ours, delivery secret',
  go: "Dapr's Go binding, Entra token",
  nodeHttp: 'bare node:http server',
  fastify: 'bare Fastify route',
} as const

/** Loads every peer in turns; its samples by name. */
async function rates(bench: Bench, peers: readonly Peer[], batch: number): Promise<Map<string, Sample[]>> {
  const body = deliveryBody({ bytes: 1_024, batch })
  const { runMs, longRun, warmUpMs } = bench.scale
  const load = async ({ child, targets }: Server, ms: number) => {
    const { answers, ms: took } = await closedLoop(bench, {
      targets: batch > 1 ? batched(targets) : targets,
      body,
      connections,
      ms,
      awake: true,
    })
    return { events: answers * batch, ms: took, child }
  }
  for (const { server } of peers) await load(server, warmUpMs)
  const cases = peers.map(
    ({ name, server }): Case => ({ name, run: () => withUsage(server.child, () => load(server, runMs * longRun)) }),
  )
  return await takeTurns(cases, roundsPerProcess(bench.scale))
}

/** All peers in new processes: one event in a delivery, then a hundred. */
async function measure(bench: Bench) {
  await using stack = new AsyncDisposableStack()
  const peers = await inboundPeers(bench, stack)
  const single = await rates(bench, peers, 1)
  const batchPeers = peers.filter(({ name }) => name !== names.go && name !== names.entra)
  return { single, batch: await rates(bench, batchPeers, 100) }
}

/** Events a second, one in a delivery and a hundred. */
export const inbound: Suite = {
  name: 'inbound',
  async run(bench): Promise<Findings> {
    const { processes, runMs, longRun } = bench.scale
    const measured: Awaited<ReturnType<typeof measure>>[] = []
    while (measured.length < processes) measured.push(await measure(bench))
    const runs = (kind: 'single' | 'batch', name: string): Runs => ({
      name,
      samples: measured.flatMap((one) => one[kind].get(name) ?? []),
    })
    const [entra, secret] = [runs('single', names.entra), runs('single', names.secret)]
    const unit = 'events/s'
    const line = (what: string, ours: Runs, peer: Runs, factor?: number) =>
      compare({ what, unit, ours, peer, ...(factor !== undefined && { target: atLeast(factor) }) })
    const inBatches = runs('batch', names.secret)
    return {
      title: 'Deliveries to the listener',
      how:
        `CloudEvents of 1 kB over ${connections} kept-alive connections in a closed loop; a handler that resolves at once. ` +
        `All servers are measured in ${processes} processes, one after another. ` +
        `A run takes ${(runMs * longRun) / 1_000} s, because V8 throws away compiled code when a load ends.`,
      results: [
        ...line('deliveries with an Entra token', entra, runs('single', names.go), 4),
        ...line('deliveries with an Entra token', entra, runs('single', names.nodeHttp)),
        ...line('deliveries with a delivery secret', secret, runs('single', names.nodeHttp), 0.75),
        ...line('deliveries with a delivery secret', secret, runs('single', names.fastify), 0.95),
        ...line('deliveries in batches of 100', inBatches, { ...secret, name: 'ours, one by one' }, 5),
        ...line('deliveries in batches of 100', inBatches, runs('batch', names.nodeHttp)),
      ],
      bars: {
        title: 'Deliveries of one event of 1 kB, on one core',
        unit: 'events/s',
        bars: Object.values(names)
          .map((name) => ({ name, values: runs('single', name).samples.map(({ value }) => value) }))
          .filter(({ values }) => values.length > 0),
      },
    }
  },
}
