/** The public class `Binding`: its life from init to close, with one change of its two sides at a time, and the errors of wrong use. */
import type { Side } from '../core/component.ts'
import { type Endpoints, endpointsFromEnvironment } from '../core/endpoints.ts'
import { BindingError, isBindingError } from '../core/errors.ts'
import type { EventHandler } from '../core/event.ts'
import { type Logger, silentLogger, unfailing, withTrace } from '../core/logger.ts'
import { readDefinition } from '../metadata/component/component-definition.ts'
import { describeIssue } from '../metadata/fields/faults.ts'
import { type ParsedMetadata, secretsOf } from '../metadata/typed/metadata.ts'
import { parseMetadata } from '../metadata/typed/parse-metadata.ts'
import { createTurns } from '../support/work/work.ts'
import type {
  BindingComponent,
  InitOptions,
  InvokeAnswer,
  InvokeOptions,
  ListenAddress,
  SidesOption,
  UpdateOptions,
} from './binding-component.ts'
import {
  type BindingOptions,
  checkCallOptions,
  checkHandler,
  checkOperation,
  type GivenOperation,
  operations,
} from './binding-options.ts'
import type { GivenMetadata } from './given-metadata.ts'
import { decideHealth, type Health } from './health.ts'
import type { SideOptions } from './side.ts'
import { createInputSlot, type InputSlot } from './sides/input-slot.ts'
import { createOutputSlot, type OutputSlot } from './sides/output-slot.ts'

type State = 'new' | 'initializing' | 'ready' | 'closed'

/** The Event Grid binding of one component: `init`, which may be tried again, then deliveries, `invoke`s and `update`s, then `close`. */
export class Binding implements BindingComponent {
  readonly #options: BindingOptions
  readonly #logger: Logger
  readonly #input: InputSlot
  readonly #output: OutputSlot
  readonly #inTurn = createTurns()
  /** Each `close` of a side aborts the changes of that side that are under way. */
  readonly #closing = { input: new AbortController(), output: new AbortController() }
  #state: State = 'new'
  #closed: Promise<void> | undefined
  /** The warnings of the metadata that were given last: they are not logged again. */
  #warned: readonly string[] = []
  /** The secrets of the metadata that were given last, then former ones: answers to a side that drains may still repeat these. */
  #secrets: readonly string[] = []

  /** @throws TypeError for an unknown option or an invalid value */
  constructor(options: BindingOptions = {}) {
    checkCallOptions('Binding', options)
    this.#options = { ...options }
    const { onEvent, onError, credential: hostCredential, fastify } = options
    // Twice: the host's logger may throw, and so may a span of its SDK.
    this.#logger = unfailing(withTrace(unfailing(options.logger ?? silentLogger)))
    const logger = this.#logger
    const secrets = () => this.#secrets
    const shared = (): SideOptions => ({ endpoints: this.endpoints(), hostCredential, onError, logger, secrets })
    this.#input = createInputSlot(shared, fastify)
    this.#output = createOutputSlot(shared)
    this.#input.read(onEvent)
  }

  /**
   * Validates everything, opens the listener on `handshakePort`, creates or updates the event subscription.
   *
   * @param metadata a component of `parseComponents`, a component document as it was parsed, `{ name, properties }`,
   *   or a flat record of metadata fields (docs/library.md)
   * @throws BindingError METADATA_INVALID with every fault, also of `endpoints`; ALREADY_INITIALIZED; CLOSED; ABORTED
   *   by `signal`; PORT_UNAVAILABLE; PLUGIN_FAILED; CREDENTIALS_REJECTED where the process lacks what `azureCredential` needs; and
   *   with `subscription: 'wait'` also where Entra or ARM refuses the client, PERMISSION_DENIED,
   *   PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND, HANDSHAKE_FAILED, SUBSCRIPTION_REJECTED or TIMEOUT; a TypeError for an
   *   invalid option. After any of these but ALREADY_INITIALIZED nothing is left running.
   */
  async init<const Given>(metadata: GivenMetadata<Given>, options: InitOptions = {}): Promise<void> {
    checkCallOptions('init', options)
    if (this.#state === 'closed') throw closedError()
    if (this.#state !== 'new') {
      throw new BindingError('ALREADY_INITIALIZED', {
        what: this.#state === 'ready' ? 'this binding is initialised' : 'init is under way',
        fix: 'call update for other metadata, or make another Binding: each has one component, and a closed one stays closed',
      })
    }
    this.#state = 'initializing'
    try {
      await this.#change('init', this.#parse(metadata), options)
    } catch (error) {
      if (!this.#isClosed()) this.#state = 'new'
      throw error
    }
  }

  /**
   * Replaces the metadata of the component, for instance when its YAML or a secret has changed. All fields are validated first. A side
   * whose fields have not changed goes on. For other fields a new side is opened:
   * - Output: new calls use the new side. Calls under way end on the former side.
   * - Input: the former server or receiver frees the port and accepts no more events. The new one opens the port, and tries again for two
   *   seconds while the port is in use. Handlers under way go on.
   *
   * Resolves when the sides are open. The event subscription is updated in the background: {@link Binding.health} shows its state.
   * Deliveries with the former settings are still accepted meanwhile (docs/library.md).
   *
   * Calls are done one after the other, and after an `init` under way; a call that waits hears its `signal`. Where one rejects, everything
   * goes on as before: an input side that had to be closed is opened again.
   *
   * @param metadata as for `init`
   * @throws BindingError METADATA_INVALID; NOT_INITIALIZED before `init` has succeeded; CLOSED; ABORTED by `signal`; PORT_UNAVAILABLE;
   *   PLUGIN_FAILED; CREDENTIALS_REJECTED where the process lacks what `azureCredential` needs; a TypeError for an invalid option
   */
  async update<const Given>(metadata: GivenMetadata<Given>, options: UpdateOptions = {}): Promise<void> {
    checkCallOptions('update', options)
    if (this.#isClosed()) throw closedError()
    await this.#change('update', this.#parse(metadata), options)
  }

  /** Opens, replaces or ends the sides that the options name, all of them or none. */
  async #change(what: 'init' | 'update', metadata: ParsedMetadata, options: InitOptions): Promise<void> {
    const { sides = bothSides, subscription = what === 'init' ? 'wait' : 'background', signal: given } = options
    const [input, output] = [this.#closing.input.signal, this.#closing.output.signal]
    const closing = AbortSignal.any(sides.map((side) => (side === 'input' ? input : output)))
    const signal = given ? AbortSignal.any([given, closing]) : closing
    const changeInput = async () => {
      if (sides.includes('input')) await this.#input.replace(metadata, { subscription, signal, closing: input })
    }
    try {
      await this.#inTurn(async () => {
        if (what === 'update' && this.#state !== 'ready') throw notInitialized()
        if (sides.includes('output')) await this.#output.replace(metadata.output, changeInput)
        else await changeInput()
        // By a close between the end of opening and here.
        closing.throwIfAborted()
        this.#state = 'ready'
      }, signal)
    } catch (error) {
      if (this.#isClosed()) throw closedError()
      const fix = `call ${what} again when ready`
      if (closing.aborted)
        throw new BindingError('CLOSED', { what: `a side was closed while ${what} was under way`, fix })
      if (!given?.aborted) throw error
      const why = isBindingError(error) ? `: ${error.what}` : ''
      throw new BindingError('ABORTED', {
        what: `${what} was aborted by its signal${why}`,
        fix,
        cause: isBindingError(error) ? error.cause : undefined,
      })
    }
  }

  #parse(given: unknown): ParsedMetadata {
    const { name, properties } = readDefinition(given)
    const metadata = parseMetadata(properties, {
      ...(name !== undefined && { componentName: name }),
      credentialGiven: this.#options.credential !== undefined,
      allowAnyPort: true,
    })
    const warnings = [...metadata.warnings.map(describeIssue), ...this.#idleOptions(metadata)]
    for (const warning of warnings) if (!this.#warned.includes(warning)) this.#logger.warn(warning)
    this.#warned = warnings
    this.#secrets = [...new Set([...secretsOf(metadata), ...this.#secrets])].slice(0, maxSecrets)
    return metadata
  }

  /** Warnings of options that do nothing for this component. */
  #idleOptions({ push, pull, output }: ParsedMetadata): readonly string[] {
    const { fastify, credential } = this.#options
    const asksEntra = push?.credential || pull?.credential || output?.authentication.kind === 'entra'
    return [
      ...(fastify && !push ? ['the option fastify does nothing: this component has no listener'] : []),
      ...(credential && !asksEntra ? ['the option credential does nothing: this component goes by keys alone'] : []),
    ]
  }

  /** A `close` may come while something else is awaited. */
  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  /**
   * Sets or replaces the handler of events, at any time. `undefined` takes it away: deliveries are answered 503, and Event
   * Grid sends them again; pull delivery receives nothing.
   *
   * @throws TypeError for a handler that is not a function
   */
  read(handler: EventHandler | undefined): void {
    checkHandler('the handler', handler)
    this.#input.read(handler)
  }

  /** Where it looks for Azure: the option, or else the environment. What is absent here is the cloud's own. */
  endpoints(): Endpoints {
    return this.#options.endpoints ?? endpointsFromEnvironment(process.env)
  }

  /** Where the input side listens; `undefined` before the listener is up, after `close`, and without an input side. */
  address(): ListenAddress | undefined {
    return this.#input.address()
  }

  /**
   * Runs an output operation. `create` publishes one event, or several, to the custom topic.
   *
   * @param payload what docs/publishing.md lists: an event, an array of events, or data of any JSON form
   * @throws BindingError NOT_INITIALIZED, CLOSED, OPERATION_UNSUPPORTED, SIDE_NOT_CONFIGURED, PAYLOAD_INVALID, PAYLOAD_TOO_LARGE,
   *   PUBLISH_REJECTED, PUBLISH_UNAVAILABLE, CREDENTIALS_REJECTED, PERMISSION_DENIED, OVERLOADED or ABORTED; a TypeError for an invalid
   *   option
   */
  async invoke<Operation extends string>(
    operation: GivenOperation<Operation>,
    payload: unknown,
    options: InvokeOptions = {},
  ): Promise<InvokeAnswer> {
    checkCallOptions('invoke', options)
    const isOpen = this.#state === 'ready' || this.#input.isHandling()
    if (this.#state === 'closed' && !isOpen) throw closedError()
    checkOperation(operation)
    if (!isOpen) throw notInitialized()
    return this.#output.create(payload, options)
  }

  /** The output operations: `create` is the only one. */
  operations(): readonly string[] {
    return operations
  }

  /** The health of each side, with reasons. Answers at once, without a request. */
  health(): Health {
    if (this.#isClosed()) return decideHealth({ input: undefined, output: undefined })
    return decideHealth({ input: this.#input.health(), output: this.#output.health() })
  }

  /**
   * Drains and stops: new deliveries are answered 503, handlers under way are awaited (at most `handlerTimeout`), queued events are
   * published. The event subscription stays, so Event Grid keeps events for the next start. May be called again. An `init` or `update`
   * under way rejects with CLOSED.
   *
   * With `sides` only these sides close, and `update` can open them again. Meanwhile their health is `unhealthy`, and without the output
   * side `invoke` rejects with CLOSED. A host of several components closes the input sides of all first, as a handler may publish through
   * another component.
   *
   * @throws a TypeError for an invalid option
   */
  async close(options: SidesOption = {}): Promise<void> {
    checkCallOptions('close', options)
    if (options.sides && !this.#isClosed()) return this.#closeSides(options.sides)
    this.#state = 'closed'
    this.#closed ??= this.#closeSides(bothSides)
    return this.#closed
  }

  /** Ends the changes of these sides that are under way. A handler may publish until it returns: so the output side ends last. */
  #closeSides(sides: readonly Side[]): Promise<void> {
    for (const side of sides) {
      this.#closing[side].abort()
      this.#closing[side] = new AbortController()
    }
    return this.#inTurn(async () => {
      if (sides.includes('input')) await this.#input.close()
      if (sides.includes('output')) await this.#output.close()
    })
  }

  /** {@link Binding.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const bothSides: readonly Side[] = ['input', 'output']

/** Most secrets of a component that are remembered, to hide them; former ones count. */
const maxSecrets = 100

const closedError = () =>
  new BindingError('CLOSED', { what: 'the binding is closed', fix: 'make a new Binding and init it' })

const notInitialized = () =>
  new BindingError('NOT_INITIALIZED', { what: 'the binding is not initialised', fix: 'await init first' })
