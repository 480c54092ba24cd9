/** How events on their way are sent: what an attempt needs, and which way, web hook or storage queue, takes an event subscription. */

import type { AcceptedEvent, DeliveryOutcome } from '../../model/events/accepted-event.ts'
import type { Hold } from '../../model/held-bytes.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'

/** An event on its way to one subscription. */
export interface PendingEvent {
  readonly event: AcceptedEvent
  /** Its number in the journal; undefined without a journal. */
  readonly row?: number | undefined
  /** Its bytes, which count as pending until it is released. */
  readonly hold?: Hold | undefined
  readonly acceptedAt: number
  /** Delivery attempts so far. */
  attempts: number
  lastAttemptAt?: number | undefined
  lastOutcome?: DeliveryOutcome | undefined
  lastStatus?: number | undefined
  /** Whether it waits for its next attempt. */
  waits?: boolean
  /** The subscriber answered late while the event waited: there is no next attempt. */
  answered?: boolean
}

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
    readonly outcome: 'TimedOut' | 'SocketError' | 'ResolutionError' | 'Aborted'
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

/** The channel of a subscription; undefined where the destination is of another type. */
export type Channels = (subscription: EventSubscription) => Channel | undefined

/** Asks each in turn. A subscription is immutable, so that its channel is made once. */
export function firstChannel(...all: readonly Channels[]): Channels {
  const known = new WeakMap<EventSubscription, Channel>()
  return (subscription) => {
    let channel = known.get(subscription)
    for (const channels of all) channel ??= channels(subscription)
    if (channel) known.set(subscription, channel)
    return channel
  }
}
