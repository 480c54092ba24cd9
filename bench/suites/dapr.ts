import { serverFile } from '../azure.ts'
import { type Child, startChild } from '../child.ts'
import { type DaprWorld, type Door, openBareDoor, openBuiltInDoor, openHop, openOurDoor } from '../dapr-stack.ts'
import { cloudEvent, deliveryBody } from '../events.ts'
import type { LoadOrder, LoadResult, LoadTarget } from '../load/generator.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { atLeast, atMost, compare, figure, type Result, type Runs, spread, type Target } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
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

/** What all doors are measured with. */
interface Load {
  readonly bench: Bench
  readonly app: Child<object>
  readonly topic: Topic
}

/** The runs of one kind of door, of all its processes. */
interface Measured {
  readonly deliveries: Sample[]
  readonly delays: Sample[]
  readonly creates: Sample[]
}

/** Through daprd: deliveries to an application and `create`; and the hop from a delivery to the acknowledgement of a `Read`. */
export const dapr: Suite = {
  name: 'dapr',
  async run(bench): Promise<Findings> {
    const { azure, dapr: programs, nodeFlags, scale } = bench
    if ('missing' in programs) throw new Error(programs.missing)
    const { longRun, runMs } = scale
    await using stack = new AsyncDisposableStack()
    const topic: Topic = stack.use(await startChild({ args: [serverFile('topic')], core: 'load' }))
    const app = stack.use(await startChild<{ port: number }>({ args: [serverFile('dapr-app')], core: 'load' }))
    const key = Buffer.from('the key of the topic of the benchmark').toString('base64')
    const world: DaprWorld = { azure, programs, nodeFlags, app, topic: { ...topic.ready, key } }
    const load: Load = { bench, app, topic }
    const none = (): Measured => ({ deliveries: [], delays: [], creates: [] })
    const measured = { ours: none(), builtIn: none(), bare: none() }
    for (let process = 0; process < scale.processes; process++) {
      const like = await measure(load, names.ours, openOurDoor(world), measured.ours)
      await measure(load, names.builtIn, openBuiltInDoor(world), measured.builtIn)
      await measure(load, names.bare, openBareDoor(world, like), measured.bare)
    }
    const compareAll = (
      what: string,
      unit: string,
      kind: keyof Measured,
      targets: { builtIn?: Target; bare?: Target },
    ) => {
      const runs = (door: keyof typeof measured): Runs => ({ name: names[door], samples: measured[door][kind] })
      return (['builtIn', 'bare'] as const).flatMap((peer) => {
        const target = targets[peer]
        return compare({ what, unit, ours: runs('ours'), peer: runs(peer), ...(target && { target }) })
      })
    }
    const rate = scale.daprRate.toLocaleString('en')
    return {
      title: 'Through daprd',
      how:
        `daprd ${programs.version}, built with its own Event Grid binding alone, shares one core with the component. ` +
        `Application, topic and load have the other. Events of 1 kB over ${connections} connections. ` +
        'The component that does nothing is made of node:http and @grpc/grpc-js. ' +
        `Each daprd is measured in ${scale.processes} processes, and alone: an idle daprd takes 2 % of the core. ` +
        `A run of "create" takes ${(longRun * runMs) / 1_000} s, because V8 throws away compiled code when a load ends. ` +
        'A run of the p99 takes as long, because the p99 of fewer events differs much from run to run. ' +
        'The hop is "eventgrid-binding serve" alone on its core; ' +
        "daprd's own client of a pluggable component acknowledges at once. " +
        'For the hop the table has the processor time of an event in place of a ratio.',
      results: [
        ...compareAll('delivery through daprd to the application', 'events/s', 'deliveries', { builtIn: atLeast(1) }),
        ...compareAll(`p99 of it at ${rate} events/s`, 'ms', 'delays', { builtIn: atMost(1.3) }),
        ...compareAll(`\`create\` through daprd, ${connections} callers`, 'events/s', 'creates', {
          builtIn: atLeast(2),
          bare: atLeast(0.6),
        }),
        ...(await hopLines(bench, world)),
      ],
    }
  },
}

const body = deliveryBody({ bytes: 1_024, batch: 1 })
const call = JSON.stringify({ operation: 'create', data: cloudEvent('e-0000000001', 1_024) })

async function deliver(bench: Bench, target: LoadTarget, ms: number) {
  const { answers, ms: took } = await closedLoop(bench, { targets: [target], body, connections, ms })
  return { events: answers, ms: took }
}

/** Measures one door and closes it, so that the next has the core for itself. Resolves with what was delivered to. */
async function measure(load: Load, name: string, opening: Promise<Door>, into: Measured): Promise<LoadTarget> {
  const { bench, app, topic } = load
  const { runMs, longRun, daprWarmUpMs, daprRate } = bench.scale
  await using door = await opening
  const runs = roundsPerProcess(bench.scale)

  const deliverAll = async (ms: number) => {
    await app.ask<AppFigures>({})
    const done = await deliver(bench, door.deliveries, ms)
    const { events } = await app.ask<AppFigures>({})
    if (events < done.events) throw new Error(`${name}: ${events} of ${done.events} events came to the application`)
    return done
  }
  await deliverAll(daprWarmUpMs)
  for (let run = 0; run < runs; run++) into.deliveries.push(await withUsage(door.processes, () => deliverAll(runMs)))

  for (let run = 0; run < runs; run++) {
    const { work, ...sample } = await withUsage(door.processes, async () => {
      const order: LoadOrder = { targets: [door.deliveries], body, connections, ms: runMs * longRun, rate: daprRate }
      const result = await bench.generator.ask<LoadResult>(order)
      return { ...result, events: result.answers }
    })
    into.delays.push({ ...sample, value: work.percentiles['99'] ?? Number.NaN })
  }

  const createAll = async (ms: number) => {
    await topic.ask<TopicFigures>({})
    const { answers, ms: took } = await closedLoop(bench, { targets: [door.create], body: call, connections, ms })
    const { events } = await topic.ask<TopicFigures>({})
    // What is under way when the load ends is published and not counted.
    if (name !== names.bare && events < answers)
      throw new Error(`${name}: ${events} of ${answers} events came to the topic`)
    return { events: answers, ms: took }
  }
  await createAll(daprWarmUpMs)
  for (let run = 0; run < runs; run++)
    into.creates.push(await withUsage(door.processes, () => createAll(runMs * longRun)))
  return door.deliveries
}

async function hopLines(bench: Bench, world: DaprWorld): Promise<Result[]> {
  await using hop = await openHop(world)
  const { serve, deliveries } = hop
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
      peer: '',
      peerFigure: '',
      ratio: '',
      cpuRatio: `${figure(median(runs.map(({ cpuUs = Number.NaN }) => cpuUs)))} us`,
      target: `at least ${hopTarget.toLocaleString('en')} events/s`,
      met: median(values) >= hopTarget,
    }
  })
}
