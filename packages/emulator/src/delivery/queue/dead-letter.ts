// Fields of a dead-lettered event: `deadLetterReason`, `deliveryAttempts`, `lastDeliveryOutcome`, `publishTime`.
import { mappedEvent } from '../../model/events/accepted-event.ts'
import { deliveredForm } from '../../model/events/convert-schema.ts'
import type { GiveUpReason } from '../../model/events/delivery-outcome.ts'
import { preciseTime } from '../../model/events/event-grid-time.ts'
import { type EventText, withMembers } from '../../model/events/event-text.ts'
import type { DeadLetterDestination } from '../../model/resources/destination.ts'
import type { DeliverySchema, EventSubscription } from '../../model/resources/event-subscription.ts'
import type { PendingEvent } from '../pending-event.ts'

export function deadLetterDestinationOf(subscription: EventSubscription): DeadLetterDestination | undefined {
  const { deadLetterDestination, deadLetterWithResourceIdentity } = subscription.properties
  return deadLetterDestination ?? deadLetterWithResourceIdentity?.deadLetterDestination
}

/**
 * The event in its delivery schema, with the reasons for dead-lettering added. An event of a custom schema becomes the
 * data of an Event Grid event.
 */
export function deadLetteredForm(given: PendingEvent, reason: GiveUpReason, schema: DeliverySchema): EventText {
  const { event } = given
  const added = {
    deadLetterReason: reason,
    deliveryAttempts: given.attempts,
    lastDeliveryOutcome: given.lastOutcome ?? 'Probation',
    ...(given.lastStatus !== undefined && { lastHttpStatusCode: given.lastStatus }),
    publishTime: preciseTime(given.acceptedAt),
    ...(given.lastAttemptAt !== undefined && { lastDeliveryAttemptTime: preciseTime(given.lastAttemptAt) }),
  }
  if (schema !== 'CloudEventSchemaV1_0') return withMembers(mappedEvent(event), added)
  // Attributes of a CloudEvent have names in lower case.
  const attributes = Object.entries(added).map(([name, value]) => [name.toLowerCase(), value])
  return withMembers(deliveredForm(event, schema), Object.fromEntries(attributes))
}
