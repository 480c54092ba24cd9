import { deliveryBody } from '../events.ts'
import type { LoadResult } from '../load/generator.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { atMost, compare, type Runs } from '../results.ts'
import { median } from '../statistics.ts'
import type { Curve, Findings, Suite } from '../suite.ts'
import { inboundPeers, names } from './inbound.ts'

const connections = 32

/** How long a delivery takes at a topic's greatest rate. */
export const latency: Suite = {
  name: 'latency',
  async run(bench): Promise<Findings> {
    await using stack = new AsyncDisposableStack()
    const { rounds, runMs, warmUpMs, steadyRate } = bench.scale
    const shown = steadyRate.toLocaleString('en')
    const body = deliveryBody({ bytes: 1_024, batch: 1 })
    const peers = await inboundPeers(bench, stack)
    const percentiles = new Map<string, LoadResult['percentiles'][]>()
    const cases = peers.map(({ name, server: { child, targets } }): Case => {
      const steady = (ms: number) =>
        bench.generator.ask<LoadResult>({ targets, body, connections, ms, rate: steadyRate })
      return {
        name,
        async run(): Promise<Sample> {
          const { work, ...sample } = await withUsage(child, async () => {
            const result = await steady(runMs)
            return { ...result, events: result.answers }
          })
          percentiles.set(name, [...(percentiles.get(name) ?? []), work.percentiles])
          return { ...sample, value: work.percentiles['99'] ?? Number.NaN }
        },
      }
    })
    // As fast as answers come: what is compiled, and what is collected of the time before, shall be so by now.
    for (const { server } of peers)
      await bench.generator.ask({ targets: server.targets, body, connections, ms: warmUpMs })
    const samples = await takeTurns(cases, rounds)
    const runs = (name: string): Runs | undefined => {
      const found = samples.get(name)
      return found && { name, samples: found }
    }
    const line = (ours: string, peer: string, limit?: number) =>
      compare({
        what: `p99 at ${shown} events/s, ${ours.replace('ours, ', '')}`,
        unit: 'ms',
        ours: runs(ours),
        peer: runs(peer),
        ...(limit !== undefined && { target: atMost(limit) }),
      })
    return {
      title: `Latency at ${shown} events a second`,
      how:
        `An open loop over ${connections} connections. The time of a delivery counts from the moment at which it was due, ` +
        'whether or not earlier ones were answered.',
      results: [
        ...line(names.entra, names.go, 1),
        ...line(names.entra, names.nodeHttp, 2),
        ...line(names.secret, names.nodeHttp, 2),
        ...line(names.secret, names.fastify),
      ],
      curves: [...percentiles].map(([name, all]): Curve => ({ name, percentiles: mediansOf(all) })),
    }
  },
}

function mediansOf(all: readonly LoadResult['percentiles'][]): LoadResult['percentiles'] {
  const keys = Object.keys(all[0] ?? {})
  return Object.fromEntries(keys.map((key) => [key, median(all.map((one) => one[key] ?? Number.NaN))]))
}
