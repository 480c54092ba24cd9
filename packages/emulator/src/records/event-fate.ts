/** What is kept of an event: the event itself, and its fate at each event subscription; and what the rooms of delivery tell of it. */
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { InputSchema } from '../model/resources/resource.ts'
import type { Rank } from './memory.ts'
import type { DeliveryRecord } from './record-types.ts'

/**
 * The states of an event for one event subscription. `queued`: the event may be sent, or a receiver may have it. `sending`: an attempt is
 * under way. `forwarded`: a namespace
 * topic has it. `given up`: it waits for dead-lettering. `unserved`: it matches, and is not delivered, for the reason that is given.
 */
export const fateStates = [
  ...(['queued', 'sending', 'locked', 'delayed', 'waiting', 'delivered', 'forwarded', 'given up'] as const),
  ...(['dead-lettered', 'dropped', 'unserved', 'forgotten'] as const),
] as const
export type FateState = (typeof fateStates)[number]

export interface Fate {
  readonly subscriptionId: string
  readonly subscriptionName: string
  /** Whether a receiver pulls it: it is not pushed. */
  readonly pull: boolean
  state: FateState
  /** Time of the next attempt, in state `waiting`; the end of a lock or of a delay. */
  nextTryAt?: number
  /** Why it was given up. */
  reason?: string
  /** Where it was put, in state `dead-lettered`. */
  blobPath?: string
  /** Number of attempts. */
  tries: number
  /** The last attempts. */
  readonly attempts: DeliveryRecord[]
  /** How all attempts ended, the first of very many left out. */
  readonly history: TrailedAttempt[]
}

/** An attempt without its request and its answer. */
export type TrailedAttempt = Pick<DeliveryRecord, 'at' | 'status' | 'error' | 'outcome' | 'durationMs' | 'nextTryAt'>

export interface TrailedEvent {
  /** Unique in this emulator, ascending in the order of arrival. */
  readonly key: number
  /** When it was first seen, by the emulator's clock. */
  readonly at: number
  /** Resource id of the topic, or of what raised the event. */
  readonly topic: string
  /** As the event has it. */
  readonly source: string
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly schema: InputSchema
  readonly event: AcceptedEvent
  /** By the subscription's id in lower case. */
  readonly fates: Map<string, Fate>
  /** Number of further subscriptions, which are not followed. */
  furtherFates: number
  /** The subscriptions that do not match, and why, by their ids in lower case. */
  readonly unmatched: Map<string, Unmatched>
  /** What the record holds. */
  bytes: number
  /** What the event was when it was counted as left out; undefined while its record is kept. */
  leftAs?: Rank | undefined
}

/** An event subscription that an event does not match. */
export interface Unmatched extends Pick<EventSubscription, 'id' | 'name'> {
  /** Why, for a reader. */
  readonly because: string
}

/** Of the events whose records are left out. */
export interface LeftOut {
  readonly events: number
  readonly failed: number
  readonly waiting: number
}

/** Who is told of the events, perhaps several times in a tick. */
export interface TrailListener {
  /** An event is new, has changed, or is kept again. */
  changed(event: TrailedEvent, rank: Rank): void
  /** An event made room for another. */
  gone(event: TrailedEvent): void
  /** All events are forgotten. */
  cleared(): void
}

/** What became of an event for an event subscription. */
export interface FateChange {
  readonly state: Exclude<FateState, 'waiting' | 'forgotten'>
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
export interface TrailWriter {
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
  /** An event does not match an event subscription of its source, for the reason that is given. */
  unmatched(subscription: Pick<EventSubscription, 'id' | 'name'>, event: AcceptedEvent, because: string): void
  /** A batch of events was sent in one request. */
  tried(subscription: EventSubscription, events: readonly AcceptedEvent[], record: DeliveryRecord): void
  /** The pending events of a subscription were dropped: it was deleted, or for the reason that is given. */
  forgotten(subscription: Pick<EventSubscription, 'id'>, reason?: string): void
}
