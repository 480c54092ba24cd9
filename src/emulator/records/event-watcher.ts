// Interface of an observer of events: accepted, queued, tried, given up, dead-lettered, pulled.
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import type { GiveUpReason } from '../model/events/delivery-outcome.ts'
import type { EventSubscription } from '../model/resources/model.ts'
import type { DeliveryRecord } from './record-types.ts'

/** What became of an event for a Queue event subscription. `queued`: a receiver may have it. */
export interface PullChange {
  readonly state: 'queued' | 'locked' | 'delayed' | 'delivered' | 'given up' | 'dead-lettered' | 'dropped'
  /** How often it was received. */
  readonly tries: number
  /** The end of the lock or of the delay. */
  readonly nextTryAt?: number | undefined
  readonly reason?: string
  readonly blobPath?: string
}

/** Observes events on their way, as the page does. Called synchronously and in order; must be fast and never throw. */
export interface EventWatcher {
  /** Events of a source (its resource id) were accepted. Called before `queued`, and after `pulled`. */
  accepted(sourceId: string, events: readonly AcceptedEvent[]): void
  /** A subscription's filter matches the event. For an event without a match no further method is called. */
  queued(subscription: EventSubscription, event: AcceptedEvent): void
  /** A batch of events was sent in one request. */
  tried(subscription: EventSubscription, events: readonly AcceptedEvent[], record: DeliveryRecord): void
  /** There is no further attempt. Called before `tried` if an attempt is the cause. */
  givenUp(subscription: EventSubscription, event: AcceptedEvent, reason: GiveUpReason): void
  /** Events that were given up were written to a blob, or dropped if there is no path. */
  deadLettered(subscription: EventSubscription, events: readonly AcceptedEvent[], blobPath: string | undefined): void
  /** A subscription was deleted, and its pending events were dropped. */
  forgotten(subscription: Pick<EventSubscription, 'id'>): void
  /** An event of a Queue event subscription has changed. Its scope is the namespace topic. */
  pulled(subscription: Pick<EventSubscription, 'id' | 'name' | 'scope'>, event: AcceptedEvent, change: PullChange): void
}
