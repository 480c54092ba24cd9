import type { NamespaceContents } from '../arm/namespace-place.ts'
import { deleteNamespaceTopic, storeNamespaceTopic } from '../arm/namespace-topics.ts'
import { parseQueueSubscription, storeQueueSubscription } from '../arm/queue-subscriptions.ts'
import type { Directory } from '../entra/directory.ts'
import type { Clock } from '../model/clock.ts'
import { randomKey } from '../model/model.ts'
import type { Namespace } from '../model/namespace.ts'
import { declaredGroup } from './declared-group.ts'
import { emulatorDefaults, type NamespaceOptions, type NamespaceTopicOptions } from './options.ts'

export interface NamespaceTargets extends NamespaceContents {
  readonly directory: Directory
  readonly clock: Clock
}

/**
 * Makes a namespace with its topics and event subscriptions, or gives an existing one new settings; keys and events
 * stay. Returns the ids of the namespace and its topics. Throws a RangeError for an unknown Azure subscription, and an
 * ArmError for settings that ARM would refuse.
 */
export function putNamespace(targets: NamespaceTargets, options: NamespaceOptions): string[] {
  const { namespaces, directory } = targets
  const { subscriptionId, resourceGroup } = declaredGroup(directory, options)
  const scope = `/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}`
  const id = `${scope}/providers/Microsoft.EventGrid/namespaces/${options.name}`
  const existing = namespaces.namespaceById(id)
  const namespace: Namespace = {
    id: existing?.id ?? id,
    name: options.name,
    subscriptionId,
    resourceGroup,
    location: options.location ?? emulatorDefaults.location,
    keys: options.keys ?? existing?.keys ?? [randomKey(), randomKey()],
    shown: existing?.shown ?? {},
  }
  namespaces.putNamespace(namespace)
  const wanted = options.topics ?? []
  for (const topic of namespaces.topics(namespace.id)) {
    if (!wanted.some(({ name }) => isSame(name, topic.name))) deleteNamespaceTopic(targets, topic)
  }
  return [namespace.id, ...wanted.map((topic) => putTopic(targets, namespace, topic))]
}

function putTopic(targets: NamespaceTargets, namespace: Namespace, options: NamespaceTopicOptions): string {
  const { name, eventRetentionInDays } = options
  const place = { id: `${namespace.id}/topics/${name}`, name, namespaceId: namespace.id }
  const topic = storeNamespaceTopic(targets, place, eventRetentionInDays)
  // An event subscription that somebody made through ARM stays.
  for (const { name, properties } of options.eventSubscriptions ?? []) {
    const body = { properties: { deliveryConfiguration: { deliveryMode: 'Queue' }, ...properties } }
    storeQueueSubscription(targets, {
      ...{ id: `${topic.id}/eventSubscriptions/${name}`, name, topicId: topic.id },
      properties: parseQueueSubscription(body, undefined),
    })
  }
  return topic.id
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
