/** What a topic, domain, system topic, resource group, application and role is, and how their ids and keys are made and compared. */
import { createHash, randomBytes } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { enumeration, type ReadonlyDeep } from '../schemas.ts'

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

/** The id of a resource group. */
export function resourceGroupId(subscriptionId: string, name: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${name}`
}

/** The id of a resource in a resource group. */
export function resourceId(
  type: 'topics' | 'domains' | 'systemTopics' | 'namespaces',
  { subscriptionId, resourceGroup, name }: Pick<TrackedResource, 'subscriptionId' | 'resourceGroup' | 'name'>,
): string {
  return `${resourceGroupId(subscriptionId, resourceGroup)}/providers/Microsoft.EventGrid/${type}/${name}`
}

/** The id of an event subscription. @param scope the source's resource id */
export function eventSubscriptionId(scope: string, name: string): string {
  return `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`
}

/** The resource that contains a domain topic, or an event subscription at its nested path. */
export const parentId = (id: string): string => id.replace(/\/[^/]+\/[^/]+$/, '')

/** An id with its leading slash and without a trailing one, however it was written. */
export function asResourceId(id: string): string {
  return `/${id.replace(/^\/|\/$/g, '')}`
}

/** Whether two ids, or two names, are the same. */
export const sameName = (one: string | undefined, other: string | undefined): boolean =>
  one?.toLowerCase() === other?.toLowerCase()

/** Whether an id is below a scope. */
export function isBelow(scope: string, id: string): boolean {
  return id.toLowerCase().startsWith(`${scope.toLowerCase()}/`)
}

/** Whether an id is that of a scope, or below it. `/` is the scope of everything. */
export function covers(scope: string, id: string): boolean {
  const outer = scope.replace(/(?<!\/)\/+$/, '')
  return sameName(outer, id) || isBelow(outer, id)
}

/** The resource of this name. Several regions may have one: the first counts. Without a name, the first resource of all. */
export const named = <T extends { readonly name: string }>(
  all: readonly T[],
  name: string | undefined,
): T | undefined => (name === undefined ? all[0] : all.find((one) => sameName(one.name, name)))

/** A region as host names and URLs have it: `West Europe` is `westeurope`. */
export const regionName = (location: string): string => location.toLowerCase().replaceAll(' ', '')

/** A GUID that is the same for the same text, for ids that should survive a restart. */
export function stableGuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

export type AccessKeys = readonly [string, string]

export const randomKey = (): string => randomBytes(32).toString('base64')

export const randomKeys = (): AccessKeys => [randomKey(), randomKey()]

// The schemas of events that a topic accepts.
export const inputSchemas = ['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomEventSchema'] as const

export type InputSchema = (typeof inputSchemas)[number]

/** Makes an object schema: `z.object` leaves unknown members out, as Azure does, `z.strictObject` refuses them. */
type MakeObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => z.ZodObject<Shape>

/** Where the Event Grid fields are in events of `CustomEventSchema`, in ARM's shape. */
export function inputSchemaMappingBy(object: MakeObject) {
  const text = z.exactOptional(z.string().min(1, 'must not be empty'))
  const source = z.exactOptional(object({ sourceField: text }))
  const mapped = z.exactOptional(object({ sourceField: text, defaultValue: text }))
  return object({
    inputSchemaMappingType: enumeration('Json'),
    properties: object({
      ...{ id: source, topic: source, eventTime: source },
      ...{ eventType: mapped, subject: mapped, dataVersion: mapped },
    }),
  })
}

/** How a `CustomEventSchema` topic finds the Event Grid fields, in ARM's shape. */
export type InputSchemaMapping = ReadonlyDeep<z.infer<ReturnType<typeof inputSchemaMappingBy>>>

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether a text is an IP address, with or without a prefix length: `10.0.0.0/8`. */
export function isIpMask(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  if (isIP(address) === 0 || more.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (isIP(address) === 6 ? 128 : 32))
}

/** Whether the network rules of a topic or domain let an address publish. Rules count only where public access is enabled. */
export function admitsAddress(
  { publicNetworkAccess = 'Enabled', inboundIpRules = [] }: Pick<Publishable, 'publicNetworkAccess' | 'inboundIpRules'>,
  address: string,
): boolean {
  if (publicNetworkAccess !== 'Enabled') return false
  if (inboundIpRules.length === 0) return true
  const allowed = new BlockList()
  for (const { ipMask } of inboundIpRules) {
    const [base = '', prefix] = ipMask.split('/')
    if (prefix === undefined) allowed.addAddress(base, familyOf(base))
    else allowed.addSubnet(base, Number(prefix), familyOf(base))
  }
  return allowed.check(address, familyOf(address))
}

/** A role of an application at a scope. */
export interface RoleGrant {
  /** Name or id of a built-in role: those of Event Grid, and Owner, Contributor, Reader, User Access Administrator. */
  readonly role: string
  /** The role applies here and below. @default `/`, everywhere */
  readonly scope?: string
}

/** An application that may sign in, with all defaults filled in. */
export interface Client {
  readonly tenantId: string
  readonly clientId: string
  /** The first of its secrets. */
  readonly clientSecret: string
  /** Its other secrets, valid at the same time. */
  readonly otherSecrets: readonly string[]
  /** The object id of its service principal. */
  readonly objectId: string
  readonly roles: readonly Required<RoleGrant>[]
}

/** An Azure subscription, with all defaults filled in. */
export interface DeclaredSubscription {
  readonly id: string
  readonly tenantId: string
  /** Whether the provider Microsoft.EventGrid is registered. */
  readonly registered: boolean
  /** Names. */
  readonly resourceGroups: readonly string[]
}

/** A role that a principal holds at a scope and below. */
export interface RoleAssignment {
  /** Resource id of the assignment. */
  readonly id: string
  readonly principalId: string
  readonly roleId: string
  readonly scope: string
}
