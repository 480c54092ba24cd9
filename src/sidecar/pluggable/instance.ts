// One component of daprd; warnings when daprd does not read or did not initialise.
import type { Binding, InvokeAnswer } from '../../binding/binding.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import type { Logger } from '../../core/logger.ts'
import { forwardedMetadata } from '../../dispatch/processing.ts'
import { invokePayload } from '../shared/invoke-payload.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { InvokeRequest } from './grpc/contract.ts'
import { createReaders, type Reader, type ReadStream } from './readers.ts'
import { createSide } from './side.ts'

export interface InstanceOptions {
  readonly name: string
  readonly logger: Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
  readonly readWarningMs?: number | undefined
  /** Makes an unused component release a port; false where no such component has it. */
  readonly freePort: (port: number, asking: string) => Promise<boolean>
  /** A call came before the output side's `init`. */
  readonly onUninitialized: (fix: string) => void
}

export type Instance = ReturnType<typeof createInstance>

export function createInstance(options: InstanceOptions) {
  const { name, logger, metrics, endpoints, readWarningMs = 60_000, freePort } = options
  const counters = metrics.component(name)
  let readWarning: NodeJS.Timeout | undefined
  /** The binding of the input side, set before its listener is up. */
  let listening: Binding | undefined
  const warned = new Set<string>()

  /** Both sides get the same metadata and give the same warnings. */
  function warnOnce(warnings: readonly string[]): void {
    for (const warning of warnings) if (!warned.has(warning)) logger.warn(warning)
    for (const warning of warnings) warned.add(warning)
  }

  const readers = createReaders({
    handlerTimeoutMs() {
      const { input: push, pull } = input.current?.metadata ?? {}
      return (push ?? pull)?.handlerTimeoutMs ?? 25_000
    },
    onResult: counters.event,
  })

  /** With the trace context, daprd's spans join the trace. */
  function deliver({ data, contentType, ...event }: ReceivedEvent): Promise<void> {
    return readers.deliver({ data, contentType, metadata: forwardedMetadata(event) })
  }

  const common = { component: name, logger, endpoints }
  const input = createSide({
    ...common,
    side: 'input',
    onRestart: () => readers.abandon('the component restarts'),
    onOpen(binding, { warnings }) {
      warnOnce(warnings)
      binding.read(readers.count > 0 ? deliver : undefined)
      listening = binding
      if (readers.count === 0) warnWithoutRead()
    },
    makeRoom: async ({ input }) => input !== undefined && freePort(input.handshakePort, name),
  })
  const output = createSide({
    ...common,
    side: 'output',
    onOpen: (_binding, { warnings }) => warnOnce(warnings),
  })

  function warnWithoutRead(): void {
    clearTimeout(readWarning)
    readWarning = setTimeout(() => {
      if (readers.count > 0 || !input.current?.binding) return
      logger.warn(
        'daprd does not read the events of this component: none is acknowledged, and Event Grid keeps them for a later try. daprd reads ' +
          'when the application listens on its --app-port and answers OPTIONS of the route with 2xx or 405, or the component says ' +
          'direction: input. After a restart of this process, restart daprd',
      )
    }, readWarningMs).unref()
  }

  return {
    name,
    logger,
    input,
    output,
    readers,
    counters,
    get initialized() {
      return input.current !== undefined || output.current !== undefined
    },
    get inUse() {
      return input.inUse || output.inUse
    },
    /** Attaches a reader to the input side, present or future. */
    read(stream: ReadStream): Reader {
      clearTimeout(readWarning)
      logger.info(readers.count === 0 ? 'the host reads events' : 'the host opened another Read')
      const reader = readers.open(stream)
      listening?.read(deliver)
      let ended = false
      return {
        ...reader,
        end() {
          if (ended) return
          ended = true
          reader.end()
          if (readers.count > 0) return
          listening?.read(undefined)
          logger.info('the host stopped reading events: deliveries are answered 503, and Event Grid redelivers them')
        },
      }
    },
    /**
     * Runs an operation.
     *
     * @throws BindingError of `Binding.invoke`; NOT_INITIALIZED before the output side's `init`
     */
    async invoke({ operation, data, metadata }: InvokeRequest, signal: AbortSignal): Promise<InvokeAnswer> {
      if (!output.current) {
        const fix = 'restart daprd: it initialises its components when it starts, and this process has started after it'
        options.onUninitialized(fix)
        throw new BindingError('NOT_INITIALIZED', {
          what: `component ${JSON.stringify(name)} was not initialised in this process`,
          fix,
        })
      }
      const { binding } = output.current
      if (!binding) {
        throw new BindingError('SIDE_NOT_CONFIGURED', {
          what: `component ${JSON.stringify(name)} has no output side`,
          fix: 'set accessKey and topicEndpoint in its metadata',
        })
      }
      return binding.invoke(operation, invokePayload(data), { metadata, signal })
    },
    /** Stops its timers and ends its streams. */
    stop() {
      clearTimeout(readWarning)
      readers.endStreams()
    },
  }
}
