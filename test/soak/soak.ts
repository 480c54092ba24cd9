/**
 * Steady load for a long time, by `create` of the very host that takes the deliveries: `npm run soak -- --minutes 60 [--rate 500]`. Exits 1 if an event is lost or, in runs of five minutes and more, if after the
 * first third memory or handles go on growing.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { percentile, sparkline } from '../../examples/demo/show.ts'
import { askHost, openFaultWorld } from '../faults/fault-world.ts'

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '500' } },
})
const [minutes, rate] = [Number(options.minutes), Number(options.rate)]
if (!(minutes > 0 && rate > 0)) {
  console.error('--minutes and --rate take numbers above 0')
  process.exit(2)
}

const vitalSigns = z.object({ rss: z.number(), heapUsed: z.number(), handles: z.number() })
const growthAllowed = 1.05
const ticksPerSecond = 10
const periodMs = Math.min(60_000, (minutes * 60_000) / 10)
const periods = Math.max(1, Math.round((minutes * 60_000) / periodMs))

await using stack = new AsyncDisposableStack()
const world = await openFaultWorld(1, (stop) => stack.defer(async () => stop()), {
  publisher: 'binding',
  node: ['--import', new URL('vital-signs.ts', import.meta.url).href],
})
const { process: host } = world.host()

const durations: number[] = []
world.emulator.records.deliveries.listen(({ durationMs }) => void durations.push(durationMs))

let owed = 0
let publishing = Promise.resolve()
const load = setInterval(() => {
  owed += rate / ticksPerSecond
  const due = Math.floor(owed)
  owed -= due
  publishing = publishing.then(() => world.publish(due))
}, 1000 / ticksPerSecond)

async function examine() {
  const answer = await askHost(host, 'how are you', vitalSigns)
  const taken = durations.splice(0)
  return {
    ...answer,
    events: taken.length,
    p50: percentile(taken, 0.5),
    p99: percentile(taken, 0.99),
  }
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`
const samples: Awaited<ReturnType<typeof examine>>[] = []
console.log(`${periods} periods of ${(periodMs / 1000).toFixed(0)} s at ${rate} events/s`)
console.log('period   events      resident      heap  handles       p50       p99')
const { promise: over, resolve: end } = Promise.withResolvers<void>()
const period = setInterval(async () => {
  const sample = await examine()
  samples.push(sample)
  const { events, rss, heapUsed, handles, p50, p99 } = sample
  const cells = [
    ...[String(samples.length).padStart(6), String(events).padStart(7), megabytes(rss).padStart(12)],
    ...[megabytes(heapUsed).padStart(9), String(handles).padStart(6)],
    ...[`${p50.toFixed(2)} ms`.padStart(8), `${p99.toFixed(2)} ms`.padStart(8)],
  ]
  console.log(cells.join('  '))
  if (samples.length >= periods) end()
}, periodMs)
await over
clearInterval(load)
clearInterval(period)
await publishing
await world.emulator.settled()

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const warm = samples.slice(Math.floor(samples.length / 3))
const half = Math.max(1, warm.length >> 1)
const growth = (of: (sample: (typeof samples)[number]) => number, before = mean, after = mean) =>
  after(warm.slice(-half).map(of)) / before(warm.slice(0, half).map(of))
const measures = {
  'resident memory': growth(({ rss }) => rss),
  'heap in use': growth(({ heapUsed }) => heapUsed),
  // Deliveries under way and connections kept alive make them go up and down: a leak shows where the least is more than the most had been.
  handles: growth(
    ({ handles }) => handles,
    (values) => Math.max(...values),
    (values) => Math.min(...values),
  ),
}
const { accepted, lost, duplicates } = await world.account()
console.log(`\n${accepted} events: ${lost} lost, ${duplicates} duplicates`)
for (const measure of ['rss', 'heapUsed', 'p50', 'p99'] as const) {
  console.log(`${measure.padEnd(8)}  ${sparkline(samples.map((sample) => sample[measure]))}`)
}
for (const [name, value] of Object.entries(measures)) {
  console.log(`${name}, second half against first after warm-up: x ${value.toFixed(3)}`)
}
const flat = minutes < 5 || Object.values(measures).every((value) => value <= growthAllowed)
if (!flat) console.log(`grew by more than ${Math.round((growthAllowed - 1) * 100)} %`)
process.exitCode = lost === 0 && flat ? 0 : 1
