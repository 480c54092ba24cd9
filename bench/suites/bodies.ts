import { startBare, startOurs } from '../azure.ts'
import { deliveryBody } from '../events.ts'
import { type Case, type Sample, takeTurns, withUsage } from '../measure.ts'
import { absolute, atLeast, compare, type Result } from '../results.ts'
import { roundsPerProcess } from '../scale.ts'
import { type Bench, closedLoop, type Findings, type Suite } from '../suite.ts'
import { memoryOf } from '../usage.ts'
import { names } from './inbound.ts'

const connections = 32
/**
 * A run of 1 MB takes longer: in a second all connections end their third body or none does, and what is under way at the
 * end does not count.
 */
const sizes = [
  { what: 'bodies of 64 kB', bytes: 65_536, times: 1 },
  { what: 'bodies of 1 MB', bytes: 1_000_000, times: 4 },
] as const

/** What the runs of both servers gave, and the most memory that each took, in MB. */
interface Measured {
  readonly samples: ReadonlyMap<string, readonly Sample[]>
  readonly peaks: ReadonlyMap<string, number>
}

/** Ours and the bare node:http server, in new processes. */
async function measure(bench: Bench, { bytes, times }: (typeof sizes)[number]): Promise<Measured> {
  const { azure, nodeFlags, scale } = bench
  await using ours = await startOurs(azure, { authentication: 'secret', nodeFlags })
  await using nodeHttp = await startBare('node-http', ours.targets)
  const body = deliveryBody({ bytes, batch: 1 })
  const servers = { [names.secret]: ours, [names.nodeHttp]: nodeHttp }
  const cases: Case[] = []
  for (const [name, { child, targets }] of Object.entries(servers)) {
    const load = async (ms: number) => {
      const { answers, ms: took } = await closedLoop(bench, { targets, body, connections, ms, awake: true })
      return { events: answers, ms: took }
    }
    await load(scale.warmUpMs)
    cases.push({
      name,
      async run() {
        const sample = await withUsage(child, () => load(scale.runMs * times))
        return { ...sample, value: (sample.value * bytes) / 1e6 }
      },
    })
  }
  const samples = await takeTurns(cases, roundsPerProcess(scale))
  const peaks = Object.entries(servers).map(([name, { child }]) => [name, memoryOf(child.pid)?.peak ?? 0] as const)
  return { samples, peaks: new Map(peaks) }
}

/** Megabytes a second of large events. */
export const bodies: Suite = {
  name: 'bodies',
  async run(bench): Promise<Findings> {
    const { processes } = bench.scale
    const results: Result[] = []
    for (const size of sizes) {
      const { what } = size
      const measured: Measured[] = []
      while (measured.length < processes) measured.push(await measure(bench, size))
      const runs = (name: string) => ({ name, samples: measured.flatMap(({ samples }) => samples.get(name) ?? []) })
      const pair = { ours: runs(names.secret), peer: runs(names.nodeHttp) }
      results.push(...compare({ what, unit: 'MB/s', ...pair, target: atLeast(0.9) }))
      for (const [whose, name] of [
        ['ours', names.secret],
        [names.nodeHttp, names.nodeHttp],
      ] as const) {
        const peaks = measured.map(({ peaks }) => peaks.get(name) ?? 0)
        if (!peaks.includes(0)) results.push(absolute(`${what}: most memory, ${whose}`, peaks, 'MB'))
      }
    }
    return {
      title: 'Large events',
      how:
        `One event a delivery over ${connections} connections in a closed loop, delivery secret. ` +
        `Each server is measured in ${processes} processes, one after another.`,
      results,
    }
  },
}
