/** What is sent to a destination and what comes back: an event on its way, the request for a batch, its result. */

import type { AcceptedEvent, DeliveryOutcome } from '../../model/events/accepted-event.ts'
import type { Hold } from '../../model/held-bytes.ts'

/** An event on its way to one subscription. */
export interface PendingEvent {
  readonly event: AcceptedEvent
  /** Its `aeg-event-type`. @default Notification */
  readonly type?: 'SubscriptionDeletion'
  /** Its number in the journal; undefined without a journal. */
  readonly row?: number | undefined
  /** Its bytes, which count as pending until it is released. */
  readonly hold?: Hold | undefined
  readonly acceptedAt: number
  /** Delivery attempts so far. */
  attempts: number
  /** The id that brokers know the event by; made for its first attempt at one. */
  systemId?: string | undefined
  lastAttemptAt?: number | undefined
  lastOutcome?: DeliveryOutcome | undefined
  lastStatus?: number | undefined
  /** Whether it waits for its next attempt. */
  waits?: boolean
  /** The subscriber answered late while the event waited: there is no next attempt. */
  answered?: boolean
}

/** How an attempt without an HTTP status failed: without any answer, or with what a broker answered. */
export type FailureOutcome = Exclude<DeliveryOutcome, 'Delivered' | 'Probation'>

/** The result of a request. Requests never throw. */
export interface WebhookResult {
  /** The URL after the ingress. */
  readonly target: string
  /** Real milliseconds. */
  readonly durationMs: number
  /** Undefined without an answer; then `failure` says why. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** What the answer means, where its status does not say it. */
  readonly hint?: string
  readonly failure?: {
    readonly outcome: FailureOutcome
    readonly message: string
    /** Advice for the emulator's user, where there is any. */
    readonly hint?: string | undefined
  }
}

/** How the events of one subscription are sent. */
export interface Channel {
  /** Where requests go, for faults. */
  readonly url: URL
  /** The same for records, without its query. */
  readonly shownUrl: string
  /** Names of headers, in lower case, whose values are redacted in records. */
  readonly secretHeaders: ReadonlySet<string>
  /** Makes the request for a batch, which has one event at least. */
  prepare(batch: readonly [PendingEvent, ...PendingEvent[]]): Promise<PreparedRequest>
}

/** A request that is ready to be sent once. */
export interface PreparedRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** @param late receives the status of an answer that comes after the time-out */
  send(late: (status: number) => void): Promise<WebhookResult>
}
