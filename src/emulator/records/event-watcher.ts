import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { GiveUpReason } from '../model/delivery-outcome.ts'
import type { EventSubscription } from '../model/model.ts'
import type { DeliveryRecord } from './record-types.ts'

/**
 * Somebody who is told of each event on its way, as the page is. Told at once and in order;
 * must be quick and never throw.
 */
export interface EventWatcher {
  /** Events came in for a source (its resource id). Told before `queued`. */
  accepted(sourceId: string, events: readonly AcceptedEvent[]): void
  /** A subscription wants the event. Those that nobody wants are never heard of again. */
  queued(subscription: EventSubscription, event: AcceptedEvent): void
  /** One request was made for a bundle of events. */
  tried(subscription: EventSubscription, events: readonly AcceptedEvent[], record: DeliveryRecord): void
  /** There will be no further try. Told before `tried` where a try was the cause. */
  givenUp(subscription: EventSubscription, event: AcceptedEvent, reason: GiveUpReason): void
  /** Events that were given up lie in a blob, or were dropped where there is no path. */
  deadLettered(subscription: EventSubscription, events: readonly AcceptedEvent[], blobPath: string | undefined): void
  /** A subscription is gone, and what waited for it is too. */
  forgotten(subscription: EventSubscription): void
}
