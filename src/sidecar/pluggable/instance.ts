/** One component of daprd, and the warnings where daprd does not read it or did not initialise it. */
import type { InvokeAnswer } from '../../binding/binding-component.ts'
import { component } from '../../binding/component.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import type { Logger } from '../../core/logger.ts'
import { forwardedMetadata } from '../../dispatch/processing.ts'
import type { Side } from '../../metadata/fields/field-entry.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import { parseMetadata } from '../../metadata/typed/parse-metadata.ts'
import { isSameMetadata } from '../../metadata/typed/same-metadata.ts'
import { createTurns } from '../../support/work/in-turn.ts'
import { invokePayload } from '../shared/invoke-payload.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { InvokeRequest, Texts } from './grpc/contract.ts'
import { createReaders, type ReadStream, type StreamReader } from './readers.ts'

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
  const binding = component.create({ logger, ...(endpoints && { endpoints }) })
  const inTurn = createTurns()
  /** What each side was last initialised with, if only to find that it is not configured. */
  const current: { input?: ParsedMetadata | undefined; output?: ParsedMetadata } = {}
  let isRunning = false
  let isClosed = false
  let runningInits = 0
  let readWarning: NodeJS.Timeout | undefined

  const readers = createReaders({
    handlerTimeoutMs: () => (current.input?.input ?? current.input?.pull)?.handlerTimeoutMs ?? 25_000,
    onResult: counters.event,
  })

  /** With the trace context, daprd's spans join the trace. */
  function deliver({ data, contentType, ...event }: ReceivedEvent): Promise<void> {
    return readers.deliver({ data, contentType, metadata: forwardedMetadata(event) })
  }

  /** An `init` may have waited for another one, or for a port, while the component was closed. */
  function refuseWhenClosed(): void {
    if (isClosed)
      throw new BindingError('CLOSED', { what: 'the component is closing', fix: 'call it once it runs again' })
  }

  async function init(side: Side, properties: Texts): Promise<void> {
    refuseWhenClosed()
    // In the words of a sidecar, and without a free port: who routes to it could not know which.
    const metadata = parseMetadata(properties, { componentName: name, resolvedBy: 'sidecar' })
    const { input: push, pull } = metadata
    const before = current[side]
    const given = { ...(name && { name }), properties }
    const open = () =>
      isRunning
        ? binding.update(given, { sides: [side] })
        : binding.init(given, { sides: [side], subscription: 'background' })
    // daprd has ended the stream that they were sent by, and waits for this call.
    if (side === 'input' && before && !isSameMetadata([before.input, before.pull], [push, pull]))
      readers.abandon('the component restarts')
    try {
      await open()
    } catch (error) {
      const isBusy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      if (!isBusy || !push || !(await freePort(push.handshakePort, name))) throw error
      refuseWhenClosed()
      await open()
    }
    isRunning = true
    current[side] = metadata
    if (side === 'input' && readers.count === 0 && (push || pull)) warnWithoutRead()
  }

  function warnWithoutRead(): void {
    clearTimeout(readWarning)
    readWarning = setTimeout(() => {
      if (readers.count > 0 || !current.input) return
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
    readers,
    counters,
    health: () => binding.health(),
    /**
     * Initialises a side; restarts it when its metadata have changed. Does nothing for a side that the metadata do not configure.
     *
     * @throws BindingError of `Binding.init` and `update`, and then a running side goes on; CLOSED after `close`
     */
    async init(side: Side, properties: Texts): Promise<void> {
      runningInits++
      try {
        await inTurn(() => init(side, properties))
      } finally {
        runningInits--
      }
    },
    /** The metadata that each side was initialised with. */
    current,
    get initialized() {
      return current.input !== undefined || current.output !== undefined
    },
    get inUse() {
      return current.input !== undefined || current.output !== undefined || runningInits > 0
    },
    /** Closes the input side; `init` can open it again. */
    releaseInput: () =>
      inTurn(async () => {
        readers.abandon('its port is released')
        await binding.close({ sides: ['input'] })
        current.input = undefined
      }),
    /** Drains a side and closes it for good. */
    close(side: Side): Promise<void> {
      isClosed = true
      return binding.close({ sides: [side] })
    },
    /** Attaches a reader to the input side, present or future. */
    read(stream: ReadStream): StreamReader {
      clearTimeout(readWarning)
      logger.info(readers.count === 0 ? 'the host reads events' : 'the host opened another Read')
      const reader = readers.open(stream)
      binding.read(deliver)
      let ended = false
      return {
        ...reader,
        end() {
          if (ended) return
          ended = true
          reader.end()
          if (readers.count > 0) return
          binding.read(undefined)
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
      if (!current.output) {
        const fix = 'restart daprd: it initialises its components when it starts, and this process has started after it'
        options.onUninitialized(fix)
        throw new BindingError('NOT_INITIALIZED', {
          what: `component ${JSON.stringify(name)} was not initialised in this process`,
          fix,
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
