/**
 * The host of the soak: a binding that publishes events at a steady rate and takes them back, with nothing else in the
 * process, so that its memory is that of a
 * host of the built package. Its configuration comes as JSON in the first argument. It answers its parent's messages:
 * `load`, `how are you`, `account`.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Binding, type Endpoints } from 'eventgrid-binding'

/** What the parent passes. */
export interface SoakConfiguration {
  readonly metadata: Readonly<Record<string, string>>
  readonly endpoints: Endpoints
  /** Events a second. */
  readonly rate: number
}

/** How the process is. */
export interface VitalSigns {
  readonly rss: number
  readonly heapUsed: number
  readonly handles: number
}

/** What became of the events that were published. */
export interface SoakAccount {
  readonly accepted: number
  readonly lost: number
  readonly duplicates: number
}

const ticksPerSecond = 10
/** A bit for each event: enough for a day and a half at 500 events a second. */
const handled = new Uint8Array(2 ** 23)
let duplicates = 0

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const { metadata, endpoints, rate }: SoakConfiguration = JSON.parse(process.argv[2] ?? '')
const binding = new Binding({
  endpoints,
  onEvent({ cloudEvent: { id } }) {
    const [byte, bit] = [Number(id) >> 3, 1 << (Number(id) & 7)]
    const before = handled[byte] ?? 0
    if (before & bit) duplicates++
    handled[byte] = before | bit
  },
})
await binding.init(metadata)

let accepted = 0
let publishing: Promise<void> = Promise.resolve()
let load: NodeJS.Timeout | undefined

/** Publishes what is due, call by call as an application does. A call that fails ends the process. */
function startLoad(): void {
  const started = performance.now()
  load = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1000) * rate) - accepted
    const calls = Array.from({ length: due }, () => {
      const id = String(accepted++)
      return binding.invoke('create', { specversion: '1.0', type: 'load', source: '/soak', id, data: { order: id } })
    })
    // Without the answers, which would pile up.
    publishing = Promise.all([publishing, ...calls]).then(() => {})
  }, 1000 / ticksPerSecond)
}

function vitalSigns(): VitalSigns {
  collect()
  const { rss, heapUsed } = process.memoryUsage()
  return { rss, heapUsed, handles: process.getActiveResourcesInfo().length }
}

function account(): SoakAccount {
  const isHandled = (id: number) => ((handled[id >> 3] ?? 0) & (1 << (id & 7))) !== 0
  let lost = 0
  for (let id = 0; id < accepted; id++) if (!isHandled(id)) lost++
  return { accepted, lost, duplicates }
}

process.on('message', async (message) => {
  if (message === 'load') return startLoad()
  if (message === 'how are you') return process.send?.(vitalSigns())
  if (message === 'account') return process.send?.(account())
  // The load is over once everything that was begun is published.
  clearInterval(load)
  await publishing
  process.send?.({})
})
process.once('disconnect', () => void binding.close())
process.send?.({})
