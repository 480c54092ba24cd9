import { randomUUID } from 'node:crypto'
import { toCloudEvent } from '../model/convert-schema.ts'
import type { DeliveryOutcome, GiveUpReason } from '../model/delivery-outcome.ts'
import { preciseTime } from '../model/event-grid-time.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { DeadLetterDestination, DeliverySchema, EventSubscription } from '../model/model.ts'
import type { PendingEvent } from './pending-event.ts'

/** Where dead-lettered events are written: a blob container, or something like one. */
export interface DeadLetterStore {
  /** Writes one blob; rejects if the store is unavailable, then Event Grid tries again. `path` is inside the container. */
  write(blob: {
    readonly storageAccountId: string
    readonly container: string
    readonly path: string
    readonly content: string
  }): Promise<void>
}

/** A store that writes nothing: the emulator's records show the dead-lettered events. */
export const memoryDeadLetterStore: DeadLetterStore = { write: async () => {} }

/** Pauses around dead-lettering, in milliseconds (Event Grid: delivery-and-retry). */
export const deadLetterTimes = { delayMs: 5 * 60_000, retryMs: 5 * 60_000, giveUpMs: 4 * 3_600_000 } as const

export interface GivenUpEvent extends PendingEvent {
  readonly reason: GiveUpReason
  /** The outcome of the last attempt. */
  readonly outcome: DeliveryOutcome
}

export function deadLetterDestinationOf(subscription: EventSubscription): DeadLetterDestination | undefined {
  const { deadLetterDestination, deadLetterWithResourceIdentity } = subscription.properties
  return deadLetterDestination ?? deadLetterWithResourceIdentity?.deadLetterDestination
}

/** `{NAME}/{Y}/{M}/{D}/{H}/{guid}.json`, in UTC and without padding zeroes (Event Grid: manage-event-delivery). */
export function deadLetterPath(subscriptionName: string, at: number, id: string = randomUUID()): string {
  const time = new Date(at)
  const parts = [time.getUTCFullYear(), time.getUTCMonth() + 1, time.getUTCDate(), time.getUTCHours()]
  return `${subscriptionName.toUpperCase()}/${parts.join('/')}/${id}.json`
}

/**
 * The event in its delivery schema, with the reasons for dead-lettering added. An event of a custom schema becomes the
 * data of an Event Grid event.
 */
export function deadLetteredForm(given: GivenUpEvent, schema: DeliverySchema): JsonObject {
  const { event } = given
  if (schema === 'CloudEventSchemaV1_0') {
    const cloudEvent =
      event.schema === 'CloudEventSchemaV1_0'
        ? event.body
        : toCloudEvent(event.schema === 'CustomEventSchema' ? event.mapped : event.body)
    return {
      ...cloudEvent,
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
