// `npm run bench:emulator [-- --short]`: what the emulator does on this machine. The emulator is one process; publisher and subscriber
// are another. Exit code 1 if a target is missed.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { EventGridManagementClient } from '@azure/arm-eventgrid'
import { ClientSecretCredential } from '@azure/identity'
import type { EmulatorEndpoints, TopicView } from 'eventgrid-binding/emulator'
import type { Load } from './emulator-load.ts'

const { values } = parseArgs({
  options: {
    /** Of the run that memory is watched in. */
    events: { type: 'string' },
    /** Of each throughput run. */
    sample: { type: 'string' },
    runs: { type: 'string' },
    /** How many times looser the targets are, for a machine that has other things to do. */
    slack: { type: 'string', default: '1' },
    /** A quick look: a tenth of the events, three runs. Other options win. */
    short: { type: 'boolean', default: false },
  },
})
const { short } = values

function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${option} is a number above 0, not ${text}`)
  return number
}

const events = numberOf('events', values.events ?? (short ? '100000' : '1000000'))
const sample = numberOf('sample', values.sample ?? (short ? '20000' : '50000'))
const runs = numberOf('runs', values.runs ?? (short ? '3' : '5'))
const slack = numberOf('slack', values.slack)
const targets = { eventsPerSecond: 5000 / slack, startMs: 500 * slack, growth: 1.2 } as const

interface Ready {
  readonly endpoints: EmulatorEndpoints
  readonly tenantId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly subscriptionId: string
  readonly topic: TopicView
  readonly importMs: number
  readonly startMs: number
  readonly upMs: number
}

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly cpuMs: number
}

interface Delivered {
  readonly ms: number
  readonly delivered: number
  readonly wanted: number
  readonly requests: number
}

function start(file: string, execArgv: readonly string[] = []): ChildProcess {
  const child = fork(join(import.meta.dirname, file), [], { execArgv: [...execArgv] })
  child.once('exit', (code) => {
    if (code) throw new Error(`${file} ended with ${code}`)
  })
  return child
}

/** The next message; each of the two programs says what its caller expects. */
async function said<T>(child: ChildProcess): Promise<T> {
  const [message] = await once(child, 'message')
  return message as T
}

async function ask<T>(child: ChildProcess, message: object): Promise<T> {
  const answer = said<T>(child)
  child.send(message)
  return answer
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] = [sorted[sorted.length % 2 ? middle : middle - 1], sorted[middle]]
  return (low + high) / 2
}

const starts: Ready[] = []
for (let run = 0; run < runs; run++) {
  const child = start('emulator-server.ts')
  starts.push(await said<Ready>(child))
  child.disconnect()
  await once(child, 'exit')
}

const server = start('emulator-server.ts', ['--expose-gc', ...(process.env.BENCH_PROFILE ? ['--cpu-prof'] : [])])
const ready = await said<Ready>(server)
const load = start('emulator-load.ts')
const { port } = await said<{ port: number }>(load)
const { endpoints, topic } = ready

async function subscribe(maxEventsPerBatch: number): Promise<void> {
  const { ca: trusted } = endpoints
  const credential = new ClientSecretCredential(ready.tenantId, ready.clientId, ready.clientSecret, {
    authorityHost: endpoints.authorityHost,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: trusted },
  })
  const client = new EventGridManagementClient(credential, ready.subscriptionId, {
    endpoint: endpoints.resourceManager,
    tlsOptions: { ca: trusted },
  })
  await client.eventSubscriptions.beginCreateOrUpdateAndWait(topic.id.slice(1), 'bench', {
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    destination: {
      endpointType: 'WebHook',
      endpointUrl: `https://p${port}.example/api/events`,
      ...(maxEventsPerBatch > 1 ? { maxEventsPerBatch, preferredBatchSizeInKilobytes: 256 } : {}),
    },
    filter: {
      includedEventTypes: ['Order.Placed'],
      subjectBeginsWith: 'orders/',
      advancedFilters: [{ operatorType: 'NumberGreaterThan', key: 'data.amount', value: 1 }],
    },
  })
}

const work = (count: number, perRequest: number): Load => ({
  endpoint: topic.httpEndpoint,
  key: topic.key,
  events: count,
  perRequest,
  oneInFiltered: 10,
})

interface Row {
  readonly what: string
  readonly figure: string
  readonly target?: string
  readonly met?: boolean
}
const rows: Row[] = []

const startMs = median(starts.map((one) => one.startMs))
rows.push({ what: 'EventGridEmulator.start() to listening', figure: `${startMs.toFixed(0)} ms` })
const upMs = median(starts.map((one) => one.upMs))
rows.push({
  what: 'a new process to listening, Node and imports included',
  figure: `${upMs.toFixed(0)} ms`,
  target: `< ${targets.startMs} ms`,
  met: upMs < targets.startMs,
})

async function throughput(what: string, maxEventsPerBatch: number, perRequest: number): Promise<void> {
  await subscribe(maxEventsPerBatch)
  await ask<Delivered>(load, work(Math.min(sample, 10_000), perRequest))
  const rates: number[] = []
  for (let run = 0; run < runs; run++) {
    const { ms, delivered, wanted } = await ask<Delivered>(load, work(sample, perRequest))
    if (delivered !== wanted) throw new Error(`${delivered} of ${wanted} events were delivered`)
    rates.push((sample / ms) * 1000)
  }
  const rate = median(rates)
  rows.push({
    what,
    figure: `${rate.toFixed(0)} events/s`,
    target: `>= ${targets.eventsPerSecond} events/s`,
    met: rate >= targets.eventsPerSecond,
  })
}

await throughput('published by 100, delivered one by one', 1, 100)
await throughput('published by 100, delivered by 100', 100, 100)

// The rings of records must be full before memory can be flat.
await subscribe(1)
await ask<Delivered>(load, work(20_000, 100))
await ask<Memory>(server, {})
const memory: Memory[] = []
const part = Math.ceil(events / 10)
for (let done = 0; done < events; done += part) {
  await ask<Delivered>(load, work(Math.min(part, events - done), 100))
  memory.push(await ask<Memory>(server, {}))
}
const megabytes = (bytes: number) => `${(bytes / 1_048_576).toFixed(0)} MB`
for (const [name, field] of [
  ['heap in use', 'heapUsed'],
  ['resident memory', 'rss'],
] as const) {
  const sizes = memory.map((one) => one[field])
  console.log(`${name} after each ${part} events: ${sizes.map(megabytes).join(', ')}`)
  const growth = (sizes.at(-1) ?? 0) / (sizes[0] ?? 1)
  rows.push({
    what: `${name} over ${events} events, the last tenth against the first`,
    figure: `${megabytes(sizes.at(-1) ?? 0)}, x ${growth.toFixed(2)}`,
    target: `< x ${targets.growth}`,
    met: growth < targets.growth,
  })
}
console.log()

load.disconnect()
server.disconnect()

console.log(`| what (medians of ${runs}) | figure | target | |\n|---|---|---|---|`)
for (const { what, figure, target = '', met } of rows) {
  console.log(`| ${what} | ${figure} | ${target} | ${met === undefined ? '' : met ? 'met' : 'MISSED'} |`)
}
process.exitCode = rows.some(({ met }) => met === false) ? 1 : 0
