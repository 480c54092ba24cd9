// Which event subscriptions match an event and do not get it, and why: their endpoint has not consented, or nothing delivers to it.
import { type AcceptedEvent, canConvert, type SourcedEvents } from '../model/events/accepted-event.ts'
import { compileFilter } from '../model/events/filters.ts'
import { destinationOf, type EventSubscription, takingEvents } from '../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../model/resources/namespace.ts'
import type { Store } from '../model/resources/store.ts'
import { deliverySchemaOf } from './send/delivery-request.ts'

/** An event that an event subscription matches and does not get. */
export interface Unserved {
  readonly event: AcceptedEvent
  readonly subscription: EventSubscription
  /** Why, for a reader. */
  readonly because: string
}

export interface UnservedOptions {
  readonly store: Store
  readonly namespaces: Pick<NamespaceStore, 'topics'>
  /** Why the events of an event subscription are not delivered; undefined where they are. */
  readonly undelivered: (subscription: EventSubscription) => string | undefined
}

const statesWithoutConsent: Readonly<Partial<Record<EventSubscription['provisioningState'], string>>> = {
  Creating: 'its endpoint has not consented yet',
  AwaitingManualAction: 'its endpoint has not consented: the manual validation is missing',
  Failed: 'its last change failed, so that it gets no events',
  Canceled: 'its last change was canceled, so that it gets no events',
}

/** Makes the function that names them. */
export function createUnserved({ store, namespaces, undelivered }: UnservedOptions) {
  const matchers = new WeakMap<EventSubscription['properties'], (event: AcceptedEvent) => boolean>()

  function matches({ properties }: EventSubscription, event: AcceptedEvent): boolean {
    const known = matchers.get(properties) ?? compileFilter(properties.filter)
    matchers.set(properties, known)
    return known(event)
  }

  function reasonOf(stored: EventSubscription): string | undefined {
    const taker = takingEvents(stored)
    if (!taker) return statesWithoutConsent[stored.provisioningState]
    const destination = destinationOf(taker.properties)
    if (destination?.endpointType !== 'NamespaceTopic') return undelivered(taker)
    const isThere = namespaces.topics.get(String(destination.properties.resourceId)) !== undefined
    return isThere ? undefined : 'its namespace topic does not exist'
  }

  return (accepted: readonly SourcedEvents[]): readonly Unserved[] =>
    accepted.flatMap(({ sources, events }) =>
      sources
        .flatMap((source) => store.subscriptions.of(source))
        .flatMap((stored) => {
          const because = reasonOf(stored)
          if (because === undefined) return []
          const subscription = takingEvents(stored) ?? stored
          return events
            .filter((event) => canConvert(event.schema, deliverySchemaOf(subscription)) && matches(subscription, event))
            .map((event) => ({ event, subscription, because }))
        }),
    )
}
