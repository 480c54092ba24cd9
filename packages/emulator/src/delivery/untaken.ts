/** Which event subscriptions do not get an event, and why: their filter, no consent of their endpoint, or nothing delivers to it. */
import { type AcceptedEvent, canConvert, type SourcedEvents, type Untaken } from '../model/events/accepted-event.ts'
import { filterOf } from '../model/events/filters.ts'
import { destinationOf, type EventSubscription, takingEvents } from '../model/resources/event-subscription.ts'
import type { NamespaceStore } from '../model/resources/namespace.ts'
import type { Store } from '../model/resources/store.ts'
import { deliverySchemaOf } from './send/delivery-request.ts'

export interface UntakenOptions {
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
export function createUntaken({ store, namespaces, undelivered }: UntakenOptions) {
  function mismatch(subscription: EventSubscription, event: AcceptedEvent): string | undefined {
    const schema = deliverySchemaOf(subscription)
    return canConvert(event.schema, schema)
      ? filterOf(store, subscription)(event)
      : `an event of ${event.schema} cannot be delivered as ${schema}`
  }

  function reasonOf(stored: EventSubscription): string | undefined {
    const taker = takingEvents(stored)
    if (!taker) return statesWithoutConsent[stored.provisioningState]
    const destination = destinationOf(taker.properties)
    if (destination?.endpointType !== 'NamespaceTopic') return undelivered(taker)
    const isThere = namespaces.topics.get(String(destination.properties.resourceId)) !== undefined
    return isThere ? undefined : 'its namespace topic does not exist'
  }

  return (accepted: readonly SourcedEvents[]): readonly Untaken[] =>
    accepted.flatMap(({ sources, events }) =>
      sources
        .flatMap((source) => store.subscriptions.of(source))
        .flatMap((stored) => {
          const unserved = reasonOf(stored)
          const subscription = takingEvents(stored) ?? stored
          return events.flatMap((event): Untaken | [] => {
            const unmatched = mismatch(subscription, event)
            const because = unmatched ?? unserved
            return because === undefined ? [] : { event, subscription, because, matches: unmatched === undefined }
          })
        }),
    )
}
