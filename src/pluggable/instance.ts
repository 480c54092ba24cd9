import type { Binding, InvokeAnswer } from '../binding/binding.ts'
import type { ComponentCounters, Metrics } from '../binding/metrics.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { InvokeRequest } from './contract.ts'
import { invokePayload } from './payload.ts'
import { createReaders, type Reader, type Readers, type ReadStream } from './readers.ts'
import { createSide, type PluggableSide } from './side.ts'

export interface InstanceOptions {
  readonly name: string
  readonly logger: Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
  /** @default 60_000 */
  readonly readWarningMs?: number | undefined
  /** Makes another component that nobody uses give up a port; false where there is none. */
  readonly freePort: (port: number, asking: string) => Promise<boolean>
}

/** One component of the host: its two sides, and who reads its events. */
export interface Instance {
  readonly name: string
  readonly logger: Logger
  readonly input: PluggableSide
  readonly output: PluggableSide
  readonly readers: Readers
  readonly counters: ComponentCounters
  /** One of its sides has had its `Init`. */
  readonly initialized: boolean
  /** One of its sides is initialised, or an `Init` runs. */
  readonly inUse: boolean
  /** Attaches one more reader to whatever input side there is or will be. */
  read(stream: ReadStream): Reader
  /**
   * Runs an operation.
   *
   * @throws BindingError of `Binding.invoke`; NOT_INITIALIZED before the output side's `init`
   */
  invoke(request: InvokeRequest, signal: AbortSignal): Promise<InvokeAnswer>
  /** Ends its timers and streams. */
  stop(): void
}

export function createInstance(options: InstanceOptions): Instance {
  const { name, logger, metrics, endpoints, readWarningMs = 60_000, freePort } = options
  const counters = metrics.component(name)
  let readWarning: NodeJS.Timeout | undefined
  /** The input side's binding, from before its listener is up. */
  let listening: Binding | undefined
  const warned = new Set<string>()

  /** Both sides read the same metadata, so both would warn of the same; and so would each call. */
  function warnOnce(warnings: readonly string[]): void {
    for (const warning of warnings) if (!warned.has(warning)) logger.warn(warning)
    for (const warning of warnings) warned.add(warning)
  }

  const readers = createReaders({
    handlerTimeoutMs: () => input.metadata?.input?.handlerTimeoutMs ?? 25_000,
    onResult: counters.event,
  })

  const input = createSide({
    side: 'input',
    component: name,
    logger,
    endpoints,
    onRestart: () => readers.abandon('the component starts anew'),
    onOpen(binding, { warnings }) {
      warnOnce(warnings)
      binding.read(readers.count > 0 ? readers.deliver : undefined)
      listening = binding
      if (readers.count === 0) warnWithoutRead()
    },
    makeRoom: async ({ input }) => input !== undefined && freePort(input.handshakePort, name),
  })
  const output = createSide({
    side: 'output',
    component: name,
    logger,
    endpoints,
    onRestart() {},
    onOpen: (_binding, { warnings }) => warnOnce(warnings),
  })

  function warnWithoutRead(): void {
    clearTimeout(readWarning)
    readWarning = setTimeout(() => {
      if (readers.count > 0 || !input.binding) return
      logger.warn(
        'nobody reads the events of this component, so deliveries are answered 503 and come again. daprd reads when the application ' +
          'listens on its --app-port and answers OPTIONS of the route with 2xx or 405, or the component says direction: input; ' +
          'after a restart of this process it reads again when it is restarted itself',
      )
    }, readWarningMs)
    readWarning.unref()
  }

  return {
    name,
    logger,
    input,
    output,
    readers,
    counters,
    get initialized() {
      return input.initialized || output.initialized
    },
    get inUse() {
      return input.inUse || output.inUse
    },
    read(stream) {
      clearTimeout(readWarning)
      logger.info(readers.count === 0 ? 'the host reads events' : 'the host reads events anew')
      const reader = readers.open(stream)
      listening?.read(readers.deliver)
      let ended = false
      return {
        ...reader,
        end() {
          if (ended) return
          ended = true
          reader.end()
          if (readers.count > 0) return
          listening?.read(undefined)
          logger.info('the host reads no events any more; deliveries are answered 503 and come again')
        },
      }
    },
    async invoke({ operation, data, metadata }, signal) {
      if (!output.initialized) {
        const error = new BindingError('NOT_INITIALIZED', {
          what: `component ${JSON.stringify(name)} was not initialised in this process`,
          fix: 'restart daprd: it initialises its components when it starts, and this process has started after it',
        })
        warnOnce([error.message])
        throw error
      }
      const { binding } = output
      if (!binding) {
        throw new BindingError('OPERATION_UNSUPPORTED', {
          what: `component ${JSON.stringify(name)} has no output side`,
          fix: 'set accessKey and topicEndpoint in its metadata',
        })
      }
      return binding.invoke(operation, invokePayload(data), { metadata, signal })
    },
    stop() {
      clearTimeout(readWarning)
      readers.endStreams()
    },
  }
}
