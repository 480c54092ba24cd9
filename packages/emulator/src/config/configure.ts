/** How a configuration is applied, whole or not at all: planned, written in one transaction, then carried out. */
import { deleteQueueSubscription, type NamespaceContents } from '../arm/resources/namespace-contents.ts'
import { removeResource } from '../arm/resources/resources.ts'
import type { Provisioning } from '../arm/subscriptions/provisioning.ts'
import type { Directory } from '../entra/directory.ts'
import { named, randomKeys, sameName } from '../model/resources/resource.ts'
import type { Store } from '../model/resources/store.ts'
import { errorOfFaults } from '../model/schemas.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import type { ResolvedOptions } from './options.ts'
import { firstPlan, type PlanContext, placeOf, planConfiguration, putPublished } from './plan.ts'
import type { TopicOptions } from './resource-fields.ts'
import { differences, standingOf } from './standing.ts'

/** What a configuration changes. */
export interface Configured extends NamespaceContents {
  readonly store: Store
  readonly directory: Directory
  readonly provisioning: Provisioning
  readonly persisted: PersistedValues
  setIngress(ingress: ResolvedOptions['ingress']): void
}

/** Where the ids of what the configuration declares are kept for the next one, perhaps in another process. */
const declaredKey = ['declared', 'ids'] as const

/**
 * Applies a configuration. Throws a TypeError that names all faults, and changes nothing, where a part of the configuration is refused;
 * throws an EmulatorStateError where the state file does not take the changes.
 *
 * @param options.others whether what no configuration declared, such as what was made through ARM, stays. @default stay
 */
export function configure(
  parts: Configured,
  settings: ResolvedOptions,
  { others = 'stay' }: Partial<Pick<PlanContext, 'others'>> = {},
): void {
  const { store, namespaces, directory, persisted, provisioning, queues, clock } = parts
  const before = standingOf(parts)
  const plan = planConfiguration(before, settings, {
    ...firstPlan(clock.now()),
    others,
    declaredBefore: new Set(JSON.parse(persisted.get(...declaredKey) ?? '[]')),
    azureBefore: directory.declaredSubscriptions,
  })
  if ('faults' in plan) throw errorOfFaults(plan.faults)
  const { standing, declared } = plan
  const changes = differences(before, standing)
  const names = JSON.stringify(declared)
  persisted.writeAhead([...written(changes), { kind: declaredKey[0], id: declaredKey[1], value: names }])

  if (others === 'go') directory.forget()
  directory.declare(settings)
  parts.setIngress(settings.ingress)
  for (const one of changes['event subscription'].gone) provisioning.forget(one)
  for (const one of changes['queue event subscription'].gone) deleteQueueSubscription(parts, one)
  for (const one of changes['namespace topic'].gone) namespaces.topics.delete(one)
  for (const one of changes.namespace.gone) namespaces.namespaces.delete(one)
  for (const one of changes.resource.gone) store.deleteResource(one)
  for (const one of changes['resource group'].gone) store.groups.delete(one)
  for (const one of changes['resource group'].put) store.groups.put(one)
  for (const one of changes.resource.put) store.putResource(one)
  for (const one of changes.namespace.put) namespaces.namespaces.put(one)
  for (const one of changes['namespace topic'].put) {
    namespaces.topics.put(one)
    namespaces.subscriptions.of(one.id).forEach(queues.subscriptionChanged)
  }
  for (const one of changes['queue event subscription'].put) {
    namespaces.subscriptions.put(one)
    queues.subscriptionChanged(one)
  }
  store.groups.listFirst(standing['resource group'])
  store.listResourcesFirst(standing.resource)
  namespaces.namespaces.listFirst(standing.namespace)
  namespaces.topics.listFirst(standing['namespace topic'])
  for (const one of changes['event subscription'].put) provisioning.write(one, settings.declaredRetries)
  persisted.put(...declaredKey, names)
}

/** The changes as a state file has them. */
function* written(changes: ReturnType<typeof differences>) {
  for (const [kind, { put, gone }] of Object.entries(changes)) {
    for (const one of put) yield { kind, id: one.id.toLowerCase(), value: JSON.stringify(one) }
    for (const { id } of gone) yield { kind, id: id.toLowerCase(), value: undefined }
  }
}

/**
 * Stores one custom topic beside those of the configuration, in the place of the one with that name. Throws a RangeError for an unknown
 * Azure subscription, and for a name that is taken in the region.
 */
export function putTopic({ store, directory, provisioning }: Configured, options: TopicOptions): void {
  const { name, subscriptionId } = options
  const subscriptions = directory.azureSubscriptions()
  if (subscriptionId !== undefined && !subscriptions.some(({ id }) => sameName(id, subscriptionId))) {
    throw new RangeError(`there is no Azure subscription ${subscriptionId}`)
  }
  const place = placeOf(store.groups, subscriptions, 'topics', options)
  const former = named(store.resources('topics'), name)
  if (former && !sameName(former.id, place.id)) removeResource({ store, provisioning }, former)
  if (putPublished(store, { type: 'topics', options, place, newKeys: randomKeys, others: 'go' })) return
  throw new RangeError(`${name} is a name that is taken in ${place.location}`)
}
