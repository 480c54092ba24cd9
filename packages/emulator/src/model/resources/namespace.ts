// Shape of a namespace and of its topics.
import type { AccessKeys } from './access-keys.ts'
import type { TrackedResource } from './resource.ts'

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
