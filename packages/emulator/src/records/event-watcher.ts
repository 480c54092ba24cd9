// Interface of an observer of events: accepted, changed (queued, given up, dead-lettered ...), tried, forgotten.
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { DeliveryRecord } from './record-types.ts'

/** What became of an event for an event subscription. `queued`: it may be sent, or a receiver may have it.
 * `forwarded`: a namespace topic has it.
 * `unserved`: it matches, and is not delivered, for the reason that is given. */
export interface FateChange {
  readonly state:
    | 'queued'
    | 'locked'
    | 'delayed'
    | 'delivered'
    | 'forwarded'
    | 'given up'
    | 'dead-lettered'
    | 'dropped'
    | 'unserved'
  /** How often it was received. */
  readonly tries?: number
  /** The end of the lock or of the delay. */
  readonly nextTryAt?: number | undefined
  readonly reason?: string
  readonly blobPath?: string
  /** Whether it is an event of a Queue event subscription, which a receiver pulls. */
  readonly pull?: true
}

/** How an event ends that was given up: in a blob, or dropped. */
export const endOf = (blobPath: string | undefined) =>
  blobPath === undefined ? ({ state: 'dropped' } as const) : ({ state: 'dead-lettered', blobPath } as const)

/** Observes events on their way, as the page does. Called synchronously and in order; must be fast and never throw. */
export interface EventWatcher {
  /** Events of a source (its resource id) were accepted: before they are queued for webhooks, and after for receivers. */
  accepted(sourceId: string, events: readonly AcceptedEvent[]): void
  /**
   * What became of an event for a subscription. First it is queued, forwarded or unserved; for an event that no filter matches this is
   * never called. It is given up before `tried` if an attempt is the cause. The scope of a Queue event subscription is the namespace topic.
   */
  changed(
    subscription: Pick<EventSubscription, 'id' | 'name' | 'scope'>,
    event: AcceptedEvent,
    change: FateChange,
  ): void
  /**
   * The event subscriptions that there are at the sources of events. Where nothing was told of an event for one of them before, it does
   * not match.
   */
  offered(subscriptions: readonly Pick<EventSubscription, 'id' | 'name'>[], events: readonly AcceptedEvent[]): void
  /** A batch of events was sent in one request. */
  tried(subscription: EventSubscription, events: readonly AcceptedEvent[], record: DeliveryRecord): void
  /** The pending events of a subscription were dropped: it was deleted, or for the reason that is given. */
  forgotten(subscription: Pick<EventSubscription, 'id'>, reason?: string): void
}
