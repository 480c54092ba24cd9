// Types of a namespace, its topics and Queue event subscription settings.
import type { AdvancedFilter, DeadLetterDestination } from './model.ts'
import type { TrackedResource } from './resource.ts'

/** An Event Grid namespace (ARM 2025-02-15). Its name is unique in the whole emulator, as its host name is in Azure. */
export interface Namespace extends Omit<TrackedResource, 'shown'> {
  /** Both are good at any time; base64. */
  readonly keys: readonly [string, string]
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
  readonly keys: readonly [string, string]
  /** The maximum number of days that an event is stored: 1 to 7. */
  readonly eventRetentionInDays: number
}

/** A Queue event subscription's settings, in ARM's shape, as requested. */
export interface QueueSubscriptionProperties {
  readonly deliveryConfiguration: {
    readonly deliveryMode: 'Queue'
    readonly queue?: {
      readonly receiveLockDurationInSeconds?: number
      readonly maxDeliveryCount?: number
      /** ISO 8601 duration. */
      readonly eventTimeToLive?: string
      readonly deadLetterDestinationWithResourceIdentity?: {
        readonly identity?: unknown
        readonly deadLetterDestination: DeadLetterDestination
      }
    }
  }
  readonly eventDeliverySchema?: 'CloudEventSchemaV1_0'
  readonly filtersConfiguration?: {
    readonly includedEventTypes?: readonly string[]
    readonly filters?: readonly AdvancedFilter[]
  }
  /** ISO 8601. */
  readonly expirationTimeUtc?: string
}

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
