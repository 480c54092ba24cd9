import { deliveredForm } from '../model/convert-schema.ts'
import type { DeliveryOutcome, GiveUpReason } from '../model/delivery-outcome.ts'
import { preciseTime } from '../model/event-grid-time.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { DeadLetterDestination, DeliverySchema, EventSubscription } from '../model/model.ts'
import type { PendingEvent } from './pending-event.ts'

export interface GivenUpEvent extends PendingEvent {
  readonly reason: GiveUpReason
  /** The outcome of the last attempt. */
  readonly outcome: DeliveryOutcome
}

export function deadLetterDestinationOf(subscription: EventSubscription): DeadLetterDestination | undefined {
  const { deadLetterDestination, deadLetterWithResourceIdentity } = subscription.properties
  return deadLetterDestination ?? deadLetterWithResourceIdentity?.deadLetterDestination
}

/**
 * The event in its delivery schema, with the reasons for dead-lettering added. An event of a custom schema becomes the
 * data of an Event Grid event.
 */
export function deadLetteredForm(given: GivenUpEvent, schema: DeliverySchema): JsonObject {
  const { event } = given
  if (schema === 'CloudEventSchemaV1_0') {
    return {
      ...deliveredForm(event, schema),
      deadletterreason: given.reason,
      deliveryattempts: given.attempts,
      lastdeliveryoutcome: given.outcome,
      ...(given.lastStatus !== undefined && { lasthttpstatuscode: given.lastStatus }),
      publishtime: preciseTime(given.acceptedAt),
      ...(given.lastAttemptAt !== undefined && { lastdeliveryattempttime: preciseTime(given.lastAttemptAt) }),
    }
  }
  return {
    ...(event.schema === 'CustomEventSchema' ? event.mapped : event.body),
    deadLetterReason: given.reason,
    deliveryAttempts: given.attempts,
    lastDeliveryOutcome: given.outcome,
    ...(given.lastStatus !== undefined && { lastHttpStatusCode: given.lastStatus }),
    publishTime: preciseTime(given.acceptedAt),
    ...(given.lastAttemptAt !== undefined && { lastDeliveryAttemptTime: preciseTime(given.lastAttemptAt) }),
  }
}
