import { startBare, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import { type Case, takeTurns, withUsage } from '../measure.ts'
import { absolute, atLeast, compare, type Result } from '../results.ts'
import { closedLoop, type Findings, type Suite } from '../suite.ts'
import { memoryOf } from '../usage.ts'
import { names } from './inbound.ts'

const connections = 32
const sizes = [
  { what: 'bodies of 64 kB', bytes: 65_536 },
  { what: 'bodies of 1 MB', bytes: 1_000_000 },
] as const

/** Megabytes a second of large events. */
export const bodies: Suite = {
  name: 'bodies',
  async run(bench): Promise<Findings> {
    const { azure, nodeFlags, scale } = bench
    const results: Result[] = []
    for (const { what, bytes } of sizes) {
      await using ours = await startOurs(azure, { authentication: 'secret', nodeFlags })
      await using floor = await startBare('floor', ours.targets)
      const body = deliveryBody({ bytes, batch: 1 })
      const load = async (targets: typeof ours.targets, ms: number) => {
        const { answers, ms: took } = await closedLoop(bench, { targets, body, connections, ms })
        return { events: answers, ms: took }
      }
      const cases = [ours, floor].map(
        ({ child, targets }, index): Case => ({
          name: index === 0 ? names.secret : names.floor,
          async run() {
            const sample = await withUsage(child, () => load(targets, scale.runMs))
            return { ...sample, value: (sample.value * bytes) / 1e6 }
          },
        }),
      )
      for (const { targets } of [ours, floor]) await load(targets, scale.warmUpMs)
      const samples = await takeTurns(cases, scale.rounds)
      const runs = (name: string) => ({ name, samples: samples.get(name) ?? [] })
      const pair = { ours: runs(names.secret), peer: runs(names.floor) }
      results.push(...compare({ what, unit: 'MB/s', ...pair, target: atLeast(0.9) }))
      for (const [name, { child }] of [
        ['ours', ours],
        ['floor', floor],
      ] as const) {
        const peak = memoryOf(child.pid)?.peak
        if (peak !== undefined) results.push(absolute(`${what}: most memory, ${name}`, [peak], 'MB'))
      }
    }
    return {
      title: 'Large events',
      how: `One event a delivery over ${connections} connections in a closed loop, delivery secret.`,
      results,
    }
  },
}
