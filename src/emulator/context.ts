import type { DeliveryOptions } from './delivery/delivery-options.ts'
import type { Ingress } from './delivery/ingress.ts'
import type { Directory } from './entra/directory.ts'
import type { AcceptedEvent } from './model/accepted-event.ts'
import type { Clock } from './model/clock.ts'
import type { EventSubscription } from './model/model.ts'
import type { Store } from './model/store.ts'
import type { EventWatcher } from './records/event-watcher.ts'
import type { Records } from './records/record-types.ts'
import type { Faults } from './server/faults.ts'

/** What came of validating a subscription's endpoint. */
export type ValidationOutcome =
  | { readonly outcome: 'validated' }
  | {
      readonly outcome: 'awaiting-manual-action'
      readonly validationUrl: string
      /** Resolves once the URL was called, or its ten minutes are over by the emulator's clock. Never rejects. */
      readonly completed: Promise<'validated' | 'expired'>
    }
  | { readonly outcome: 'failed'; readonly code: 'Url validation'; readonly message: string }

/** The half of Event Grid that talks to subscribers. */
export interface DeliveryEngine {
  /** Runs the handshake of a subscription's schema. Never rejects; ends early, as failed, when the signal aborts. */
  validate(subscription: EventSubscription, signal: AbortSignal): Promise<ValidationOutcome>
  /**
   * Takes events of a source (its resource id) for every subscription that wants them.
   * They are already checked and stamped. Throws where a state file can't be written: then none is taken.
   */
  accept(sourceId: string, events: readonly AcceptedEvent[]): void
  /**
   * Takes events as Azure's services raise them, or as somebody would publish them to the topic of that id.
   * Throws `TypeError` for what is no event.
   */
  raise(sourceId: string, events: readonly unknown[]): void
  /** Whether so many events are pending that no more may be published. */
  full(): boolean
  /** Somebody called a validation URL; false if it is not, or no longer, good. */
  confirmValidation(id: string | undefined, token: string | undefined): boolean
  /** Each time a subscription is stored anew: settings or provisioning state differ. */
  subscriptionChanged(subscription: EventSubscription): void
  /** After it left the store: what waits for it is dropped, and the subscriber may be told. */
  subscriptionDeleted(subscription: EventSubscription): void
  /** Takes up what waited when the emulator ended; once, after the subscriptions that were kept. */
  restore(): void
  /** Events accepted and neither delivered, dead-lettered nor dropped yet. */
  pending(): number
  /** Resolves when nothing is under way or due now. Events that wait for a later try don't count. */
  idle(): Promise<void>
  /**
   * As `idle`, but `stalled` soon where a subscriber keeps silent: a clock moved by hand must go
   * on, or its time-out never comes.
   */
  quiet(): Promise<'idle' | 'stalled'>
  /** Resolves when no event is pending at all: later tries and dead-letters count too. */
  settled(): Promise<void>
  /** Ends all requests and timers. */
  close(): Promise<void>
}

/** What a valid token says. */
export interface VerifiedToken {
  readonly tenantId: string
  readonly clientId: string
  readonly objectId: string
  readonly roles: readonly string[]
}

/** A token, or why it is none: `expired`, or anything else that is wrong with it. */
export type TokenVerdict =
  | { readonly token: VerifiedToken }
  | { readonly problem: 'missing' | 'expired' | 'invalid-audience' | 'invalid'; readonly message: string }

/** Entra, as the rest of the emulator needs it. */
export interface TokenIssuer {
  /**
   * The bearer token of an Entra-secured delivery, signed by the tenant's present key. `audience` is what the
   * subscription names (a client id or an application id URI); lifetime 24 h 5 min by the emulator's clock.
   */
  issueDeliveryToken(request: {
    readonly tenantId: string
    readonly audience: string
    readonly version?: '1.0' | '2.0'
  }): Promise<string>
  /** Checks a token that this emulator issued. `audience` may be given with or without a trailing slash. */
  verifyToken(
    bearer: string | undefined,
    expected: { readonly audience: string | readonly string[] },
  ): Promise<TokenVerdict>
}

/** What every part of the emulator is handed: one world, made by `EventGridEmulator.start`. */
export interface EmulatorContext {
  readonly clock: Clock
  /** From 0 to just under 1; for jitter. */
  readonly random: () => number
  readonly store: Store
  /** Who may do what: `directory.allows({ principalId: token.objectId, action, scope, data: true })`. */
  readonly directory: Directory
  readonly tokens: TokenIssuer
  readonly records: Records
  readonly faults: Faults
  /** Asked at each handshake and delivery. */
  readonly ingress: Ingress
  /** PEM of the certificates to trust for https endpoints beside Node's own. */
  readonly trustedCertificates: readonly string[]
  /** Which Entra token version deliveries carry. */
  readonly deliveryTokenVersion: '1.0' | '2.0'
  readonly delivery?: DeliveryOptions
  /** Whether calls and events beyond Azure's rates are refused. */
  readonly throttling?: boolean
  /** Told of each event on its way. */
  readonly watcher?: EventWatcher
  /** `https://127.0.0.1:{port}`, without a trailing slash. Known once the server listens, hence a function. */
  readonly baseUrl: () => string
}
