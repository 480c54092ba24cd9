// Queue event subscriptions of a namespace topic and their settings: lock 60-300 s, `maxDeliveryCount` 1-10, 25 filters.
import { z } from 'zod'
import { enumeration } from '../enumeration.ts'
import type { ReadonlyDeep } from '../readonly-deep.ts'
import { advancedFilterSchema } from './advanced-filter.ts'
import { deadLetterDestination, destinationIdentity } from './destination.ts'

const queue = z.object({
  receiveLockDurationInSeconds: z.int().min(60).max(300).exactOptional(),
  maxDeliveryCount: z.int().min(1).max(10).exactOptional(),
  /** ISO 8601 duration. */
  eventTimeToLive: z.iso.duration().exactOptional(),
  deadLetterDestinationWithResourceIdentity: z
    .object({
      identity: destinationIdentity.exactOptional(),
      deadLetterDestination,
    })
    .exactOptional(),
})

/** A Queue event subscription's settings, in ARM's shape, as requested. */
export const queueSubscriptionSettings = z.object({
  deliveryConfiguration: z.object({ deliveryMode: enumeration('Queue'), queue: queue.exactOptional() }),
  eventDeliverySchema: enumeration('CloudEventSchemaV1_0').exactOptional(),
  filtersConfiguration: z
    .object({
      includedEventTypes: z.array(z.string()).exactOptional(),
      filters: z.array(advancedFilterSchema(z.string(), 1)).max(25).exactOptional(),
    })
    .exactOptional(),
  /** ISO 8601. */
  expirationTimeUtc: z.iso.datetime({ offset: true }).exactOptional(),
})

/** A Queue event subscription's settings, in ARM's shape, as requested. */
export type QueueSubscriptionProperties = ReadonlyDeep<z.infer<typeof queueSubscriptionSettings>>

/** A Queue event subscription. A value: a change makes a new one, found in the store under the same id. */
export interface QueueSubscription {
  /** `{topic id}/eventSubscriptions/{name}`. */
  readonly id: string
  readonly name: string
  readonly topicId: string
  readonly properties: QueueSubscriptionProperties
  /** Milliseconds since 1970. */
  readonly createdAt: number
}
