import { serverFile } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import {
  type DaprWorld,
  type Door,
  type Hop,
  openBareDoor,
  openBuiltInDoor,
  openHop,
  openOurDoor,
} from '../dapr-stack.ts'
import { cloudEvent, deliveryBody } from '../events.ts'
import type { LoadOrder, LoadResult, LoadTarget } from '../load/generator.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { atLeast, atMost, compare, figure, type Result, type Runs, spread } from '../results.ts'
import type { AppFigures } from '../servers/dapr-app.ts'
import type { TopicFigures } from '../servers/topic.ts'
import { median } from '../statistics.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'

const connections = 32
/** Least events a second of the hop alone. */
const hopTarget = 12_000

const names = {
  ours: 'ours',
  builtIn: "Dapr's built-in binding",
  bare: 'component that does nothing',
  hopEntra: 'Entra token',
  hopSecret: 'delivery secret',
} as const

type Topic = Child<{ readonly endpoint: string; readonly ca: string }>
interface NamedDoor {
  readonly name: string
  readonly door: Door
}

/** Through daprd: deliveries to an application and `create`; and the hop from a delivery to the acknowledgement of a `Read`. */
export const dapr: Suite = {
  name: 'dapr',
  async run(bench): Promise<Findings> {
    const { azure, dapr: programs, nodeFlags } = bench
    if ('missing' in programs) throw new Error(programs.missing)
    await using stack = new AsyncDisposableStack()
    const topic: Topic = stack.use(await startChild({ args: [serverFile('topic')], core: 'load' }))
    const app = stack.use(await startChild<{ port: number }>({ args: [serverFile('dapr-app')], core: 'load' }))
    const key = Buffer.from('the key of the topic of the benchmark').toString('base64')
    const world: DaprWorld = { azure, programs, nodeFlags, app, topic: { ...topic.ready, key } }
    const [ours, builtIn, hop] = await Promise.all([openOurDoor(world), openBuiltInDoor(world), openHop(world)])
    for (const one of [ours, builtIn, hop]) stack.use(one)
    const bare = stack.use(await openBareDoor(world, ours.deliveries))
    const doors: readonly NamedDoor[] = [
      { name: names.ours, door: ours },
      { name: names.builtIn, door: builtIn },
      { name: names.bare, door: bare },
    ]
    return {
      title: 'Through daprd',
      how:
        `daprd ${programs.version}, built with its own Event Grid binding alone, shares one core with the component. ` +
        `Application, topic and load have the other. Events of 1 kB over ${connections} connections. ` +
        'The component that does nothing is made of node:http and @grpc/grpc-js. The hop is "eventgrid-binding serve" alone on its core; ' +
        "daprd's own client of a pluggable component acknowledges at once. " +
        'For the hop the table has the processor time of an event in place of a ratio.',
      results: [
        ...(await inputLines(bench, app, doors)),
        ...(await createLines(bench, topic, doors)),
        ...(await hopLines(bench, hop)),
      ],
    }
  },
}

const body = deliveryBody({ bytes: 1_024, batch: 1 })

function runsOf(samples: ReadonlyMap<string, readonly Sample[]>) {
  return (name: string): Runs | undefined => {
    const found = samples.get(name)
    return found && { name, samples: found }
  }
}

async function deliver(bench: Bench, target: LoadTarget, ms: number) {
  const { answers, ms: took } = await closedLoop(bench, { targets: [target], body, connections, ms })
  return { events: answers, ms: took }
}

async function inputLines(bench: Bench, app: Child<object>, doors: readonly NamedDoor[]): Promise<Result[]> {
  const { rounds, runMs, daprWarmUpMs, daprRate: rate } = bench.scale
  const work = async ({ name, door }: NamedDoor, ms: number) => {
    await app.ask<AppFigures>({})
    const done = await deliver(bench, door.deliveries, ms)
    const { events } = await app.ask<AppFigures>({})
    if (events < done.events) throw new Error(`${name}: ${events} of ${done.events} events came to the application`)
    return done
  }
  for (const one of doors) await work(one, daprWarmUpMs)
  const throughput = doors.map(
    (one): Case => ({ name: one.name, run: () => withUsage(one.door.processes, () => work(one, runMs)) }),
  )
  const latency = doors.map(
    ({ name, door }): Case => ({
      name,
      async run() {
        const { work, ...sample } = await withUsage(door.processes, async () => {
          const order: LoadOrder = { targets: [door.deliveries], body, connections, ms: runMs, rate }
          const result = await bench.generator.ask<LoadResult>(order)
          return { ...result, events: result.answers }
        })
        return { ...sample, value: work.percentiles['99'] ?? Number.NaN }
      },
    }),
  )
  const rates = runsOf(await takeTurns(throughput, rounds))
  const delays = runsOf(await takeTurns(latency, rounds))
  const events = { what: 'delivery to the application', unit: 'events/s', ours: rates(names.ours) }
  const p99 = { what: `p99 of it at ${rate.toLocaleString('en')} events/s`, unit: 'ms', ours: delays(names.ours) }
  return [
    ...compare({ ...events, peer: rates(names.builtIn), target: atLeast(1) }),
    ...compare({ ...events, peer: rates(names.bare) }),
    ...compare({ ...p99, peer: delays(names.builtIn), target: atMost(1.3) }),
    ...compare({ ...p99, peer: delays(names.bare) }),
  ]
}

async function createLines(bench: Bench, topic: Topic, doors: readonly NamedDoor[]): Promise<Result[]> {
  const { rounds, runMs, daprWarmUpMs } = bench.scale
  const call = JSON.stringify({ operation: 'create', data: cloudEvent('e-0000000001', 1_024) })
  const work = async ({ name, door }: NamedDoor, ms: number) => {
    await topic.ask<TopicFigures>({})
    const { answers, ms: took } = await closedLoop(bench, { targets: [door.create], body: call, connections, ms })
    const { events } = await topic.ask<TopicFigures>({})
    // What is under way when the load ends is published and not counted.
    if (name !== names.bare && events < answers)
      throw new Error(`${name}: ${events} of ${answers} events came to the topic`)
    return { events: answers, ms: took }
  }
  for (const one of doors) await work(one, daprWarmUpMs)
  const cases = doors.map(
    (one): Case => ({ name: one.name, run: () => withUsage(one.door.processes, () => work(one, runMs)) }),
  )
  const runs = runsOf(await takeTurns(cases, rounds))
  const line = { what: `create, ${connections} callers`, unit: 'events/s', ours: runs(names.ours) }
  return [
    ...compare({ ...line, peer: runs(names.builtIn), target: atLeast(2) }),
    ...compare({ ...line, peer: runs(names.bare), target: atLeast(0.6) }),
  ]
}

async function hopLines(bench: Bench, { serve, deliveries }: Hop): Promise<Result[]> {
  const { rounds, runMs, daprWarmUpMs } = bench.scale
  const targets = [
    { name: names.hopSecret, target: deliveries.secret },
    { name: names.hopEntra, target: deliveries.entra },
  ]
  for (const { target } of targets) await deliver(bench, target, daprWarmUpMs)
  const cases = targets.map(
    ({ name, target }): Case => ({ name, run: () => withUsage(serve, () => deliver(bench, target, runMs)) }),
  )
  const samples = await takeTurns(cases, rounds)
  return targets.map(({ name }): Result => {
    const runs = samples.get(name) ?? []
    const values = runs.map(({ value }) => value)
    return {
      what: `the hop alone: delivery to acknowledgement, ${name}`,
      ours: spread(values, 'events/s'),
      ...{ peer: '', peerFigure: '', ratio: '' },
      cpuRatio: `${figure(median(runs.map(({ cpuUs = Number.NaN }) => cpuUs)))} us`,
      target: `at least ${hopTarget.toLocaleString('en')} events/s`,
      met: median(values) >= hopTarget,
    }
  })
}
