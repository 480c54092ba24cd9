import { type Server, startBare, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import type { LoadOrder, LoadResult } from '../load/generator.ts'
import { type Case, takeTurns, withUsage } from '../measure.ts'
import { figure, type Result, spread } from '../results.ts'
import { median } from '../statistics.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'

/** Most that our cost of an event may grow beside the floor's. */
const limit = 1.2
const connections = 50

/** Processor time of an event, by what grows. */
interface Costs {
  readonly ours: readonly number[]
  readonly floor: readonly number[]
}

/** What an event costs at one size, ours and the floor's in turns. */
async function costs(
  bench: Bench,
  pair: readonly [Server, Server],
  load: (server: Server, ms: number) => Promise<LoadResult>,
): Promise<Costs> {
  const { warmUpMs, runMs, rounds } = bench.scale
  const named = [
    ['ours', pair[0]],
    ['floor', pair[1]],
  ] as const
  for (const server of pair) await load(server, warmUpMs)
  const cases = named.map(([name, server]): Case => {
    const work = async () => {
      const { answers, ms } = await load(server, runMs)
      return { events: answers, ms }
    }
    return { name, run: () => withUsage(server.child, work) }
  })
  const samples = await takeTurns(cases, rounds)
  const of = (name: string) => (samples.get(name) ?? []).map(({ cpuUs = Number.NaN }) => cpuUs)
  return { ours: of('ours'), floor: of('floor') }
}

/** A line for each size: by what factor an event costs more than at the first, beside the floor's factor. */
function lines(unit: string, sizes: readonly number[], found: readonly Costs[]): Result[] {
  const [base] = found
  if (!base) return []
  return found.map(({ ours, floor }, index) => {
    const growth = median(ours) / median(base.ours) / (median(floor) / median(base.floor))
    return {
      what: `${sizes[index]?.toLocaleString('en')} ${unit}`,
      ours: spread(ours, 'us of processor time an event'),
      peer: 'node:http floor',
      peerFigure: spread(floor, 'us'),
      ratio: `grows ${figure(growth)} x as much`,
      cpuRatio: `${figure(median(floor) / median(ours))} x`,
      target: index === 0 ? '' : `at most ${limit} x`,
      ...(index > 0 && { met: growth <= limit }),
    }
  })
}

/** What many connections and many components cost. */
export const growth: Suite = {
  name: 'growth',
  async run(bench): Promise<Findings> {
    const { azure, scale } = bench
    const body = deliveryBody({ bytes: 1_024, batch: 1 })
    // The listener admits four connections for each handler call at once: room for those of one load beside those of the load before, which it may not have seen closing yet.
    const metadata = { maxConcurrency: String(Math.max(256, ...scale.connections)) }
    const byConnections: Costs[] = []
    {
      await using ours = await startOurs(azure, { authentication: 'secret', metadata })
      await using floor = await startBare('floor', ours.targets)
      for (const count of scale.connections) {
        byConnections.push(
          await costs(bench, [ours, floor], ({ targets }, ms) =>
            // A millisecond more for each connection that has to be made first.
            closedLoop(bench, { targets, body, connections: count, ms: ms + count }),
          ),
        )
      }
    }
    const byInstances: Costs[] = []
    for (const instances of scale.instances) {
      await using ours = await startOurs(azure, { authentication: 'secret', instances })
      await using floor = await startBare('floor', ours.targets, instances)
      // Always by the same load: wrk knows one target only.
      const load = ({ targets }: Server, ms: number) => {
        const order: LoadOrder = { targets, body, connections, ms }
        return bench.generator.ask<LoadResult>(order)
      }
      byInstances.push(await costs(bench, [ours, floor], load))
    }
    return {
      title: 'Cost of growth',
      how: `Processor time of the server for one event of 1 kB, delivery secret. Instances are components in one process, each with a port of its own, over ${connections} connections altogether.`,
      results: [
        ...lines('connections', scale.connections, byConnections),
        ...lines('component instances', scale.instances, byInstances),
      ],
    }
  },
}
