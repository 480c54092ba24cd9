/**
 * A host with one binding, in a process of its own so that it can be killed. Its configuration comes as JSON in the first
 * argument; it prints the port it listens on, or `receiving` where it pulls. SIGTERM closes the binding; SIGUSR2 makes the
 * clock jump an hour ahead, and at the next time two back.
 */
import { request } from 'node:http'
import { Binding, type EventHandler } from 'eventgrid-binding'

/** What {@link startHost} of the suite passes. */
export interface HostConfiguration {
  readonly metadata: Readonly<Record<string, string>>
  readonly endpoints: { readonly resourceManager: string; readonly authorityHost: string; readonly ca: string }
  readonly ledger: string
  /** `early` acknowledges before handling, `byId` knows events by their id alone: the suite must catch both. */
  readonly honesty: 'honest' | 'early' | 'byId'
  /** How many times as fast as the machine's the host's time runs. @default 1 */
  readonly speed?: number
}

const configuration: HostConfiguration = JSON.parse(process.argv[2] ?? '')
const { metadata, endpoints, ledger, honesty, speed = 1 } = configuration
if (speed !== 1) runFaster()

/** By `node:http`, since `fetch` has time-outs of its own, which would run as fast as the host's time. */
function report(key: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${ledger}/events`, { method: 'POST', signal }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode))
      answer.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(key)
  })
}

const work: EventHandler = async ({ cloudEvent: { source, id }, signal }) => {
  const status = await report(`${source} ${id}`, signal)
  if (status !== 200) throw new Error(`the application answered ${status}`)
}

const known = new Set<string>()
const handlers: Readonly<Record<HostConfiguration['honesty'], EventHandler>> = {
  honest: work,
  early: (event) => void Promise.resolve(work(event)).catch(() => {}),
  byId: async (event) => {
    if (known.has(event.cloudEvent.id)) return
    known.add(event.cloudEvent.id)
    await work(event)
  },
}

const binding = new Binding({ endpoints, onEvent: handlers[honesty] })
process.once('SIGTERM', () => void binding.close())

let ahead = 0
const realNow = Date.now
Date.now = () => realNow() + ahead
process.on('SIGUSR2', () => {
  ahead = ahead > 0 ? -3_600_000 : 3_600_000
})

try {
  await binding.init(metadata, { subscription: 'background' })
  console.log(binding.address()?.port ?? 'receiving')
} catch (error) {
  console.log(error instanceof Error && 'code' in error ? error.code : error)
  process.exitCode = 1
}

/** Has timers and clocks run so many times as fast, so that locks of a minute end in seconds. */
function runFaster(): void {
  const [elapsed, began, today] = [performance.now.bind(performance), Date.now(), Date.now.bind(Date)]
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  globalThis.setTimeout = new Proxy(setTimeout, {
    apply: (later, self, [callback, ms = 0, ...more]) => Reflect.apply(later, self, [callback, ms / speed, ...more]),
  })
  performance.now = () => elapsed() * speed
  Date.now = () => began + (today() - began) * speed
  AbortSignal.timeout = (ms) => timeout(Math.ceil(ms / speed))
}
