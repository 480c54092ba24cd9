/** What is recorded of a request, a delivery, a handshake, a dead letter and a warning. */
import { createMemory, type Memory, type Rank } from './memory.ts'
import { defaultRecordBytes, RecordRing } from './records.ts'

/** Some events: how many, and the type and id of the first ten. */
export interface EventList {
  readonly count: number
  readonly first: readonly { readonly type: string; readonly id: string }[]
}

const maxNamed = 10

export function eventList<T>(events: readonly T[], nameOf: (event: T) => EventList['first'][number]): EventList {
  return { count: events.length, first: events.slice(0, maxNamed).map(nameOf) }
}

/** What a request to publish was about. */
export interface PublishSummary {
  /** Name of the topic, domain or namespace topic, as the request has it; of a call to a blob endpoint that of the storage account. */
  readonly topic: string
  /** Whether it is an empty list after an accepted credential, by which a client checks that: no event was refused. */
  readonly isCheck?: true
  /** The events; absent where the request was refused. */
  readonly events?: EventList
  /** Those of them that no event subscription takes. */
  readonly unwanted?: EventList
  /** The event subscriptions that match some of these, and why they do not take them. */
  readonly unserved?: readonly UntakenBy[]
  /** The event subscriptions that do not match events which none takes, and why: for each the last of these events. */
  readonly unmatched?: readonly UntakenBy[]
}

/** An event subscription that does not get an event, and why. */
export interface UntakenBy {
  readonly subscriptionName: string
  readonly because: string
}

/** The most event subscriptions that a record names. */
const shownUntaken = 10

/** Each event subscription once. */
export function untakenBy(
  untaken: readonly { readonly subscription: { readonly name: string }; readonly because: string }[],
): readonly UntakenBy[] {
  const reasons = new Map(untaken.map(({ subscription, because }) => [subscription.name, because]))
  return [...reasons].slice(0, shownUntaken).map(([subscriptionName, because]) => ({ subscriptionName, because }))
}

/** The summary of accepted events. @param unwanted those of them that no event subscription takes */
export function publishSummary<T>(
  topic: string,
  events: readonly T[],
  unwanted: readonly T[],
  nameOf: (event: T) => EventList['first'][number],
): PublishSummary {
  const accepted = { topic, events: eventList(events, nameOf) }
  return unwanted.length > 0 ? { ...accepted, unwanted: eventList(unwanted, nameOf) } : accepted
}

/** What a receiver of a Queue event subscription got. */
export interface ReceiveSummary {
  readonly topic: string
  readonly subscriptionName: string
  readonly events: EventList
  /** The highest of their delivery counts, 1 at the first receive. */
  readonly deliveryCount: number
}

export const requestRoutes = ['arm', 'entra', 'topic', 'namespace', 'blob'] as const

/** A part of the emulator whose requests are recorded. */
export type RequestRoute = (typeof requestRoutes)[number]

/** A call that the emulator answered. */
export interface RequestRecord {
  /** When it arrived, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /**
   * The part of the emulator that answered. Of `blob`, the blob endpoints of storage accounts, only calls that raised events, or that the
   * emulator refused.
   */
  readonly route: RequestRoute
  readonly method: string
  /** Path and query as sent; values in the query that may be secret are redacted. */
  readonly url: string
  /** Lower-case names. Values are redacted of all headers that are not known to be public. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /**
   * The body of a caller whose credential was accepted: parsed where it is JSON or a form, else as text; one over 16,384 bytes is
   * replaced by its length. Values are redacted of all members that are not known to be public; a published event stands as it was sent.
   */
  readonly body?: unknown
  readonly status: number
  /** The error code of the answer, if it was refused. */
  readonly code?: string
  /** What the answer says of the error, if it was refused. */
  readonly message?: string
  /** Of a request to publish, accepted or refused. */
  readonly publish?: PublishSummary
  /** Of a receive that got events. */
  readonly receive?: ReceiveSummary
  /** The application id of the caller, if a valid token said so. */
  readonly clientId?: string
  /** `x-ms-request-id` of the answer. */
  readonly requestId: string
}

interface SubscriptionRecord {
  /** The event subscription's resource id. */
  readonly subscriptionId: string
  readonly subscriptionName: string
}

/** A request to a subscriber's endpoint. */
interface EndpointRecord extends SubscriptionRecord {
  /** As the event subscription has it, a query redacted. */
  readonly url: string
  /** The URL after the ingress: the same URL if no ingress rule matches. */
  readonly target: string
  /** The answer's status; undefined without an answer. */
  readonly status?: number
  /** The answer's headers; cookies, and values of the query of the URL, are redacted. */
  readonly responseHeaders?: Readonly<Record<string, string>>
  /**
   * The beginning of the answer's body. Of a delivery: at most 4,096 bytes, and only what came with the headers or soon after. Of a
   * handshake: at most 64 KiB. Values of the query of the URL are redacted.
   */
  readonly responseBody?: string
}

/** One delivery attempt: one request to a subscriber, with one or more events. */
export interface DeliveryRecord extends EndpointRecord {
  /**
   * Start of the attempt, in milliseconds since 1970 by the emulator's clock; for an answer after the time-out, the time
   * of the answer.
   */
  readonly at: number
  /** As sent; the token and secret attributes redacted. */
  readonly headers: Readonly<Record<string, string>>
  /** As sent; of a longer one the first 16,384 characters. */
  readonly body: string
  readonly eventIds: readonly string[]
  /** Types of the events, in the order of `eventIds`. */
  readonly eventTypes: readonly string[]
  /** 0 for the first attempt, as `aeg-delivery-count`. */
  readonly deliveryCount: number
  /** Why there was no answer, or what the answer of a storage account means. */
  readonly error?: string
  readonly outcome: 'delivered' | 'retry' | 'dead-lettered' | 'dropped'
  /** Time of the next attempt, with outcome `retry`. */
  readonly nextTryAt?: number
  /** Duration of the request, in real milliseconds. */
  readonly durationMs: number
}

/** One validation of an endpoint. */
export interface HandshakeRecord extends EndpointRecord {
  /** When it began, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** OPTIONS for CloudEvents, POST for the other schemas. */
  readonly method: 'OPTIONS' | 'POST'
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly requestBody?: string
  readonly outcome: 'validated' | 'awaiting-manual-action' | 'failed'
  /** Why it failed, what the endpoint left out while it waits, or how a manual validation ended. */
  readonly message?: string
}

/** Events that could not be delivered, and where they were written. */
export interface DeadLetterRecord extends SubscriptionRecord {
  /** When they were written or dropped, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /**
   * `{container}/{NAME}/{Y}/{M}/{D}/{H}/{guid}.json`; undefined if the subscription has no dead-letter
   * destination and they were dropped.
   */
  readonly blobPath?: string
  /** The blob's content, parsed. */
  readonly events: readonly unknown[]
  /** Why each of them was given up, in the order of `events`, such as `TimeToLiveExceeded`. */
  readonly reasons: readonly string[]
}

/** An event subscription that was written, and does less than in Azure. */
export interface WarningRecord extends SubscriptionRecord {
  /** When it was written, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** What the emulator does not do. */
  readonly message: string
}

/** The emulator's records of requests, deliveries, handshakes, dead-letters and warnings. */
export type Records = Readonly<ReturnType<typeof createRecords>>

const failed = (isFailed: boolean): Rank => (isFailed ? 'failed' : 'ended')

/** @param memory what records of events are in, too. @default one of its own */
export const createRecords = (memory: Memory = createMemory(defaultRecordBytes)) => ({
  requests: new RecordRing<RequestRecord>(memory, ({ status }) => failed(status >= 400)),
  deliveries: new RecordRing<DeliveryRecord>(memory, ({ outcome }) => failed(outcome !== 'delivered')),
  handshakes: new RecordRing<HandshakeRecord>(memory, ({ outcome }) => failed(outcome !== 'validated')),
  deadLetters: new RecordRing<DeadLetterRecord>(memory, () => 'failed'),
  warnings: new RecordRing<WarningRecord>(memory, () => 'failed'),
})
