import { readFileSync } from 'node:fs'
import { setTimeout as rest } from 'node:timers/promises'
import { serverFile, serverFlags } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { absolute, atLeastByProcessorTime, atMost, compare, figure, type Result, type Runs } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
import type { Flow, NamespaceOrder, QueueFigures } from '../servers/namespace.ts'
import type { TimedEvents } from '../servers/timed-events.ts'
import { median } from '../statistics.ts'
import type { Bench, Findings, Suite } from '../suite.ts'
import { memoryOf, usageOf } from '../usage.ts'

const slots = 256
const singles = 100
const names = { ours: 'ours, 256 slots', loop: 'bare loop' } as const

type Namespace = Child<{ readonly endpoint: string; readonly ca: string }>

/** Something that receives from a queue of its own. */
interface Receiver {
  readonly name: string
  readonly queue: string
  readonly child: Child<object>
}

const ask = <Answer>(namespace: Namespace, order: NamespaceOrder) => namespace.ask<Answer>(order)

async function startReceiver(
  { nodeFlags }: Bench,
  { ready: { endpoint, ca } }: Namespace,
  kind: keyof typeof names,
): Promise<Receiver> {
  const metadata = {
    deliveryMode: 'pull',
    namespaceTopic: '/subscriptions/s/resourceGroups/g/providers/Microsoft.EventGrid/namespaces/bench/topics/bench',
    namespaceEndpoint: endpoint,
    namespaceKey: 'a2V5',
    eventSubscriptionName: kind,
    maxConcurrency: String(slots),
  }
  const child = await startChild<object>({
    args: [...serverFlags, ...nodeFlags, serverFile(kind === 'ours' ? 'pull-ours' : 'pull-loop')],
    core: 'server',
    env: { BENCH_SETUP: JSON.stringify({ endpoints: { ca }, metadata, endpoint, ca, queue: kind }) },
  })
  return { name: names[kind], queue: kind, child }
}

/** The runs of both receivers, by their names. */
interface Measured {
  readonly flow: ReadonlyMap<string, readonly Sample[]>
  readonly delay: ReadonlyMap<string, readonly Sample[]>
}

/** Both receivers in new processes: events as fast as they are handled, then single events. */
async function measure(bench: Bench, namespace: Namespace): Promise<Measured> {
  const { scale } = bench
  await using stack = new AsyncDisposableStack()
  const receivers: Receiver[] = []
  for (const kind of ['ours', 'loop'] as const) {
    const receiver = await startReceiver(bench, namespace, kind)
    stack.use(receiver.child)
    await flow(namespace, receiver, scale.warmUpMs)
    receivers.push(receiver)
  }
  const flowCases = receivers.map((receiver): Case => {
    const { name, child } = receiver
    return { name, run: () => withUsage(child, () => flow(namespace, receiver, scale.runMs * scale.longRun)) }
  })
  const delayCases = receivers.map(({ name, queue, child }): Case => {
    const run = async () => {
      await ask(namespace, { kind: 'singles', queue, events: singles })
      const { latencies } = await child.ask<TimedEvents>({})
      return { value: median(latencies) }
    }
    return { name, run }
  })
  const rounds = roundsPerProcess(scale)
  return { flow: await takeTurns(flowCases, rounds), delay: await takeTurns(delayCases, rounds) }
}

const flow = (namespace: Namespace, { queue }: Receiver, ms: number) =>
  ask<Flow>(namespace, { kind: 'flow', queue, ms })

/** How often the main thread of a process has waited for something so far; NaN where the system does not tell. */
function waitsOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/task/${pid}/status`, 'utf8')
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
  } catch {
    return Number.NaN
  }
}

/** What an idle receiver costs. */
async function idleCost(bench: Bench, namespace: Namespace, { queue, child }: Receiver): Promise<Result[]> {
  const ms = 10 * bench.scale.restMs
  const figures = () => ask<QueueFigures>(namespace, { kind: 'figures', queue })
  await rest(bench.scale.restMs)
  const before = { ...(await figures()), waits: waitsOf(child.pid), cpuMs: usageOf(child.pid)?.cpuMs ?? Number.NaN }
  await rest(ms)
  const after = { ...(await figures()), waits: waitsOf(child.pid), cpuMs: usageOf(child.pid)?.cpuMs ?? Number.NaN }
  const aSecond = (change: number) => (change / ms) * 1_000
  return [
    absolute('ours, idle: open receives', [after.waiting], 'receives', 2),
    absolute('ours, idle: receives begun', [60 * aSecond(after.receives - before.receives)], 'a minute', 4.1),
    absolute('ours, idle: wake-ups of the main thread', [aSecond(after.waits - before.waits)], 'a second', 2),
    absolute('ours, idle: processor time', [aSecond(after.cpuMs - before.cpuMs)], 'ms a second'),
  ]
}

async function memory({ scale }: Bench, namespace: Namespace, receiver: Receiver): Promise<Result[]> {
  const [early, late] = scale.memoryEvents
  const now = () => memoryOf(receiver.child.pid)?.now ?? Number.NaN
  let events = 0
  const receiveUpTo = async (wanted: number) => {
    while (events < wanted) events += (await flow(namespace, receiver, scale.runMs)).events
  }
  await rest(scale.restMs)
  const idle = now()
  await receiveUpTo(early)
  const afterEarly = now()
  await receiveUpTo(late)
  const afterLate = now()
  return [
    absolute('ours, idle: resident memory', [idle], 'MB', 130),
    {
      what: `ours, resident memory after ${late.toLocaleString('en')} events`,
      ours: `${figure(afterLate)} MB`,
      peer: `after ${early.toLocaleString('en')}`,
      peerFigure: `${figure(afterEarly)} MB`,
      ratio: `${figure(afterLate / afterEarly)} x`,
      cpuRatio: '',
      target: 'at most 1.1 x',
      met: afterLate / afterEarly <= 1.1,
    },
  ]
}

/** Pull delivery beside a bare loop over the same client of Node: receive 100, acknowledge 100. */
export const pull: Suite = {
  name: 'pull',
  async run(bench): Promise<Findings> {
    const { processes, runMs, longRun } = bench.scale
    await using namespace: Namespace = await startChild({ args: [serverFile('namespace')], core: 'load' })
    const cost = await costOf(bench, namespace)
    const measured: Measured[] = []
    while (measured.length < processes) measured.push(await measure(bench, namespace))
    const runs = (kind: keyof Measured, name: string): Runs => ({
      name,
      samples: measured.flatMap((one) => one[kind].get(name) ?? []),
    })
    const both = (kind: keyof Measured) => ({ ours: runs(kind, names.ours), peer: runs(kind, names.loop) })
    // 1.3 times the processor time of the bare loop.
    const inFlow = {
      what: 'receive and acknowledge events of 1 kB',
      unit: 'events/s',
      target: atLeastByProcessorTime(0.77),
    }
    const oneByOne = {
      what: 'one event to an idle receiver, until its handler runs',
      unit: 'ms',
      target: atMost(1.5),
    }
    return {
      title: 'Pull delivery',
      how:
        'Events of 1 kB over TLS from a namespace that answers at once, on the other core. The bare loop ' +
        'receives 100 events, acknowledges them together, and does nothing else. ' +
        `Both are measured in ${processes} processes, one after another; a run takes ${(runMs * longRun) / 1_000} s.`,
      results: [...compare({ ...inFlow, ...both('flow') }), ...compare({ ...oneByOne, ...both('delay') }), ...cost],
    }
  },
}

/** Memory of our receiver, and what it costs while no event arrives, in a process of its own. */
async function costOf(bench: Bench, namespace: Namespace): Promise<Result[]> {
  const ours = await startReceiver(bench, namespace, 'ours')
  await using _ = ours.child
  const memoryLines = await memory(bench, namespace, ours)
  return [...(await idleCost(bench, namespace, ours)), ...memoryLines]
}
