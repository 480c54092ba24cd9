// Types of topics, domains, domain topics, system topics; resource ids, region names.
import type { InputSchemaMapping } from '../events/input-schema-mapping.ts'
import type { InputSchema } from './model.ts'

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
  readonly keys: readonly [string, string]
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

/** The resource that contains a domain topic, or an event subscription at its nested path. */
export const parentId = (id: string): string => id.replace(/\/[^/]+\/[^/]+$/, '')

/** The id of a resource in a resource group. */
export function resourceId(
  type: 'topics' | 'domains' | 'systemTopics' | 'namespaces',
  { subscriptionId, resourceGroup, name }: Pick<TrackedResource, 'subscriptionId' | 'resourceGroup' | 'name'>,
): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Microsoft.EventGrid/${type}/${name}`
}

/** The resource of this name. Several regions may have one: the first counts. Without a name, the first resource of all. */
export const named = <T extends { readonly name: string }>(
  all: readonly T[],
  name: string | undefined,
): T | undefined => (name === undefined ? all[0] : all.find((one) => one.name.toLowerCase() === name.toLowerCase()))

/** A region as host names and URLs have it: `West Europe` is `westeurope`. */
export const regionName = (location: string): string => location.toLowerCase().replaceAll(' ', '')
