import { setTimeout as wait } from 'node:timers/promises'
import { type Server, startBare, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import type { LoadOrder, LoadResult } from '../load/generator.ts'
import { type Case, type Sample, type Throughput, takeTurns, withUsage } from '../measure.ts'
import { figure, type Result, spread } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
import { median, ratios } from '../statistics.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'

/** Most that our cost of an event may grow beside the bare node:http server's. */
const limit = 1.2
const connections = 50

/** What docs/performance.md advises for a process with many components; the bare servers have it too. */
const manyComponents = ['--no-allocation-site-pretenuring'] as const

/** Milliseconds that a load goes on when all is measured. */
const tailMs = 500

/** What a server answers when it is asked. */
interface Handled {
  /** So far. */
  readonly events: number
}

/** One size: the servers, and the load of that size. */
interface Size {
  readonly size: number
  readonly ours: Server
  readonly nodeHttp: Server
  readonly fastify?: Server
  /** Milliseconds until all connections are made. */
  readonly connectMs: number
  readonly load: (server: Server, ms: number) => Promise<LoadResult>
}

/** Processor time of an event at one size, run by run. */
interface Costs {
  readonly size: number
  readonly ours: readonly number[]
  readonly nodeHttp: readonly number[]
  /** Empty where it was not run. */
  readonly fastify: readonly number[]
}

/** What the server handles in some time of a load that is under way. */
async function handledIn({ child }: Server, ms: number): Promise<Throughput> {
  const [before, began] = [await child.ask<Handled>({}), performance.now()]
  await wait(ms)
  const [after, ended] = [await child.ask<Handled>({}), performance.now()]
  return { events: after.events - before.events, ms: ended - began }
}

/**
 * What an event costs at each size. All sizes take turns: growth compares what the machine did within a minute, not a
 * quarter of an hour apart.
 */
async function costsOf(bench: Bench, sizes: readonly Size[]): Promise<Costs[]> {
  const { warmUpMs, leadMs, runMs } = bench.scale
  const cases: Case[] = []
  for (const { size, connectMs, load, ...servers } of sizes) {
    for (const [name, server] of Object.entries(servers)) {
      await load(server, connectMs + warmUpMs)
      const amid = async (): Promise<Sample> => {
        await wait(connectMs + leadMs)
        return await withUsage(server.child, () => handledIn(server, runMs))
      }
      const run = async () => {
        const [sample] = await Promise.all([amid(), load(server, connectMs + leadMs + runMs + tailMs)])
        return sample
      }
      cases.push({ name: `${name} ${size}`, run })
    }
  }
  const samples = await takeTurns(cases, roundsPerProcess(bench.scale))
  const of = (name: string) => (samples.get(name) ?? []).map(({ cpuUs = Number.NaN }) => cpuUs)
  return sizes.map(({ size }) => ({
    size,
    ours: of(`ours ${size}`),
    nodeHttp: of(`nodeHttp ${size}`),
    fastify: of(`fastify ${size}`),
  }))
}

/** A line for each size: by what factor an event costs more than at the first, beside the bare node:http server's factor. */
function lines(
  unit: { readonly one: string; readonly many: string },
  found: readonly Costs[],
  hasTarget = true,
): Result[] {
  const [base] = found
  if (!base) return []
  const besideNodeHttp = ({ ours, nodeHttp }: Costs) => ratios(ours, nodeHttp)
  return found.map((costs, index) => {
    const growth = median(ratios(besideNodeHttp(costs), besideNodeHttp(base)))
    return {
      what: `${costs.size.toLocaleString('en')} ${costs.size === 1 ? unit.one : unit.many}`,
      ours: spread(costs.ours, 'us of processor time an event'),
      peer: 'bare node:http server',
      peerFigure: spread(costs.nodeHttp, 'us'),
      ratio: `grows ${figure(growth)} x as much`,
      cpuRatio: `${figure(median(ratios(costs.nodeHttp, costs.ours)))} x`,
      target: index > 0 && hasTarget ? `at most ${limit} x` : '',
      ...(index > 0 && hasTarget && { met: growth <= limit }),
    }
  })
}

/** What an event costs in new processes, over each of the numbers of connections. */
async function costsOfConnections(bench: Bench, body: string): Promise<Costs[]> {
  const { azure, scale } = bench
  // The listener admits four connections for each handler call at once: room for those of one load beside those of the
  // load before, which it may not have seen closing yet.
  const metadata = { maxConcurrency: String(Math.max(256, ...scale.connections)) }
  await using ours = await startOurs(azure, { authentication: 'secret', metadata })
  await using nodeHttp = await startBare('node-http', ours.targets)
  return await costsOf(
    bench,
    scale.connections.map((size): Size => {
      const load: Size['load'] = ({ targets }, ms) =>
        closedLoop(bench, { targets, body, connections: size, ms, awake: true })
      return { size, ours, nodeHttp, connectMs: size, load }
    }),
  )
}

/** What an event costs in new processes, each with one of the numbers of components. */
async function costsOfInstances(bench: Bench, body: string): Promise<Costs[]> {
  const { azure, scale, generator } = bench
  await using stack = new AsyncDisposableStack()
  const sizes: Size[] = []
  for (const size of scale.instances) {
    const ours = stack.use(
      await startOurs(azure, { authentication: 'secret', instances: size, nodeFlags: manyComponents }),
    )
    const nodeHttp = stack.use(await startBare('node-http', ours.targets, size, manyComponents))
    // Always by the same load: wrk knows one target only.
    const load: Size['load'] = ({ targets }, ms) => {
      const order: LoadOrder = { targets, body, connections, ms, awake: true }
      return generator.ask<LoadResult>(order)
    }
    const fastify = stack.use(await startBare('fastify', ours.targets, size, manyComponents))
    sizes.push({ size, ours, nodeHttp, fastify, connectMs: 0, load })
  }
  return await costsOf(bench, sizes)
}

/** The runs of all processes, size by size. */
const joined = (found: readonly (readonly Costs[])[]): Costs[] =>
  (found[0] ?? []).map(({ size }) => {
    const same = found.flatMap((costs) => costs.filter((one) => one.size === size))
    const all = (name: 'ours' | 'nodeHttp' | 'fastify') => same.flatMap((costs) => costs[name])
    return { size, ours: all('ours'), nodeHttp: all('nodeHttp'), fastify: all('fastify') }
  })

/** What many connections and many components cost. */
export const growth: Suite = {
  name: 'growth',
  async run(bench): Promise<Findings> {
    const { scale } = bench
    const body = deliveryBody({ bytes: 1_024, batch: 1 })
    const byConnections: Costs[][] = []
    while (byConnections.length < scale.processes) byConnections.push(await costsOfConnections(bench, body))
    const byInstances: Costs[][] = []
    while (byInstances.length < scale.processes) byInstances.push(await costsOfInstances(bench, body))
    const instances = joined(byInstances)
    const bare = instances.map((costs) => ({ ...costs, ours: costs.fastify }))
    return {
      title: 'Cost of growth',
      how:
        `Processor time of the server for one event of 1 kB, delivery secret. It is measured when a load has gone on ` +
        `for ${scale.leadMs / 1000} s, because V8 throws away compiled code when a load ends. Instances are components in one process. ` +
        'Each has a port of its own; ' +
        `together they have ${connections} connections. All is measured in ${scale.processes} processes, ` +
        'because two processes of the same program differ by a fifth. All sizes take turns. ' +
        `For instances and bare servers Node has ${manyComponents.join(' ')} too. ` +
        'Bare Fastify has as many servers in one process; its figures are in the column "ours".',
      results: [
        ...lines({ one: 'connection', many: 'connections' }, joined(byConnections)),
        ...lines({ one: 'component instance', many: 'component instances' }, instances),
        ...lines({ one: 'server of bare Fastify', many: 'servers of bare Fastify' }, bare, false),
      ],
    }
  },
}
