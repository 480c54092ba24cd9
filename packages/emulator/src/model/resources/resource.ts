// Types of topics, domains, domain topics, system topics, resource groups.

import type { AccessKeys } from './access-keys.ts'
import type { InputSchema } from './input-schema.ts'
import type { InputSchemaMapping } from './input-schema-mapping.ts'

/** What custom topics, domains, system topics and namespaces have in common. */
export interface TrackedResource {
  /** `/subscriptions/{id}/resourceGroups/{rg}/providers/Microsoft.EventGrid/{type}/{name}`. */
  readonly id: string
  readonly name: string
  readonly subscriptionId: string
  readonly resourceGroup: string
  readonly location: string
  readonly tags?: Readonly<Record<string, string>>
  /** `sku`, `kind` and `identity` in ARM's shape: shown, without effect. */
  readonly shown?: Readonly<Record<string, unknown>>
}

/** What custom topics and domains have in common: events are published to both in the same way. */
export interface PublishedResource extends TrackedResource {
  /** The part of the emulator's URL that names it: `/topics/{label}/api/events`. Unique. Made by {@link newLabel}. */
  readonly label: string
  readonly inputSchema: InputSchema
  readonly inputSchemaMapping?: InputSchemaMapping
  /** Takes CloudEvents and Event Grid events alike, as other emulators do; no topic of Azure does. */
  readonly bothSchemas?: boolean
  /** Both are valid; base64. Replaced as a pair. */
  readonly keys: AccessKeys
  /** True: keys and SAS tokens are refused, only Entra tokens are accepted. */
  readonly disableLocalAuth: boolean
  /** Whether addresses of the public network may publish. Absent: `Enabled`. */
  readonly publicNetworkAccess?: 'Enabled' | 'Disabled' | 'SecuredByPerimeter'
  /** Where it has entries, only these addresses may publish. In ARM's shape. */
  readonly inboundIpRules?: readonly { readonly ipMask: string; readonly action: 'Allow' }[]
  /** `minimumTlsVersionAllowed`, `dataResidencyBoundary` and `eventTypeInfo` in ARM's shape: shown, without effect. */
  readonly shownProperties?: Readonly<Record<string, unknown>>
}

/** A custom topic. */
export interface Topic extends PublishedResource {
  readonly type: 'topics'
}

/** A domain. Each of its events names the domain topic that it goes to. */
export interface Domain extends PublishedResource {
  readonly type: 'domains'
  /** Whether the first event subscription of a domain topic creates the domain topic. Absent: true. */
  readonly autoCreateTopicWithFirstSubscription?: boolean
  /** Whether a domain topic is deleted together with its last event subscription. Absent: true. */
  readonly autoDeleteTopicWithLastSubscription?: boolean
}

/** A topic of a domain. Events may be published to a domain topic that does not exist. */
export interface DomainTopic {
  readonly type: 'domains/topics'
  /** `{domain id}/topics/{name}`. */
  readonly id: string
  readonly name: string
  readonly domainId: string
}

/** A system topic: the events of another resource of Azure. */
export interface SystemTopic extends TrackedResource {
  readonly type: 'systemTopics'
  /** The resource id of the source. */
  readonly source: string
  /** `Microsoft.Storage.StorageAccounts` and so on, in the letter case that it was given in. */
  readonly topicType: string
}

/** The types of the store's resources that lie in a resource group directly. */
export const trackedTypes = ['topics', 'domains', 'systemTopics'] as const

export type TrackedType = (typeof trackedTypes)[number]

/** What events are published to. */
export type Publishable = Topic | Domain

/** A resource of Event Grid that has event subscriptions. Immutable: a change stores a new object under the same id. */
export type Resource = Publishable | DomainTopic | SystemTopic

/** The resource of one type. */
export type ResourceOf<T extends Resource['type']> = Extract<Resource, { readonly type: T }>

/** Whether a resource exists and is of this type. */
export function isOfType<T extends Resource['type']>(
  resource: Resource | undefined,
  type: T,
): resource is ResourceOf<T> {
  return resource?.type === type
}

/** Whether events are published to a resource. */
export function isPublishable(resource: Resource | undefined): resource is Publishable {
  return resource?.type === 'topics' || resource?.type === 'domains'
}

export interface ResourceGroup {
  /** `/subscriptions/{id}/resourceGroups/{name}`. */
  readonly id: string
  readonly subscriptionId: string
  readonly name: string
  /** Absent until ARM names one: options declare groups without a region. */
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
}
