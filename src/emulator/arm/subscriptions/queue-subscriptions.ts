// Settings of Queue event subscriptions in ARM: lock 60-300 s, `maxDeliveryCount` 1-10, 25 filters.
import { z } from 'zod'
import { isRecord } from '../../../support/text/is-record.ts'
import type { QueueSubscriptionProperties } from '../../model/resources/namespace.ts'
import { armErrors } from '../call/errors.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/without-nulls.ts'
import { advancedFilterSchema } from './advanced-filter.ts'

const text = z.string()
const filter = advancedFilterSchema(text, 1)

const queue = z.object({
  receiveLockDurationInSeconds: z.int().min(60).max(300).exactOptional(),
  maxDeliveryCount: z.int().min(1).max(10).exactOptional(),
  eventTimeToLive: z.iso.duration().exactOptional(),
  deadLetterDestinationWithResourceIdentity: z
    .object({
      identity: z.unknown().exactOptional(),
      deadLetterDestination: z.object({
        endpointType: z.literal('StorageBlob'),
        properties: z.object({ resourceId: text, blobContainerName: text }),
      }),
    })
    .exactOptional(),
})

const properties = z.object({
  deliveryConfiguration: z.object({ deliveryMode: z.literal('Queue'), queue: queue.exactOptional() }),
  eventDeliverySchema: z.literal('CloudEventSchemaV1_0').exactOptional(),
  filtersConfiguration: z
    .object({
      includedEventTypes: z.array(text).exactOptional(),
      filters: z.array(filter).max(25).exactOptional(),
    })
    .exactOptional(),
  expirationTimeUtc: z.iso.datetime({ offset: true }).exactOptional(),
})

/**
 * Reads the settings of a Queue event subscription from the body of a PUT, or of a PATCH over the existing ones.
 * Throws an ArmError.
 */
export function parseQueueSubscription(
  body: unknown,
  existing: QueueSubscriptionProperties | undefined,
): QueueSubscriptionProperties {
  const given = z.object({ properties: z.record(text, z.unknown()).default({}) }).safeParse(withoutNulls(body))
  const wanted = given.success ? given.data.properties : {}
  const delivery = isRecord(wanted.deliveryConfiguration) && {
    deliveryConfiguration: { ...existing?.deliveryConfiguration, ...wanted.deliveryConfiguration },
  }
  const parsed = properties.safeParse({ ...existing, ...withoutEmptyExpiry(wanted), ...delivery })
  if (given.success && parsed.success) return parsed.data
  const path = parsed.error?.issues[0]?.path.join('.') ?? 'properties'
  if (path === 'deliveryConfiguration.deliveryMode') {
    throw armErrors.notSupported('event subscriptions of a namespace that are not of the delivery mode Queue')
  }
  throw armErrors.invalidEventSubscription(`property '${path}' is invalid.`)
}

/** An event subscription's properties in ARM's shape. */
export function viewQueueSubscription({ deliveryConfiguration, ...rest }: QueueSubscriptionProperties) {
  return {
    properties: {
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      ...rest,
      deliveryConfiguration: {
        deliveryMode: 'Queue',
        queue: { receiveLockDurationInSeconds: 60, maxDeliveryCount: 10, ...deliveryConfiguration.queue },
      },
    },
  }
}
