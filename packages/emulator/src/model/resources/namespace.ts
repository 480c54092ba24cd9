/** What a namespace, its topics and their Queue event subscriptions are, and where they are stored. */

import { z } from 'zod'
import { enumeration, type ReadonlyDeep } from '../schemas.ts'
import { deadLetterDestination, destinationIdentity } from './destination.ts'
import { advancedFilterSchema } from './event-subscription.ts'
import type { AccessKeys, TrackedResource } from './resource.ts'
import { createCollection, noShelves, type Shelves } from './store.ts'

/** An Event Grid namespace (ARM 2025-02-15). Its name is unique in the whole emulator, as its host name is in Azure. */
export interface Namespace extends Omit<TrackedResource, 'shown'> {
  /** Both are good at any time; base64. */
  readonly keys: AccessKeys
  /** `sku`, `identity` and the properties that the emulator stores and shows without acting on them. */
  readonly shown: {
    readonly sku?: unknown
    readonly identity?: unknown
    readonly properties?: Readonly<Record<string, unknown>>
  }
  /** Who made it and when, in ARM's shape; absent where it is declared. */
  readonly systemData?: Readonly<Record<string, string>>
}

/** A namespace topic. It takes CloudEvents only. */
export interface NamespaceTopic {
  /** `{namespace id}/topics/{name}`. */
  readonly id: string
  readonly name: string
  readonly namespaceId: string
  readonly keys: AccessKeys
  /** The maximum number of days that an event is stored: 1 to 7. */
  readonly eventRetentionInDays: number
}

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

export type NamespaceStore = ReturnType<typeof createNamespaceStore>

/** Makes the store of the namespaces on these shelves. @param shelves @default in memory */
export function createNamespaceStore(shelves: Shelves = noShelves) {
  const namespaces = createCollection(shelves<Namespace>('namespace'))
  const topics = createCollection(shelves<NamespaceTopic>('namespace topic'), ({ namespaceId }) => namespaceId)
  const subscriptions = createCollection(
    shelves<QueueSubscription>('queue event subscription'),
    ({ topicId }) => topicId,
  )
  return {
    namespaces,
    /** Grouped by the ids of their namespaces. */
    topics,
    /** Queue event subscriptions, grouped by the ids of their topics. */
    subscriptions,
    /** All that it has, by the kinds of its shelves. */
    shelved: () => ({
      namespace: namespaces.all(),
      'namespace topic': topics.all(),
      'queue event subscription': subscriptions.all(),
    }),
  }
}
