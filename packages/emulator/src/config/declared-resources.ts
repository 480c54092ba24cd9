// Declared topics, domains, system topics: created or changed, keys kept, `CloudEventSchemaV1_0` default; default
// resource group.

import { removeResource } from '../arm/resources/resources.ts'
import { topicTypeOf } from '../arm/resources/topic-types.ts'
import type { Provisioning } from '../arm/subscriptions/provisioning.ts'
import type { Directory } from '../entra/directory.ts'
import {
  type NewKeys,
  named,
  type Publishable,
  randomKeys,
  resourceId,
  sameName,
  type TrackedType,
} from '../model/resources/resource.ts'
import { newLabel, type Store } from '../model/resources/store.ts'
import { emulatorDefaults, type Place, type SystemTopicOptions, type TopicOptions } from './config-schema.ts'

/** Carries out changes of event subscriptions. */
export interface DeclaredProvisioning {
  write(...asked: Parameters<Provisioning['write']>): unknown
  remove(...asked: Parameters<Provisioning['remove']>): unknown
}

/** What declared resources change. */
export interface ResourceTargets {
  readonly store: Store
  readonly directory: Directory
  /** @default random ones */
  readonly newKeys?: NewKeys
  readonly provisioning: DeclaredProvisioning
}

/**
 * Creates a custom topic or a domain, or changes its settings; returns its id. An existing resource keeps its keys unless
 * new ones are given. Throws a RangeError for an unknown Azure subscription, and for a name that is taken in the region.
 */
export function putPublished(targets: ResourceTargets, type: Publishable['type'], options: TopicOptions): string {
  const { store, newKeys = randomKeys } = targets
  const place = placeInStore(targets, type, options)
  const found = store.resource(place.id)
  const existing = found?.type === type ? found : undefined
  const label = existing?.label ?? newLabel(store, place)
  if (label === undefined) throw new RangeError(`${options.name} is a name that is taken in ${place.location}`)
  store.putResource({
    type,
    ...place,
    label,
    inputSchema: options.inputSchema ?? 'CloudEventSchemaV1_0',
    ...(options.inputSchemaMapping && { inputSchemaMapping: options.inputSchemaMapping }),
    ...(options.bothSchemas && { bothSchemas: true }),
    keys: options.keys ?? existing?.keys ?? newKeys(place.id),
    disableLocalAuth: options.disableLocalAuth ?? false,
  })
  return place.id
}

/** Creates a system topic, or changes its source; returns its id. Throws a RangeError for an unknown Azure subscription. */
export function putSystemTopic(targets: ResourceTargets, options: SystemTopicOptions): string {
  const place = placeInStore(targets, 'systemTopics', options)
  const source = options.source.replace(/\/$/, '')
  targets.store.putResource({ type: 'systemTopics', ...place, source, topicType: topicTypeOf(source).toLowerCase() })
  return place.id
}

/** Removes a resource with its event subscriptions. Has no effect for an unknown name. */
export function removeNamed(targets: ResourceTargets, type: TrackedType, name: string): void {
  const found = named(targets.store.resources<TrackedType>(type), name)
  if (found) removeResource(targets, found)
}

/**
 * Id and place of a declared resource. Its group is by default the first of the first Azure subscription; one that does not exist is
 * created. `former`, the resource of that name, is removed where it is elsewhere: names are unique among the declared ones. Throws a
 * RangeError for an unknown Azure subscription.
 */
export function placeOf<Former extends { readonly id: string }>(
  directory: Directory,
  type: TrackedType | 'namespaces',
  declared: Place & { readonly name: string },
  former: Former | undefined,
  remove: (former: Former) => void,
) {
  const { name, location = emulatorDefaults.location } = declared
  const wanted = declared.subscriptionId ?? directory.azureSubscriptions()[0]?.id ?? ''
  const azure = directory.azureSubscription(wanted)
  if (!azure) throw new RangeError(`there is no Azure subscription ${wanted}`)
  const { id: subscriptionId } = azure
  const resourceGroup =
    declared.resourceGroup ?? directory.groups.of(subscriptionId)[0]?.name ?? emulatorDefaults.resourceGroup
  directory.addResourceGroup(subscriptionId, resourceGroup)
  const id = resourceId(type, { subscriptionId, resourceGroup, name })
  if (former && !sameName(former.id, id)) remove(former)
  return { id, name, subscriptionId, resourceGroup, location }
}

/** The same for a resource of the store. */
function placeInStore(targets: ResourceTargets, type: TrackedType, options: Place & { readonly name: string }) {
  const former = named(targets.store.resources<TrackedType>(type), options.name)
  return placeOf(targets.directory, type, options, former, (elsewhere) => removeResource(targets, elsewhere))
}
