/** What a configuration makes of what stands: every fault with its place, or all that is to stand afterwards; nothing is changed yet. */
import { isDeepStrictEqual } from 'node:util'
import { ArmError } from '../arm/call/errors.ts'
import { createDomainTopic } from '../arm/resources/domain-topics.ts'
import {
  declaredQueueProperties,
  deleteNamespace,
  deleteNamespaceTopic,
  deleteQueueSubscription,
  storeNamespaceTopic,
  storeQueueSubscription,
} from '../arm/resources/namespace-contents.ts'
import { removeResource } from '../arm/resources/resources.ts'
import { declaredProperties } from '../arm/subscriptions/read-settings.ts'
import { type EventSubscription, withInForce } from '../model/resources/event-subscription.ts'
import type { Namespace } from '../model/resources/namespace.ts'
import {
  type AccessKeys,
  asResourceId,
  type DeclaredSubscription,
  eventSubscriptionId,
  isOfType,
  named,
  type Publishable,
  randomKeys,
  resourceGroupId,
  resourceId,
  sameName,
  type TrackedType,
} from '../model/resources/resource.ts'
import { newLabel, publisherOf, type Store } from '../model/resources/store.ts'
import { typeNameOf } from '../model/resources/topic-types.ts'
import type { FieldFault } from '../model/schemas.ts'
import type { ResolvedOptions } from './options.ts'
import { emulatorDefaults, type NamespaceOptions, type Place, type TopicOptions } from './resource-fields.ts'
import { draftOf, type Standing, standingOf } from './standing.ts'

export interface PlanContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly newKeys: () => AccessKeys
  /** The ids, in lower case, of what the configuration before declared: what this one leaves out of these is removed. */
  readonly declaredBefore: ReadonlySet<string>
  /** The Azure subscriptions of the configuration before, whose groups go with them. */
  readonly azureBefore: readonly Pick<DeclaredSubscription, 'id'>[]
  /** Whether what no configuration declared stays or is removed: resources and settings that were made through ARM. */
  readonly others: 'stay' | 'go'
}

export const firstPlan = (now: number): PlanContext => ({
  ...{ now, newKeys: randomKeys, declaredBefore: new Set(), azureBefore: [], others: 'stay' },
})

/** What is to stand, and the ids, in lower case, of what the configuration declares. */
export interface Plan {
  readonly standing: Standing
  readonly declared: readonly string[]
}

/** Plans a configuration. The fields of the options are right by themselves: `checkConfig` has seen to that. */
export function planConfiguration(
  standing: Standing,
  options: ResolvedOptions,
  context: PlanContext,
): Plan | { readonly faults: readonly FieldFault[] } {
  const { now, newKeys, declaredBefore, others } = context
  const faults: FieldFault[] = []
  const draft = draftOf(standing)
  const { store, namespaces } = draft
  const contents = { ...draft, newKeys, clock: { now: () => now }, queues: noQueues }
  planGroups(store, options.subscriptions, context)

  const placed = <One extends Placed>(type: PlacedType, all: readonly One[]) =>
    all.map((given, index) => {
      const place = placeOf(store.groups, options.subscriptions, type, given)
      return { given, place, path: [type, index, 'name'] as const }
    })
  const published = { topics: placed('topics', options.topics), domains: placed('domains', options.domains) }
  const systemTopics = placed('systemTopics', options.systemTopics)
  const tracked = [...published.topics, ...published.domains, ...systemTopics].map(({ place }) => place)
  const declaredNamespaces = placed('namespaces', options.namespaces)
  const contentIds = declaredNamespaces.flatMap(({ given, place }) => contentsOf(given, place.id))
  const eventSubscriptions = options.eventSubscriptions.map((given) => {
    const topics = published.topics.map(({ place }) => place)
    const scope = given.scope === undefined ? (named(topics, given.topic)?.id ?? '') : asResourceId(given.scope)
    return { given, place: { id: eventSubscriptionId(scope, given.name), scope, name: given.name } }
  })
  const places = [...tracked, ...declaredNamespaces.map(({ place }) => place), ...contentIds]
  const declared = [...places, ...eventSubscriptions.map(({ place }) => place)].map(({ id }) => id.toLowerCase())
  const wanted = new Set(declared)
  removeUnwanted(contents, (id) => !wanted.has(id) && (others === 'go' || declaredBefore.has(id)))

  for (const type of ['topics', 'domains'] as const) {
    for (const { given, place, path } of published[type]) {
      if (putPublished(store, { type, options: given, place, newKeys, others })) continue
      faults.push({ path, rule: `is a name that is taken in ${place.location}` })
    }
  }
  for (const { given, place } of systemTopics) {
    const source = given.source.replace(/\/$/, '')
    const existing = others === 'stay' ? store.resource(place.id) : undefined
    const topicType = typeNameOf(source).toLowerCase()
    store.putResource({
      ...(isOfType(existing, 'systemTopics') && existing),
      type: 'systemTopics',
      ...place,
      source,
      topicType,
    })
  }
  for (const { given, place, path } of declaredNamespaces) {
    const other = named(namespaces.namespaces.all(), given.name)
    if (other && !sameName(other.id, place.id)) faults.push({ path, rule: 'is a name that is taken' })
    putNamespace(contents, given, place, newKeys)
  }
  const seen = new Set<string>()
  for (const [index, { given, place }] of eventSubscriptions.entries()) {
    const path = ['eventSubscriptions', index]
    if (seen.has(place.id.toLowerCase())) faults.push({ path: [...path, 'name'], rule: 'is given twice' })
    seen.add(place.id.toLowerCase())
    try {
      createDomainTopic(store, place.scope)
      const properties = declaredProperties(given, publisherOf(store, place.scope)?.inputSchema, now)
      draftEventSubscription(store, { createdAt: now, ...place, properties, provisioningState: 'Creating' })
    } catch (error) {
      if (!(error instanceof ArmError)) throw error
      const at = error.at ? ['properties', ...error.at] : []
      faults.push({ path: [...path, ...at], rule: `is refused by Event Grid: ${error.message}` })
    }
  }
  if (faults.length > 0) return { faults }

  store.listResourcesFirst(tracked)
  namespaces.namespaces.listFirst(declaredNamespaces.map(({ place }) => place))
  namespaces.topics.listFirst(contentIds)
  return { standing: standingOf(draft), declared }
}

type Draft = ReturnType<typeof draftOf>
type DraftContents = Draft & Parameters<typeof deleteNamespace>[0]

const noQueues = { subscriptionChanged: () => {}, subscriptionDeleted: () => {} }

/** The resource groups: those of Azure subscriptions that go are removed, the declared ones added and listed first. */
function planGroups(
  { groups, roleAssignments }: Store,
  wanted: readonly DeclaredSubscription[],
  { azureBefore, others }: PlanContext,
): void {
  const goes = (id: string) => others === 'go' || (!has(wanted, id) && has(azureBefore, id))
  for (const group of groups.all()) if (goes(group.subscriptionId)) groups.delete(group)
  if (others === 'go') for (const one of roleAssignments.all()) roleAssignments.delete(one)
  const declared = wanted.flatMap(({ id, resourceGroups }) => resourceGroups.map((name) => addGroup(groups, id, name)))
  groups.listFirst(declared)
}

const has = (all: readonly { readonly id: string }[], id: string) => all.some((one) => sameName(one.id, id))

/** Makes a resource group, unless the group is there. */
function addGroup(groups: Store['groups'], subscriptionId: string, name: string): { readonly id: string } {
  const id = resourceGroupId(subscriptionId, name)
  if (!groups.get(id)) groups.put({ id, subscriptionId, name })
  return { id }
}

type PlacedType = TrackedType | 'namespaces'
type Placed = Place & { readonly name: string }

/**
 * Id and place of a declared resource. Its group is by default the first of its Azure subscription, which is by default the first one; a
 * group that does not exist is made. An Azure subscription that is not there was found by `checkConfig`.
 */
export function placeOf(
  groups: Store['groups'],
  subscriptions: readonly Pick<DeclaredSubscription, 'id'>[],
  type: PlacedType,
  { name, subscriptionId: wanted, resourceGroup: group, location = emulatorDefaults.location }: Placed,
) {
  const azure = wanted === undefined ? subscriptions[0] : subscriptions.find(({ id }) => sameName(id, wanted))
  const subscriptionId = azure?.id ?? wanted ?? ''
  const resourceGroup = group ?? groups.of(subscriptionId)[0]?.name ?? emulatorDefaults.resourceGroup
  addGroup(groups, subscriptionId, resourceGroup)
  return {
    id: resourceId(type, { subscriptionId, resourceGroup, name }),
    name,
    subscriptionId,
    resourceGroup,
    location,
  }
}

type ResourcePlace = ReturnType<typeof placeOf>

/** The ids of the topics and Queue event subscriptions that a namespace declares. */
function contentsOf({ topics = [] }: NamespaceOptions, namespaceId: string): readonly { readonly id: string }[] {
  return topics.flatMap(({ name, eventSubscriptions = [] }) => {
    const id = `${namespaceId}/topics/${name}`
    return [{ id }, ...eventSubscriptions.map((one) => ({ id: `${id}/eventSubscriptions/${one.name}` }))]
  })
}

/** Removes what goes, with all that it contains. @param goes takes an id in lower case */
function removeUnwanted(draft: DraftContents, goes: (id: string) => boolean): void {
  const { store, provisioning } = draft
  const { namespaces, topics, subscriptions } = draft.namespaces
  const leaves = ({ id }: { readonly id: string }) => goes(id.toLowerCase())
  for (const one of store.tracked().filter(leaves)) removeResource(draft, one)
  for (const one of store.subscriptions.all().filter(leaves)) provisioning.remove(one)
  for (const one of store.resources('domains/topics').filter(leaves)) {
    if (store.subscriptions.of(one.id).length === 0) store.deleteResource(one)
  }
  for (const one of namespaces.all().filter(leaves)) deleteNamespace(draft, one)
  for (const one of topics.all().filter(leaves)) deleteNamespaceTopic(draft, one)
  for (const one of subscriptions.all().filter(leaves)) deleteQueueSubscription(draft, one)
}

/**
 * Stores a custom topic or a domain, or its new settings; an existing one keeps its keys unless new ones are given. False where its name
 * is taken in the region.
 */
export function putPublished(
  store: Store,
  asked: {
    readonly type: Publishable['type']
    readonly options: TopicOptions
    readonly place: ResourcePlace
    readonly newKeys: () => AccessKeys
    readonly others: PlanContext['others']
  },
): boolean {
  const { type, options, place, newKeys, others } = asked
  const found = store.resource(place.id)
  const existing = found?.type === type ? found : undefined
  const label = existing?.label ?? newLabel(store, place)
  if (label === undefined) return false
  // The mapping is the configuration's alone.
  const kept: Partial<Publishable> = (others === 'stay' && existing) || {}
  const { inputSchemaMapping: _mapping, ...written } = kept
  store.putResource({
    ...written,
    type,
    ...place,
    label,
    inputSchema: options.inputSchema ?? 'CloudEventSchemaV1_0',
    ...(options.inputSchemaMapping && { inputSchemaMapping: options.inputSchemaMapping }),
    keys: options.keys ?? existing?.keys ?? newKeys(),
    disableLocalAuth: options.disableLocalAuth ?? written.shownProperties?.disableLocalAuth === true,
  })
  return true
}

/** Stores a namespace with its contents, or its new settings. Keys, and what was written through ARM beside the settings, stay. */
function putNamespace(
  draft: DraftContents,
  { keys, topics = [] }: NamespaceOptions,
  place: ResourcePlace,
  newKeys: () => AccessKeys,
): void {
  const existing = draft.namespaces.namespaces.get(place.id)
  const id = existing?.id ?? place.id
  const namespace: Namespace = { shown: {}, ...existing, ...place, id, keys: keys ?? existing?.keys ?? newKeys() }
  draft.namespaces.namespaces.put(namespace)
  for (const { name, eventRetentionInDays, eventSubscriptions = [] } of topics) {
    const at = { id: `${id}/topics/${name}`, name, namespaceId: id }
    const topic = storeNamespaceTopic(draft, at, eventRetentionInDays)
    for (const one of eventSubscriptions) {
      const properties = declaredQueueProperties(one.properties, topic.eventRetentionInDays)
      const subscription = { id: `${topic.id}/eventSubscriptions/${one.name}`, name: one.name, topicId: topic.id }
      storeQueueSubscription(draft, { ...subscription, properties })
    }
  }
}

/** Stores an event subscription whose settings are others than those that stand, or whose last change did not succeed. */
function draftEventSubscription({ subscriptions }: Store, wanted: EventSubscription): void {
  const { properties } = wanted
  const existing = subscriptions.get(wanted.id)
  if (existing?.provisioningState === 'Succeeded' && isDeepStrictEqual(existing.properties, properties)) return
  subscriptions.put(
    existing ? withInForce({ ...existing, properties, provisioningState: 'Updating' }, existing) : wanted,
  )
}
