/**
 * A host with one binding, in a process of its own so that it can be killed. Its configuration comes as JSON in the first
 * argument; it prints the
 * port it listens on. SIGTERM closes the binding; SIGUSR2 makes the clock jump an hour ahead, and at the next time two back.
 */
import { Binding, type EventHandler } from 'eventgrid-binding'

/** What {@link startHost} of the suite passes. */
export interface HostConfiguration {
  readonly metadata: Readonly<Record<string, string>>
  readonly endpoints: { readonly resourceManager: string; readonly authorityHost: string; readonly ca: string }
  readonly ledger: string
  /** `early` acknowledges before handling, `byId` knows events by their id alone: the suite must catch both. */
  readonly honesty: 'honest' | 'early' | 'byId'
}

const configuration: HostConfiguration = JSON.parse(process.argv[2] ?? '')
const { metadata, endpoints, ledger, honesty } = configuration

const work: EventHandler = async ({ cloudEvent: { source, id }, signal }) => {
  const answer = await fetch(`${ledger}/events`, { method: 'POST', body: `${source} ${id}`, signal })
  if (!answer.ok) throw new Error(`the application answered ${answer.status}`)
  await answer.text()
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
  console.log(binding.address()?.port)
} catch (error) {
  console.log(error instanceof Error && 'code' in error ? error.code : error)
  process.exitCode = 1
}
