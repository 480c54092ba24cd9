// One component of daprd; warnings when daprd does not read or did not initialise.
import type { InvokeAnswer } from '../../binding/binding-component.ts'
import { createDoorSides } from '../../binding/sides/door-sides.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import { type Logger, withTrace } from '../../core/logger.ts'
import { forwardedMetadata } from '../../dispatch/processing.ts'
import type { Side } from '../../metadata/fields/field-entry.ts'
import { invokePayload } from '../shared/invoke-payload.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { InvokeRequest } from './grpc/contract.ts'
import { createInitReader, type InitMetadata } from './init-metadata.ts'
import { createReaders, type ReadStream, type StreamReader } from './readers.ts'
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
  const sides = createDoorSides({ logger: withTrace(logger), endpoints })
  const read = createInitReader({ name, logger })
  let readWarning: NodeJS.Timeout | undefined

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

  async function openInput({ metadata }: InitMetadata): Promise<void> {
    const component = { name: name || undefined, metadata }
    try {
      await sides.openInput(component)
    } catch (error) {
      const isBusy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      if (!isBusy || !metadata.input || !(await freePort(metadata.input.handshakePort, name))) throw error
      await sides.openInput(component)
    }
    if (readers.count === 0 && (metadata.input || metadata.pull)) warnWithoutRead()
  }

  const onRestart = (side: Side) => () => logger.info(`the metadata of the ${side} side changed: it restarts`)
  const input = createSide({
    read,
    open: openInput,
    close: sides.closeInput,
    onRestart: onRestart('input'),
    async release() {
      readers.abandon('the component restarts')
      await sides.closeInput()
    },
  })
  const output = createSide({
    read,
    open: ({ metadata }) => sides.openOutput({ name: name || undefined, metadata }),
    close: sides.closeOutput,
    onRestart: onRestart('output'),
  })

  function warnWithoutRead(): void {
    clearTimeout(readWarning)
    readWarning = setTimeout(() => {
      if (readers.count > 0 || !input.current) return
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
    health: sides.health,
    get initialized() {
      return input.current !== undefined || output.current !== undefined
    },
    get inUse() {
      return input.inUse || output.inUse
    },
    /** Attaches a reader to the input side, present or future. */
    read(stream: ReadStream): StreamReader {
      clearTimeout(readWarning)
      logger.info(readers.count === 0 ? 'the host reads events' : 'the host opened another Read')
      const reader = readers.open(stream)
      sides.read(deliver)
      let ended = false
      return {
        ...reader,
        end() {
          if (ended) return
          ended = true
          reader.end()
          if (readers.count > 0) return
          sides.read(undefined)
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
      return sides.invoke(operation, invokePayload(data), { metadata, signal })
    },
    /** Stops its timers and ends its streams. */
    stop() {
      clearTimeout(readWarning)
      readers.endStreams()
    },
  }
}
