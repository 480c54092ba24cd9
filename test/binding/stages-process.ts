/**
 * Ends `init` whenever its parent says so, once for each message, by the means that it names. Tells the code that `init` was rejected
 * with, and whether its port is free again. Disconnected from its parent it has nothing left to do, so that it must exit by itself.
 */
import { createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { Binding, BindingError, type Endpoints } from '../../src/index.ts'

/** What the parent sends: metadata to begin with, then `end`. */
export type StageMessage =
  | {
      readonly is: 'begin'
      /** By its signal, by `close`, or by `close` while the event subscription comes up in the background. */
      readonly means: 'abort' | 'close' | 'background'
      readonly fields: Readonly<Record<string, string>>
      readonly endpoints: Endpoints
    }
  | { readonly is: 'end' }

/** What the parent is told. */
export type StageReport =
  | { readonly is: 'listening'; readonly port: number }
  | {
      readonly is: 'ended'
      readonly code: string
      readonly portIsFree: boolean
      readonly address: unknown
      /** What would keep the process alive: a timer, a socket. */
      readonly left: readonly string[]
    }

const tell = (report: StageReport) => process.send?.(report)
let end = async () => {}

process.on('message', async (message: StageMessage) => {
  if (message.is === 'end') return end()
  const { means, fields, endpoints } = message
  let port = 0
  const logger = {
    debug() {},
    info(_text: string, details?: { readonly port?: unknown }) {
      if (typeof details?.port !== 'number') return
      port = details.port
      tell({ is: 'listening', port })
    },
    warn() {},
    error() {},
  }
  const binding = new Binding({ endpoints, logger, onEvent() {} })
  const abort = new AbortController()
  const asked = Promise.withResolvers<void>()
  end = async () => {
    asked.resolve()
    if (means === 'abort') abort.abort()
    else await binding.close()
  }
  const subscription = means === 'background' ? 'background' : 'wait'
  const code = await binding.init(fields, { signal: abort.signal, subscription }).then(
    () => 'initialised',
    (error: unknown) => (error instanceof BindingError ? error.code : String(error)),
  )
  await asked.promise
  if (code === 'initialised') await binding.close()
  const portIsFree = await canListen(port)
  // What ends does so by the loop's next turns.
  for (let turn = 0; turn < 10; turn++) await setImmediate()
  const left = process.getActiveResourcesInfo().filter((kind) => kind !== 'PipeWrap')
  tell({ is: 'ended', code, portIsFree, address: binding.address(), left })
})

function canListen(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((known) => {
    server.once('error', () => known(false))
    server.listen(port, '::', () => server.close(() => known(true)))
  })
}
