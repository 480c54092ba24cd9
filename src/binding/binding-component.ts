/** What the binding of any vendor is to its host: an interface, its options and its answers. */

import type { Component, Side } from '../core/component.ts'
import type { ErrorHandler, EventHandler } from '../core/event.ts'
import type { Logger } from '../core/logger.ts'
import type { ComponentHealth } from './health.ts'

/** What a host gives every binding. A binding may have options of its own: a host sets them where it registers the plugin. */
export interface BindingComponentOptions {
  /** Takes each event. Without one, events wait until {@link BindingComponent.read} sets it. @default none */
  readonly onEvent?: EventHandler
  /** Gets the error of each failed call of the handler. @default none */
  readonly onError?: ErrorHandler
  /** Where log lines go. @default nowhere */
  readonly logger?: Logger
}

/** A component as a host has it: a `Component` of `parseComponents`, or name and properties alone. */
export type GivenComponent = Pick<Component, 'name' | 'properties'> & Partial<Component>

/** Which sides a call is for: a runtime may start and stop the sides one by one, as Dapr does. */
export interface SidesOption {
  /** @default both, as far as the metadata configure them */
  readonly sides?: readonly Side[]
}

/** Options of `init`. */
export interface InitOptions extends SidesOption {
  /** Gives up, frees the port and rejects with ABORTED. */
  readonly signal?: AbortSignal
  /**
   * `wait` resolves when the event subscription is provisioned, or rejects after `subscriptionTimeout`.
   * `background` resolves once the listener listens, and tries until `close`. @default 'wait'
   */
  readonly subscription?: 'wait' | 'background'
}

/** Options of `update`. */
export interface UpdateOptions extends SidesOption {
  /** Gives up and rejects with ABORTED, once the former sides are open again. */
  readonly signal?: AbortSignal
}

/** Where a binding listens. */
export interface ListenAddress {
  /** The IP address that was bound: `::` for all. */
  readonly address: string
  /** The port that was bound, where `handshakePort` is 0 too. */
  readonly port: number
}

/** Options of `invoke`. */
export interface InvokeOptions {
  /** With plain data: `type`, `source`, `subject`, `id`, `time` and `dataschema` of the event it becomes. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Cancels a call that waits. Once its request is sent, it only ends the wait. Rejects with ABORTED. */
  readonly signal?: AbortSignal
}

/** The result of {@link Binding.invoke}. */
export interface InvokeAnswer {
  /** Ids of the published events, in the order given. */
  readonly ids: readonly string[]
  /** Event Grid's `x-ms-request-id`, for a support request; absent where it gave none. */
  readonly requestId?: string
  /** `ids`, their count and `requestId` as strings, as Dapr's API has them. */
  readonly metadata: {
    /** Ids of the published events: a JSON array of strings, in the order given. */
    readonly ids: string
    /** Number of the published events. */
    readonly count: string
    /** Event Grid's `x-ms-request-id`, for a support request; absent where it gave none. */
    readonly requestId?: string
  }
}

/** What `invoke` of any binding resolves to. */
export interface ComponentAnswer {
  /** What the operation returns. @default nothing */
  readonly data?: unknown
  /** Facts of the call, as texts. */
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * The binding of one component, as its host sees it. `Binding` is such a class, and another vendor may have another class. A host that is
 * written against this type takes both.
 */
export interface BindingComponent {
  /** Validates everything, opens the sides that are configured, and resolves when they work. After a failure it may be called again. */
  init(component: GivenComponent, options?: InitOptions): Promise<void>
  /** Takes other metadata for the same component. Where it rejects, everything goes on as before. */
  update(component: GivenComponent, options?: UpdateOptions): Promise<void>
  /** Sets or replaces the handler of events. `undefined` takes it away: events wait. */
  read(handler: EventHandler | undefined): void
  /** Runs one of the {@link BindingComponent.operations}. */
  invoke(operation: string, payload: unknown, options?: InvokeOptions): Promise<ComponentAnswer>
  /** The operations of the output side. */
  operations(): readonly string[]
  /** The health of each side, with reasons, at once and without a request. */
  health(): ComponentHealth
  /** Where the input side listens; `undefined` while the port is not open. */
  address(): ListenAddress | undefined
  /**
   * Takes no new event, waits for the handlers under way, then ends the output side. With `sides` only these sides end, and `update` can
   * open them again: a host of several components ends the input sides of all first, as a handler may publish through another component.
   */
  close(options?: SidesOption): Promise<void>
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}
