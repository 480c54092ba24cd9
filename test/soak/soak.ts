/**
 * Steady load for a long time, by `create` of the very host that takes the deliveries: `npm run soak -- --minutes 60 [--rate
 * 500]`. The host runs the build.
 * Exits 1 if an event is lost or, in runs of five minutes and more, if after the first third memory or handles go on growing.
 */
import { fork } from 'node:child_process'
import { on } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { percentile, sparkline } from '../../examples/demo/show.ts'
import { builtProgram } from '../support/built-program.ts'
import { freePort } from '../support/free-port.ts'
import type { SoakAccount, SoakConfiguration, VitalSigns } from './soak-host.ts'

const { values: options } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '500' } },
})
const [minutes, rate] = [Number(options.minutes), Number(options.rate)]
if (!(minutes > 0 && rate > 0)) {
  console.error('--minutes and --rate take numbers above 0')
  process.exit(2)
}

const growthAllowed = 1.05
const periodMs = Math.min(60_000, (minutes * 60_000) / 10)
const periods = Math.max(1, Math.round((minutes * 60_000) / periodMs))

const port = await freePort()
await using emulator = await EventGridEmulator.start({
  concurrency: 128,
  maxPending: 100_000,
  ingress: [{ from: 'https://soak.example.com/', to: `http://127.0.0.1:${port}/` }],
})
const { tenantId, subscriptionId, clientId, clientSecret, endpoints } = emulator
const topic = emulator.topic()
const configuration: SoakConfiguration = {
  metadata: {
    ...{ tenantId, subscriptionId, clientId, clientSecret, scope: topic.id, handshakePort: String(port) },
    ...{ subscriberEndpoint: 'https://soak.example.com', eventSubscriptionName: 'soak' },
    ...{ topicEndpoint: topic.endpoint, accessKey: topic.key },
  },
  endpoints,
  rate,
}
// The build, with the flag that the shipped command starts with.
const host = fork(builtProgram(join(import.meta.dirname, 'soak-host.ts')), [JSON.stringify(configuration)], {
  execArgv: ['--max-semi-space-size=4'],
})
process.once('exit', () => host.kill('SIGKILL'))
const answers = on(host, 'message', { close: ['exit'] })
/** The host's next answer; both sides are the soak's own. */
async function next<Answer>(): Promise<Answer> {
  const { done, value } = await answers.next()
  if (done) throw new Error('the host has ended')
  return value[0]
}
function ask<Answer>(question: string): Promise<Answer> {
  host.send(question)
  return next<Answer>()
}
await next<object>()

const durations: number[] = []
emulator.records.deliveries.listen(({ durationMs }) => void durations.push(durationMs))

async function examine() {
  const answer = await ask<VitalSigns>('how are you')
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
host.send('load')
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
clearInterval(period)
await ask<object>('end of the load')
await emulator.settled()

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
const { accepted, lost, duplicates } = await ask<SoakAccount>('account')
host.disconnect()
const most = Math.max(...samples.map(({ rss }) => rss))
console.log(`\n${accepted} events: ${lost} lost, ${duplicates} duplicates; at most ${megabytes(most)} resident`)
for (const measure of ['rss', 'heapUsed', 'p50', 'p99'] as const) {
  console.log(`${measure.padEnd(8)}  ${sparkline(samples.map((sample) => sample[measure]))}`)
}
for (const [name, value] of Object.entries(measures)) {
  console.log(`${name}, second half against first after warm-up: x ${value.toFixed(3)}`)
}
const flat = minutes < 5 || Object.values(measures).every((value) => value <= growthAllowed)
if (!flat) console.log(`grew by more than ${Math.round((growthAllowed - 1) * 100)} %`)
process.exitCode = lost === 0 && flat ? 0 : 1
