/** How a test reads published events, their fate at each event subscription, and dead letters. */
import { readJson } from '../../../../src/support/text/json-text.ts'
import { suggestName } from '../../../../src/support/text/nearest-name.ts'
import { textOf } from '../model/events/event-text.ts'
import type { NamespaceStore } from '../model/resources/namespace.ts'
import { asResourceId, type InputSchema, sameName } from '../model/resources/resource.ts'
import type { Store } from '../model/resources/store.ts'
import type { Fate, FateState, TrailedAttempt, TrailedEvent } from '../records/event-fate.ts'
import type { EventTrail } from '../records/event-trail.ts'
import type { Records } from '../records/record-types.ts'
import type { EventQuery, eventFates } from './requests.ts'
import { namespaceTopicName, unmatchedOf } from './shown-resources.ts'

/** What became of an event at one event subscription. `unserved`: it matches, and is not delivered, for the reason that is given. */
export interface SubscriptionFate {
  readonly name: string
  /** The event subscription's resource id. */
  readonly id: string
  readonly state: (typeof eventFates)[number]
  /** Number of attempts. */
  readonly tries: number
  /** The attempts of push delivery, oldest first. */
  readonly attempts: readonly TrailedAttempt[]
  /** When the next attempt is due, in milliseconds since 1970; of an event that a receiver has, the end of its lock or delay. */
  readonly nextTryAt?: number
  /** Why it was given up, is not served, or does not match. */
  readonly reason?: string
  /** Where its dead letter is. */
  readonly blobPath?: string
}

/** An event that was published or raised. */
export interface PublishedEvent {
  /** Unique in this emulator, ascending in the order of arrival. */
  readonly key: number
  /** When it came, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** The topic's name; of a namespace topic `{namespace}/{topic}`. */
  readonly topic: string
  /** The topic's resource id, or that of the source which raised the event. */
  readonly topicId: string
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly schema: InputSchema
  /** The event as it was sent, parsed. */
  readonly event: unknown
  /** The same as JSON text, numbers with the digits that they had. */
  readonly body: string
  /** The event subscriptions of its topic, at most 50 that match and 50 that do not. */
  readonly subscriptions: readonly SubscriptionFate[]
  /** Number of further event subscriptions that match. */
  readonly furtherSubscriptions: number
}

/** What {@link EventGridEmulator.events} gives. */
export interface PublishedEvents {
  /** Oldest first. */
  readonly events: readonly PublishedEvent[]
  /** Number of events that no longer were kept, whatever was asked for: `maxRecordBytes` bounds them. */
  readonly leftOut: number
}

export interface EventSources {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly trail: Pick<EventTrail, 'events' | 'leftOut'>
}

const states: Readonly<Record<FateState, SubscriptionFate['state']>> = {
  queued: 'pending',
  sending: 'pending',
  waiting: 'pending',
  locked: 'pending',
  delayed: 'pending',
  'given up': 'pending',
  delivered: 'delivered',
  // Its namespace topic has it.
  forwarded: 'delivered',
  'dead-lettered': 'dead-lettered',
  dropped: 'dropped',
  // The event subscription was deleted, or delivers no more.
  forgotten: 'dropped',
  unserved: 'unserved',
}

/** The events that are kept, oldest first. Throws a RangeError for an unknown topic. */
export const publishedEvents = (sources: EventSources, query: EventQuery): PublishedEvents =>
  viewPublishedEvents(sources, wantedEvents(sources, query))

/** The same of events that {@link wantedEvents} found. */
export const viewPublishedEvents = (
  { trail }: Pick<EventSources, 'trail'>,
  events: readonly TrailedEvent[],
): PublishedEvents => ({ events: events.map(viewOf), leftOut: trail.leftOut().events })

/** Which events are wanted by what became of them, too: at one event subscription at least. */
interface WantedEvents extends EventQuery {
  readonly fate?: SubscriptionFate['state'] | undefined
}

/** The events as they are kept, oldest first. Throws a RangeError for an unknown topic. */
export function wantedEvents(sources: EventSources, wanted: WantedEvents): readonly TrailedEvent[] {
  const { topic, type, subject, fate, limit = Number.POSITIVE_INFINITY } = wanted
  const kept = sources.trail.events()
  const ids = topic === undefined ? undefined : idsOf(sources, topic, kept)
  const found = kept.filter(
    (event) =>
      (ids?.has(event.topic.toLowerCase()) ?? true) &&
      (type === undefined || event.type === type) &&
      (subject === undefined || event.subject === subject) &&
      (fate === undefined || hasFate(event, fate)),
  )
  return found.slice(-limit)
}

const hasFate = (event: TrailedEvent, wanted: SubscriptionFate['state']): boolean =>
  wanted === 'unmatched'
    ? unmatchedOf(event).length > 0
    : [...event.fates.values()].some(({ state }) => states[state] === wanted)

/** The resource ids that events of a topic have, in lower case. A system topic's events are those of its source. */
function idsOf({ store, namespaces }: EventSources, topic: string, kept: readonly TrailedEvent[]): ReadonlySet<string> {
  const id = asResourceId(topic)
  const tracked = store.tracked().filter((one) => sameName(one.name, topic) || sameName(one.id, id))
  const found = [
    ...tracked.flatMap((one) => [one.id, ...('source' in one ? [one.source] : [])]),
    ...namespaces.topics.all().flatMap((one) => (sameName(namespaceTopicName(one.id), topic) ? [one.id] : [])),
    // Of a topic that was removed, and of sources that are no topic.
    ...[...new Set(kept.map((event) => event.topic))].filter(
      (one) => sameName(one, id) || sameName(nameOf(one), topic),
    ),
  ]
  if (found.length === 0 && !topic.startsWith('/')) {
    const names = [...store.tracked().map(({ name }) => name), ...namespaces.topics.all().map((one) => nameOf(one.id))]
    throw new RangeError(`there is no topic ${JSON.stringify(topic.slice(0, 200))}; ${suggestName(topic, names)}`)
  }
  return new Set(found.map((one) => one.toLowerCase()))
}

const nameOf = (topicId: string): string =>
  /\/namespaces\/[^/]+\/topics\/[^/]+$/i.test(topicId) ? namespaceTopicName(topicId) : (topicId.split('/').at(-1) ?? '')

function viewOf(event: TrailedEvent): PublishedEvent {
  const { key, at, topic, id, type, subject, schema, fates, furtherFates } = event
  const body = textOf(event.event.body)
  return {
    ...{ key, at, topic: nameOf(topic), topicId: topic, id, type, subject, schema },
    ...{ event: readJson(body), body },
    subscriptions: [
      ...[...fates.values()].map(viewFate),
      ...unmatchedOf(event).map(({ id, name, because: reason }) => {
        return { ...{ name, id, reason }, state: 'unmatched' as const, tries: 0, attempts: [] }
      }),
    ],
    furtherSubscriptions: furtherFates,
  }
}

function viewFate(fate: Fate): SubscriptionFate {
  const { subscriptionId: id, subscriptionName: name, state, tries, history, nextTryAt, reason, blobPath } = fate
  return {
    ...{ name, id, state: states[state], tries, attempts: [...history] },
    ...(nextTryAt !== undefined && { nextTryAt }),
    ...(reason !== undefined && { reason }),
    ...(blobPath !== undefined && { blobPath }),
  }
}

/** An event that was given up. */
export interface DeadLetter {
  /** When it was written or dropped, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** The event subscription's name. */
  readonly subscription: string
  readonly subscriptionId: string
  /**
   * Why: `MaxDeliveryAttemptsExceeded`, `TimeToLiveExceeded`, `UndeliverableDueToClientError`,
   * `UndeliverableDueToProbationCausedByClientError` or `Rejected`.
   */
  readonly reason: string
  /** Where it was written; absent for one that was dropped, as the event subscription has no place for dead letters. */
  readonly blobPath?: string
  /** As the blob has it: with reason, number of attempts and last outcome. */
  readonly event: unknown
}

/** Those of the records, oldest first. */
export function deadLettersOf(records: Pick<Records, 'deadLetters'>): readonly DeadLetter[] {
  return records.deadLetters.all().flatMap(({ at, subscriptionId, subscriptionName, blobPath, events, reasons }) =>
    events.map((event, index) => ({
      ...{ at, subscription: subscriptionName, subscriptionId, reason: reasons[index] ?? '' },
      ...(blobPath !== undefined && { blobPath }),
      event,
    })),
  )
}
