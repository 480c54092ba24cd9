// The public `Binding` class: init, read, invoke, health, close; texts of its state errors.
import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { EventHandler } from '../core/event.ts'
import { type Logger, silentLogger, unfailing, withTrace } from '../core/logger.ts'
import type { FastifyHook } from '../listener/http/host-plugins.ts'
import { readDefinition } from '../metadata/component/component-definition.ts'
import { describeIssue } from '../metadata/typed/metadata-invalid.ts'
import { parseMetadata } from '../metadata/typed/parse-metadata.ts'
import type { GivenMetadata } from './given-metadata.ts'
import type { Health } from './health.ts'
import { checkHandler, checkInitOptions, checkInvokeOptions, checkOptions } from './refuse-wrong-options.ts'
import {
  type ComponentSides,
  checkOperation,
  createComponentSides,
  type InvokeAnswer,
  type InvokeOptions,
  operations,
} from './sides/component-sides.ts'

/** Options of a {@link Binding}. Each may be left out. */
export interface BindingOptions {
  /** Takes each event. Without one, deliveries are answered 503, and pull delivery receives nothing, until {@link Binding.read} sets it. */
  readonly onEvent?: EventHandler
  /** Where log lines go. @default nowhere */
  readonly logger?: Logger
  /** The host's credential, in place of the one that metadata describes. The fields that it replaces are not required. */
  readonly credential?: TokenCredential
  /**
   * Where Azure is; `emulator.endpoints` for an emulator. @default AZURE_RESOURCE_MANAGER_URL and AZURE_AUTHORITY_HOST
   * of the environment, else the cloud of `azureEnvironment`
   */
  readonly endpoints?: Endpoints
  /**
   * Called with the Fastify server of the listener before it listens, and awaited: adds plugins, hooks and routes of the host. They see
   * deliveries too, but the host's parsers and error handler do not. A hook that refuses requests without a login also refuses Event Grid.
   */
  readonly fastify?: FastifyHook
}

/** Options of {@link Binding.init}. */
export interface InitOptions {
  /** Gives up, frees the port and rejects with ABORTED. */
  readonly signal?: AbortSignal
  /**
   * `wait` resolves when the event subscription is provisioned, or rejects after `subscriptionTimeout`.
   * `background` resolves once the listener listens, and tries until `close`. @default 'wait'
   */
  readonly subscription?: 'wait' | 'background'
}

/** Where a binding listens. */
export interface ListenAddress {
  /** The IP address that was bound: `::` for all. */
  readonly address: string
  /** The port that was bound, where `handshakePort` is 0 too. */
  readonly port: number
}

/** The operation, `create`. A misspelt literal does not compile; a string that is known at run time does. */
export type GivenOperation<Operation extends string> = string extends Operation ? Operation : 'create'

type State = 'new' | 'initializing' | 'ready' | 'closed'

/**
 * The Event Grid binding of one component: deliveries in, `create` out.
 *
 * The life of one: `init`, any number of deliveries and `invoke`s, `close`. A failed `init` may be tried again.
 */
export class Binding {
  readonly #credentialGiven: boolean
  readonly #logger: Logger
  readonly #sides: ComponentSides
  #state: State = 'new'
  #closing = new AbortController()
  #initializing: Promise<void> | undefined
  #closed: Promise<void> | undefined

  /** @throws TypeError for an unknown option or an invalid value */
  constructor(options: BindingOptions = {}) {
    checkOptions(options)
    const { onEvent, credential } = options
    this.#credentialGiven = credential !== undefined
    this.#logger = withTrace(unfailing(options.logger ?? silentLogger))
    this.#sides = createComponentSides({ ...options, logger: this.#logger })
    this.#sides.read(onEvent)
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
    checkInitOptions(options)
    if (this.#state === 'closed') throw closedError()
    if (this.#state !== 'new') {
      throw new BindingError('ALREADY_INITIALIZED', {
        what: this.#state === 'ready' ? 'this binding is initialised' : 'init is under way',
        fix: 'make another Binding: each has one component, and a closed one stays closed',
      })
    }
    this.#state = 'initializing'
    this.#initializing = this.#open(metadata, options)
    try {
      await this.#initializing
      // By a close() between the end of opening and here.
      this.#closing.signal.throwIfAborted()
      this.#state = 'ready'
    } catch (error) {
      if (this.#closing.signal.aborted) throw closedError()
      this.#state = 'new'
      if (options.signal?.aborted) {
        throw new BindingError('ABORTED', { what: 'init was aborted by its signal', fix: 'call init again when ready' })
      }
      throw error
    }
  }

  async #open(source: unknown, { signal, subscription = 'wait' }: InitOptions): Promise<void> {
    const either = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    const { name, properties } = readDefinition(source)
    const metadata = parseMetadata(properties, {
      ...(name !== undefined && { componentName: name }),
      credentialGiven: this.#credentialGiven,
      allowAnyPort: true,
    })
    for (const warning of metadata.warnings) this.#logger.warn(describeIssue(warning))
    const component = { name, metadata, source }
    try {
      either.throwIfAborted()
      await this.#sides.openOutput(component)
      await this.#sides.openInput(component, { subscription, signal: either })
    } catch (error) {
      await this.#sides.close()
      throw error
    }
  }

  /**
   * Sets or replaces the handler of events, at any time. `undefined` takes it away: deliveries are answered 503, and Event
   * Grid sends them again; pull delivery receives nothing.
   *
   * @throws TypeError for a handler that is not a function
   */
  read(handler: EventHandler | undefined): void {
    checkHandler('the handler', handler)
    this.#sides.read(handler)
  }

  /** Where it looks for Azure: the option, or else the environment. What is absent here is the cloud's own. */
  get endpoints(): Endpoints {
    return this.#sides.endpoints()
  }

  /** Where the input side listens; `undefined` before the listener is up, after `close`, and without an input side. */
  address(): ListenAddress | undefined {
    return this.#sides.address()
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
    checkInvokeOptions(options)
    const isOpen = this.#state === 'ready' || this.#sides.isHandling()
    if (this.#state === 'closed' && !isOpen) throw closedError()
    checkOperation(operation)
    if (!isOpen) {
      throw new BindingError('NOT_INITIALIZED', { what: 'the binding is not initialised', fix: 'await init first' })
    }
    return this.#sides.invoke(operation, payload, options)
  }

  /** The output operations: `create` is the only one. */
  operations(): readonly string[] {
    return operations
  }

  /** The health of each side, with reasons. Answers at once, without a request. */
  health(): Health {
    return this.#sides.health()
  }

  /**
   * Drains and stops: new deliveries are answered 503, handlers under way are awaited (at most `handlerTimeout`),
   * queued events are published. The event subscription stays, so Event Grid keeps events for the next start. May be
   * called again, and during `init`, which then rejects with CLOSED.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const initializing = this.#state === 'initializing' ? this.#initializing : undefined
    this.#state = 'closed'
    this.#closing.abort()
    await initializing?.catch(() => {})
    await this.#sides.close()
  }

  /** {@link Binding.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

const closedError = () =>
  new BindingError('CLOSED', { what: 'the binding is closed', fix: 'make a new Binding and init it' })
