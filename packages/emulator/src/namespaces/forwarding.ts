// Events forwarded to namespace topics: `NamespaceTopic` destination, filter, as CloudEvents.
import type { AcceptedEvent, SourcedEvents } from '../model/events/accepted-event.ts'
import { deliveredForm } from '../model/events/convert-schema.ts'
import { compileFilter } from '../model/events/filters.ts'
import { destinationOf, type EventSubscription, takenBy } from '../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../model/resources/namespace-store.ts'
import type { Store } from '../model/resources/store.ts'
import type { NamespaceQueues } from './namespace-queues.ts'

interface Forwarded {
  readonly event: AcceptedEvent
  readonly subscription: EventSubscription
}

/**
 * Forwards events of a source to namespace topics: for each event subscription whose destination is a `NamespaceTopic`
 * (Event Grid: handler-event-grid-namespace-topic). A namespace topic that does not exist takes no events.
 */
export function createForwarding(store: Store, namespaces: NamespaceStore, queues: Pick<NamespaceQueues, 'publish'>) {
  const filters = new WeakMap<EventSubscription['properties'], (event: AcceptedEvent) => boolean>()

  function wants({ properties }: EventSubscription, event: AcceptedEvent): boolean {
    const filter = filters.get(properties) ?? compileFilter(properties.filter)
    filters.set(properties, filter)
    return filter(event)
  }

  function* forward(source: string, events: readonly AcceptedEvent[]): Generator<Forwarded> {
    for (const subscription of store.subscriptions.of(source)) {
      const taker = takenBy(subscription)
      if (!taker) continue
      const destination = destinationOf(taker.properties)
      if (destination?.endpointType !== 'NamespaceTopic') continue
      const topic = namespaces.topics.get(String(destination.properties.resourceId))
      if (!topic) continue
      const wanted = events.filter((event) => wants(taker, event))
      const forwarded = wanted.map((event) => deliveredForm(event, 'CloudEventSchemaV1_0'))
      if (forwarded.length > 0) queues.publish(topic, forwarded)
      for (const event of wanted) yield { event, subscription: taker }
    }
  }

  /** Returns the events that it forwarded, and for which event subscription. */
  return (accepted: readonly SourcedEvents[]): readonly Forwarded[] =>
    accepted.flatMap(({ sources, events }) => sources.flatMap((source) => [...forward(source, events)]))
}
