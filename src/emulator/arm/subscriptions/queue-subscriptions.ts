// Settings of Queue event subscriptions in ARM: lock 60-300 s, `maxDeliveryCount` 1-10, 25 filters.
import { z } from 'zod'
import { isRecord } from '../../../support/text/is-record.ts'
import type { QueueSubscription, QueueSubscriptionProperties } from '../../model/resources/namespace.ts'
import type { Clock } from '../../model/time/clock.ts'
import { armErrors } from '../call/errors.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/without-nulls.ts'
import type { NamespaceContents } from '../resources/namespace-contents.ts'
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

/** Stores an event subscription; its queue is made, or takes the new settings. */
export function storeQueueSubscription(
  { namespaces, queues, clock }: NamespaceContents & { readonly clock: Clock },
  given: Pick<QueueSubscription, 'id' | 'name' | 'topicId' | 'properties'>,
): QueueSubscription {
  const { id, name, createdAt } = namespaces.subscriptions.get(given.id) ?? { ...given, createdAt: clock.now() }
  const subscription: QueueSubscription = { ...given, id, name, createdAt }
  namespaces.subscriptions.put(subscription)
  queues.subscriptionChanged(subscription)
  return subscription
}

/** Deletes an event subscription with its events. */
export function deleteQueueSubscription(
  { namespaces, queues }: NamespaceContents,
  subscription: QueueSubscription,
): void {
  queues.subscriptionDeleted(subscription.id)
  namespaces.subscriptions.delete(subscription)
}

/** An event subscription's properties in ARM's shape. */
export function viewQueueSubscription({ properties }: QueueSubscription): object {
  const { deliveryConfiguration, ...rest } = properties
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
