import type { NamespaceContents } from '../arm/namespace-place.ts'
import { deleteNamespaceTopic } from '../arm/namespace-topics.ts'
import { parseQueueSubscription } from '../arm/queue-subscriptions.ts'
import type { Directory } from '../entra/directory.ts'
import type { Clock } from '../model/clock.ts'
import { randomKey } from '../model/model.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from '../model/namespace.ts'
import { declaredGroup } from './declared-group.ts'
import {
  emulatorDefaults,
  type NamespaceOptions,
  type NamespaceTopicOptions,
  type QueueSubscriptionOptions,
} from './options.ts'

export interface NamespaceTargets extends NamespaceContents {
  readonly directory: Directory
  readonly clock: Clock
}

/**
 * Makes a namespace with its topics and event subscriptions, or gives an existing one new settings; keys and events
 * stay. Returns the ids of the namespace and its topics. Throws a RangeError for an unknown Azure subscription, and an ArmError for settings that ARM would refuse.
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
  const { namespaces } = targets
  const id = `${namespace.id}/topics/${options.name}`
  const existing = namespaces.topic(id)
  const topic: NamespaceTopic = {
    id: existing?.id ?? id,
    name: options.name,
    namespaceId: namespace.id,
    keys: existing?.keys ?? [randomKey(), randomKey()],
    eventRetentionInDays: options.eventRetentionInDays ?? 1,
  }
  namespaces.putTopic(topic)
  // An event subscription that somebody made through ARM stays.
  for (const subscription of options.eventSubscriptions ?? []) putSubscription(targets, topic, subscription)
  return topic.id
}

function putSubscription(targets: NamespaceTargets, topic: NamespaceTopic, options: QueueSubscriptionOptions): void {
  const { namespaces, queues, clock } = targets
  const id = `${topic.id}/eventSubscriptions/${options.name}`
  const existing = namespaces.subscription(id)
  const properties = { deliveryConfiguration: { deliveryMode: 'Queue' }, ...options.properties }
  const subscription: QueueSubscription = {
    id: existing?.id ?? id,
    name: options.name,
    topicId: topic.id,
    properties: parseQueueSubscription({ properties }, undefined),
    provisioningState: 'Succeeded',
    createdAt: existing?.createdAt ?? clock.now(),
  }
  namespaces.putSubscription(subscription)
  queues.subscriptionChanged(subscription)
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
