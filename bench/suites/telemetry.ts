import { type Server, serverFile, startOurs } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import { deliveryBody } from '../events.ts'
import { type Case, type Sample, type Throughput, takeTurns, withUsage } from '../measure.ts'
import { atLeast, compare, type Result } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
import type { PublishOrder } from '../servers/publish-loop.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'
import { withoutTelemetry } from '../without-telemetry.ts'

const connections = 32
const key = Buffer.from('the key of the topic of the benchmark').toString('base64')

/** What each process runs. The second one without an SDK shows how far two processes of the same program differ. */
const variants = {
  out: 'calls taken out',
  none: 'no SDK',
  again: 'no SDK, another process',
  sdk: 'SDK, spans thrown away',
} as const
type Variant = keyof typeof variants

/** How a variant of a server is started. */
interface Start {
  readonly program: string
  readonly nodeFlags: readonly string[]
}

/** Something that takes a load. */
interface Loaded extends AsyncDisposable {
  readonly child: Child<object>
  load(ms: number): Promise<Throughput>
}

/** Runs all variants in turns, in new processes again and again: two of the same program differ. */
async function measure(bench: Bench, open: (variant: Variant) => Promise<Loaded>): Promise<Map<string, Sample[]>> {
  const { processes, warmUpMs, runMs } = bench.scale
  const samples = new Map<string, Sample[]>()
  for (let turn = 0; turn < processes; turn++) {
    await using stack = new AsyncDisposableStack()
    const cases: Case[] = []
    for (const name of ['out', 'none', 'again', 'sdk'] as const) {
      const { child, load } = stack.use(await open(name))
      await load(warmUpMs)
      cases.push({ name, run: () => withUsage(child, () => load(runMs)) })
    }
    for (const [name, runs] of await takeTurns(cases, roundsPerProcess(bench.scale))) {
      samples.set(name, [...(samples.get(name) ?? []), ...runs])
    }
  }
  return samples
}

function starts(bench: Bench, server: string): (variant: Variant) => Start {
  const copied = withoutTelemetry()
  const sdk = ['--import', serverFile('with-sdk')]
  return (variant) => ({
    program: variant === 'out' ? copied(server) : serverFile(server),
    nodeFlags: [...bench.nodeFlags, ...(variant === 'sdk' ? sdk : [])],
  })
}

async function openDeliveries(bench: Bench, start: Start): Promise<Loaded> {
  const server: Server = await startOurs(bench.azure, { authentication: 'secret', ...start })
  const order = { targets: server.targets, body: deliveryBody({ bytes: 1_024, batch: 1 }), connections, awake: true }
  return {
    child: server.child,
    async load(ms) {
      const { answers, ms: took } = await closedLoop(bench, { ...order, ms })
      return { events: answers, ms: took }
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function openCreate({ scale }: Bench, topic: Child<Topic>, { program, nodeFlags }: Start): Promise<Loaded> {
  const { endpoint, ca } = topic.ready
  const setup = { endpoints: { ca }, metadata: { accessKey: key, topicEndpoint: endpoint } }
  const child = await startChild<object>({
    args: [...nodeFlags, program],
    core: 'server',
    env: { BENCH_SETUP: JSON.stringify(setup) },
  })
  return {
    child,
    load(ms) {
      const order: PublishOrder = { callers: scale.manyCallers, ms }
      return child.ask<Throughput>(order)
    },
    [Symbol.asyncDispose]: () => child.stop(),
  }
}

interface Topic {
  readonly endpoint: string
  readonly ca: string
}

function lines(what: string, samples: ReadonlyMap<string, readonly Sample[]>): Result[] {
  const runs = (variant: Variant) => ({ name: variants[variant], samples: samples.get(variant) ?? [] })
  const line = (ours: Variant, peer: Variant, least?: number) =>
    compare({
      what: `${what}, ${variants[ours]}`,
      unit: 'events/s',
      ours: runs(ours),
      peer: runs(peer),
      ...(least !== undefined && { target: atLeast(least) }),
    })
  return [...line('none', 'out', 0.95), ...line('again', 'none'), ...line('sdk', 'out')]
}

/** What traces and metrics cost: with their calls taken out, without an SDK, and with OpenTelemetry's own. */
export const telemetry: Suite = {
  name: 'telemetry',
  async run(bench): Promise<Findings> {
    const { processes, manyCallers } = bench.scale
    await using topic = await startChild<Topic>({ args: [serverFile('topic')], core: 'load' })
    const delivering = starts(bench, 'ours')
    const deliveries = await measure(bench, (variant) => openDeliveries(bench, delivering(variant)))
    const publishing = starts(bench, 'publish-ours')
    const creates = await measure(bench, (variant) => openCreate(bench, topic, publishing(variant)))
    return {
      title: 'Cost of traces and metrics',
      how:
        `Deliveries of 1 kB with a delivery secret over ${connections} connections, and "create" by ${manyCallers} callers. ` +
        '"Calls taken out" is a copy of the package that does not call @opentelemetry/api. ' +
        `The SDK makes and batches all spans and metrics; its exporter drops them. Each is measured in ${processes} processes.`,
      results: [...lines('delivery', deliveries), ...lines('create', creates)],
    }
  },
}
