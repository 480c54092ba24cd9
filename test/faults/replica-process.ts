/**
 * One replica of an application: a binding in a process of its own. Its configuration comes as JSON in the first argument.
 * It tells its parent where
 * it listens, when `init` has ended, and each event that its handler has finished; any message from the parent closes it.
 */
import { setTimeout as work } from 'node:timers/promises'
import { Binding, type Endpoints, type Logger } from 'eventgrid-binding'

/** What the parent passes. */
export interface ReplicaConfiguration {
  readonly fields: Readonly<Record<string, string>>
  readonly endpoints: Endpoints
}

/** What a replica tells. */
export type ReplicaMessage =
  | { readonly is: 'listening'; readonly port: number }
  | { readonly is: 'ready' }
  | { readonly is: 'failed'; readonly why: string }
  | { readonly is: 'handled'; readonly id: string }
  | { readonly is: 'health'; readonly status: string; readonly reasons: readonly string[] }

const tell = (message: ReplicaMessage) => new Promise((told) => process.send?.(message, told))

const configuration: ReplicaConfiguration = JSON.parse(process.argv[2] ?? '')
const logger: Logger = {
  debug() {},
  info: (_message, fields) => void (typeof fields?.port === 'number' && tell({ is: 'listening', port: fields.port })),
  warn() {},
  error() {},
}

const binding = new Binding({
  endpoints: configuration.endpoints,
  logger,
  async onEvent({ cloudEvent: { id } }) {
    await work(20)
    await tell({ is: 'handled', id })
  },
})

process.on('message', async (asked) => {
  if (asked === 'health') {
    const { status, input } = binding.health()
    return tell({ is: 'health', status, reasons: input?.reasons ?? [] })
  }
  await binding.close()
  process.disconnect()
})

try {
  await binding.init(configuration.fields)
  await tell({ is: 'ready' })
} catch (error) {
  await tell({ is: 'failed', why: error instanceof Error ? error.message : String(error) })
}
