import type { AcceptedEvent } from './accepted-event.ts'
import type { Clock } from './clock.ts'
import type { DeliveryOptions } from './delivery-options.ts'
import type { Directory } from './directory.ts'
import type { EventWatcher } from './event-watcher.ts'
import type { Faults } from './faults.ts'
import type { EventSubscription } from './model.ts'
import type { RecordRing } from './records.ts'
import type { Store } from './store.ts'

/** A call that the emulator answered. */
export interface RequestRecord {
  /** When it arrived, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  readonly face: 'arm' | 'entra' | 'topic'
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** Lower-case names; credentials redacted. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /**
   * The body parsed where it is JSON or a form, else as text; undefined if there was none or none was read. One over
   * 16,384 bytes is left out, or shown by its length.
   */
  readonly body?: unknown
  readonly status: number
  /** The error code of the answer, if it was refused. */
  readonly code?: string
  /** The application id of the caller, if a valid token said so. */
  readonly clientId?: string
  /** `x-ms-request-id` of the answer. */
  readonly requestId: string
}

/** One try to deliver: one request to a subscriber, of one or more events. */
export interface DeliveryRecord {
  /**
   * When it began, in milliseconds since 1970 by the emulator's clock; of an answer after the time-out, when that came.
   */
  readonly at: number
  /** The event subscription's resource id. */
  readonly subscriptionId: string
  readonly subscriptionName: string
  /** As the event subscription has it, a query redacted. */
  readonly url: string
  /** Where it really went: the same URL where no ingress rule fits. */
  readonly target: string
  /** As sent; the token and secret attributes redacted. */
  readonly headers: Readonly<Record<string, string>>
  /** As sent; of a longer one the first 16,384 characters. */
  readonly body: string
  readonly eventIds: readonly string[]
  /** 0 for the first try, as `aeg-delivery-count`. */
  readonly deliveryCount: number
  /** The answer's status; undefined if there was none. */
  readonly status?: number
  /** Why there was no answer. */
  readonly error?: string
  readonly outcome: 'delivered' | 'retry' | 'dead-lettered' | 'dropped'
  /** When it is tried again, with outcome `retry`. */
  readonly nextTryAt?: number
  /** How long the subscriber took, in real milliseconds. */
  readonly durationMs: number
}

/** One validation of an endpoint. */
export interface HandshakeRecord {
  /** When it began, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** The event subscription's resource id. */
  readonly subscriptionId: string
  readonly subscriptionName: string
  /** OPTIONS for CloudEvents, POST for the other schemas. */
  readonly method: 'OPTIONS' | 'POST'
  /** As the event subscription has it, a query redacted. */
  readonly url: string
  /** Where it really went: the same URL where no ingress rule fits. */
  readonly target: string
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBody?: string
  readonly status?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly outcome: 'validated' | 'awaiting-manual-action' | 'failed'
  /** Why it failed. */
  readonly message?: string
}

/** Events that could not be delivered, where they were put. */
export interface DeadLetterRecord {
  /** When they were written or dropped, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** The event subscription's resource id. */
  readonly subscriptionId: string
  readonly subscriptionName: string
  /**
   * `{container}/{NAME}/{Y}/{M}/{D}/{H}/{guid}.json`; undefined if the subscription has no dead-letter
   * destination and they were dropped.
   */
  readonly blobPath?: string
  /** The blob's content, parsed. */
  readonly events: readonly unknown[]
}

/** Everything the emulator remembers of what went through it. */
export interface Records {
  readonly requests: RecordRing<RequestRecord>
  readonly deliveries: RecordRing<DeliveryRecord>
  readonly handshakes: RecordRing<HandshakeRecord>
  readonly deadLetters: RecordRing<DeadLetterRecord>
}

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

/** Where a public URL is really served: a URL with the same meaning, or undefined to go to the public one. */
export type Ingress = (url: URL) => string | undefined

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
