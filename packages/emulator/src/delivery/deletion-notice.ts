/** What a web hook is told when its event subscription is deleted: `Microsoft.EventGrid.SubscriptionDeletedEvent`, in one request. */
import { randomUUID } from 'node:crypto'
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import { eventOf } from '../model/events/event-text.ts'
import { deliveredBy, destinationOf, type EventSubscription } from '../model/resources/event-subscription.ts'
import { preciseTime } from '../model/wording.ts'
import type { DeliveryOptions } from './delivery-options.ts'
import { validationTopic } from './handshake/handshake.ts'
import type { DeliveryAttempt } from './queue/attempt-results.ts'
import { createDeliver } from './queue/deliver.ts'
import { outcomeOf } from './queue/retry-schedule.ts'
import { deliverySchemaOf } from './send/delivery-request.ts'
import type { Channels } from './send/destinations.ts'

/** Makes what tells. The notice counts as work under way, but as no event of its topic. */
export function createDeletionNotices({ trail: _, ...options }: DeliveryOptions, channels: Channels) {
  const { clock, work } = options
  const deliver = createDeliver(options, channels)
  let kept = new AbortController()

  return {
    /** Tells the web hook of an event subscription that consented once. Other destinations get no notice, and no notice is sent again. */
    tell(deleted: EventSubscription): void {
      const subscription = deliveredBy(deleted)
      if (!subscription || destinationOf(subscription.properties)?.endpointType !== 'WebHook') return
      const now = clock.now()
      const { signal } = kept
      const attempt: DeliveryAttempt = {
        finish({ status }) {
          if (signal.aborted) return { outcome: 'forgotten' }
          return { outcome: status !== undefined && outcomeOf(status) === 'Delivered' ? 'delivered' : 'given up' }
        },
        answeredLate: () => false,
        isForgotten: () => signal.aborted,
      }
      const notice = {
        event: deletedEvent(subscription, now),
        type: 'SubscriptionDeletion',
        acceptedAt: now,
        attempts: 0,
      } as const
      work.begin()
      void deliver(asNotified(subscription), [notice], attempt).finally(work.end)
    },
    /** Leaves no trace of those under way. */
    forget(): void {
      kept.abort()
      kept = new AbortController()
    },
  }
}

/** The custom schema has no form of Event Grid's own events: they are Event Grid events there. Nothing of them is dead-lettered. */
function asNotified(subscription: EventSubscription): EventSubscription {
  const { deadLetterDestination: _, deadLetterWithResourceIdentity: __, ...properties } = subscription.properties
  const schema = deliverySchemaOf(subscription)
  const eventDeliverySchema = schema === 'CustomInputSchema' ? 'EventGridSchema' : schema
  return { ...subscription, properties: { ...properties, eventDeliverySchema } }
}

function deletedEvent({ id, scope }: EventSubscription, now: number): AcceptedEvent {
  const body = eventOf({
    id: randomUUID(),
    topic: validationTopic(scope),
    subject: '',
    data: { eventSubscriptionId: id },
    eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent',
    eventTime: preciseTime(now),
    metadataVersion: '1',
    dataVersion: '1',
  })
  return { schema: 'EventGridSchema', body }
}
