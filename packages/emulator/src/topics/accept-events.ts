/** Takes events of a source, and sums up for the record which of them no event subscription takes. */
import { type AcceptedEvent, eventId, eventType, type SourcedEvents } from '../model/events/accepted-event.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import { type PublishSummary, publishSummary } from '../records/record-types.ts'

/** The most event subscriptions that a record names. */
const shownUnserved = 10

/** An event that an event subscription matches and does not get, and why. */
interface Untaken {
  readonly subscription: Pick<EventSubscription, 'name'>
  readonly because: string
}

export interface Acceptance {
  /** Takes events; returns those that an event subscription wants. Throws if they cannot be persisted: then none is taken. */
  accept(accepted: readonly SourcedEvents[]): ReadonlySet<AcceptedEvent>
  /** The event subscriptions that match events and do not get them, with the reason. */
  unserved(accepted: readonly SourcedEvents[]): readonly Untaken[]
}

/** @param topic what the summary names as the source */
export function acceptEvents(intake: Acceptance, topic: string, sourced: readonly SourcedEvents[]): PublishSummary {
  const wanted = intake.accept(sourced)
  const events = sourced.flatMap((one) => one.events)
  const unwanted = events.filter((event) => !wanted.has(event))
  const left = sourced.map((one) => ({ ...one, events: one.events.filter((event) => !wanted.has(event)) }))
  const unserved = unwanted.length > 0 ? intake.unserved(left) : []
  return {
    ...publishSummary(topic, events, unwanted, (event) => ({ type: eventType(event), id: eventId(event) })),
    ...(unserved.length > 0 && { unserved: subscriptionsOf(unserved) }),
  }
}

/** Each event subscription once. */
function subscriptionsOf(unserved: readonly Untaken[]) {
  const reasons = new Map(unserved.map(({ subscription, because }) => [subscription, because]))
  return [...reasons].slice(0, shownUnserved).map(([{ name }, because]) => ({ subscriptionName: name, because }))
}
