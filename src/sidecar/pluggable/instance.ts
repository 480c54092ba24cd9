/** One component of daprd, and the warnings where daprd does not read it or did not initialise it. */
import type { InvokeAnswer } from '../../binding/binding-component.ts'
import { component } from '../../binding/component.ts'
import { decideHealth, type Health } from '../../binding/health.ts'
import type { Side } from '../../core/component.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import type { ReceivedEvent } from '../../core/event.ts'
import type { Logger } from '../../core/logger.ts'
import { forwardedMetadata } from '../../dispatch/handler.ts'
import { isSameMetadata, type ParsedMetadata } from '../../metadata/typed/metadata.ts'
import { parseMetadata } from '../../metadata/typed/parse-metadata.ts'
import { createTurns } from '../../support/work/work.ts'
import { type ActiveComponent, withoutSecrets } from '../shared/health-and-metrics-server.ts'
import { invokePayload } from '../shared/invoke.ts'
import type { ComponentCounters, Metrics } from '../shared/metrics.ts'
import type { InvokeRequest, Texts } from './grpc/contract.ts'
import { Readers, type ReadStream, type StreamReader } from './readers.ts'

export interface InstanceOptions {
  readonly name: string
  readonly logger: Logger
  readonly metrics: Metrics
  readonly endpoints?: Endpoints | undefined
  readonly readWarningMs?: number | undefined
  /** Makes an unused component release a port; false where no unused component has that port. */
  readonly freePort: (port: number, asking: string) => Promise<boolean>
  /** A call came before the output side's `init`. */
  readonly onUninitialized: (fix: string) => void
}

export class Instance {
  readonly name: string
  readonly logger: Logger
  readonly readers: Readers
  readonly counters: ComponentCounters
  /** The metadata of the last Init of each side, whether or not they configure that side. */
  readonly current: { input?: ParsedMetadata | undefined; output?: ParsedMetadata } = {}
  readonly #options: InstanceOptions
  readonly #binding: ReturnType<typeof component.create>
  readonly #inTurn = createTurns()
  /** The properties that were taken last: daprd gives both sides the same. */
  #given: Texts = {}
  #isRunning = false
  #isClosed = false
  #runningInits = 0
  /** Runs from an `init` of the input side until a Read comes, or is overdue. */
  #readWarning: NodeJS.Timeout | undefined

  constructor(options: InstanceOptions) {
    const { name, logger, metrics, endpoints } = options
    this.name = name
    this.logger = logger
    this.counters = metrics.component(name)
    this.readers = new Readers({
      handlerTimeoutMs: () => (this.current.input?.push ?? this.current.input?.pull)?.handlerTimeoutMs ?? 25_000,
      onResult: this.counters.event,
    })
    this.#options = options
    this.#binding = component.create({ logger, ...(endpoints && { endpoints }) })
  }

  /** An input side whose port was released for another component counts as not configured. */
  health(): Health {
    const { input, output } = this.#binding.health()
    return decideHealth({ input: this.current.input && input, output })
  }

  active(): ActiveComponent {
    const { input, output } = this.current
    const configured = { input: input?.push ?? input?.pull, output: output?.output }
    const sides = (['input', 'output'] as const).filter((side) => configured[side] !== undefined)
    return { sides, metadata: withoutSecrets(this.#given) }
  }

  get initialized(): boolean {
    return this.current.input !== undefined || this.current.output !== undefined
  }

  get inUse(): boolean {
    return this.initialized || this.#runningInits > 0
  }

  /** Somebody reads events, or is about to: daprd initialises all components before it reads one. */
  get isRead(): boolean {
    return this.readers.count > 0 || this.#runningInits > 0 || this.#readWarning !== undefined
  }

  /**
   * Initialises a side; restarts it when its metadata have changed. Does nothing for a side that the metadata do not configure.
   *
   * @throws BindingError of `Binding.init` and `update`, and then a running side goes on; CLOSED after `close`
   */
  async init(side: Side, properties: Texts): Promise<void> {
    this.#runningInits++
    try {
      await this.#inTurn(() => this.#init(side, properties))
    } finally {
      this.#runningInits--
    }
  }

  async #init(side: Side, properties: Texts): Promise<void> {
    const { name } = this
    this.#refuseWhenClosed()
    // Parsed here too, so that errors speak of a sidecar, and port 0 is refused: nobody could know which port to route to.
    const metadata = parseMetadata(properties, { componentName: name })
    const { push, pull } = metadata
    const before = this.current[side]
    const given = { ...(name && { name }), properties }
    const open = () =>
      this.#isRunning
        ? this.#binding.update(given, { sides: [side] })
        : this.#binding.init(given, { sides: [side], subscription: 'background' })
    // daprd has ended the stream that they were sent by, and waits for this call.
    if (side === 'input' && before && !isSameMetadata([before.push, before.pull], [push, pull]))
      this.readers.abandon('the component restarts')
    try {
      await open()
    } catch (error) {
      const isBusy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      if (!isBusy || !push || !(await this.#options.freePort(push.handshakePort, name))) throw error
      this.#refuseWhenClosed()
      await open()
    }
    this.#isRunning = true
    this.current[side] = metadata
    this.#given = properties
    if (side === 'input' && this.readers.count === 0 && (push || pull)) this.#warnWithoutRead()
  }

  /** An `init` may have waited for another one, or for a port, while the component was closed. */
  #refuseWhenClosed(): void {
    if (this.#isClosed)
      throw new BindingError('CLOSED', { what: 'the component is closing', fix: 'call it once it runs again' })
  }

  #warnWithoutRead(): void {
    clearTimeout(this.#readWarning)
    this.#readWarning = setTimeout(() => {
      this.#readWarning = undefined
      if (this.readers.count > 0 || !this.current.input) return
      this.logger.warn(
        'daprd does not read the events of this component: none is acknowledged, and Event Grid keeps them for a later try. daprd reads ' +
          'when the application listens on its --app-port and answers OPTIONS of the route with 2xx or 405, or the component says ' +
          'direction: input. After a restart of this process, restart daprd',
      )
    }, this.#options.readWarningMs ?? 60_000).unref()
  }

  /** Closes the input side; `init` can open it again. */
  releaseInput(): Promise<void> {
    return this.#inTurn(async () => {
      this.readers.abandon('its port is released')
      await this.#binding.close({ sides: ['input'] })
      this.current.input = undefined
    })
  }

  /** Drains a side and closes it for good. */
  close(side: Side): Promise<void> {
    this.#isClosed = true
    return this.#binding.close({ sides: [side] })
  }

  /** Attaches a reader to the input side, present or future. */
  read(stream: ReadStream): StreamReader {
    const { readers, logger } = this
    clearTimeout(this.#readWarning)
    this.#readWarning = undefined
    logger.info(readers.count === 0 ? 'the host reads events' : 'the host opened another Read')
    const reader = readers.open(stream)
    // With the trace context, daprd's spans join the trace.
    this.#binding.read(({ data, contentType, signal, ...event }: ReceivedEvent) =>
      readers.deliver({ data, contentType, signal, metadata: forwardedMetadata(event) }),
    )
    let ended = false
    return {
      ...reader,
      end: () => {
        if (ended) return
        ended = true
        reader.end()
        if (readers.count > 0) return
        this.#binding.read(undefined)
        logger.info('the host stopped reading events: deliveries are answered 503, and Event Grid redelivers them')
      },
    }
  }

  /**
   * Runs an operation.
   *
   * @throws BindingError of `Binding.invoke`; NOT_INITIALIZED before the output side's `init`
   */
  async invoke({ operation, data, metadata }: InvokeRequest, signal: AbortSignal): Promise<InvokeAnswer> {
    if (!this.current.output) {
      const fix = 'restart daprd: it initialises its components when it starts, and this process has started after it'
      this.#options.onUninitialized(fix)
      const what = `component ${JSON.stringify(this.name)} was not initialised in this process`
      throw new BindingError('NOT_INITIALIZED', { what, fix })
    }
    return this.#binding.invoke(operation, invokePayload(data), { metadata, signal })
  }

  /** Stops its timers and ends its streams. */
  stop(): void {
    clearTimeout(this.#readWarning)
    this.readers.endStreams()
  }
}
