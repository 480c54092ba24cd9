import { parseQueueSubscription } from '../arm/queue-subscriptions.ts'
import type { Directory } from '../entra/directory.ts'
import type { Clock } from '../model/clock.ts'
import { randomKey } from '../model/model.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from '../model/namespace.ts'
import type { NamespaceStore } from '../model/namespace-store.ts'
import type { NamespaceQueues } from '../namespaces/namespace-queues.ts'
import {
  emulatorDefaults,
  type NamespaceOptions,
  type NamespaceTopicOptions,
  type QueueSubscriptionOptions,
} from './options.ts'

/** What declared namespaces change. */
export interface NamespaceTargets {
  readonly namespaces: NamespaceStore
  readonly queues: Pick<NamespaceQueues, 'subscriptionChanged' | 'subscriptionDeleted'>
  readonly directory: Directory
  readonly clock: Clock
}

/**
 * Makes a namespace with its topics and event subscriptions, or gives an existing one new settings; keys and events
 * stay. Throws a RangeError for an unknown Azure subscription, and an ArmError for settings that ARM would refuse.
 */
export function putNamespace(targets: NamespaceTargets, options: NamespaceOptions): void {
  const { namespaces, directory } = targets
  const subscriptionId = options.subscriptionId ?? directory.azureSubscriptions()[0]?.id ?? ''
  const azure = directory.azureSubscription(subscriptionId)
  if (!azure) throw new RangeError(`there is no Azure subscription ${subscriptionId}`)
  const resourceGroup = options.resourceGroup ?? [...azure.resourceGroups.values()][0] ?? emulatorDefaults.resourceGroup
  azure.resourceGroups.set(resourceGroup.toLowerCase(), resourceGroup)
  const scope = `/subscriptions/${azure.id}/resourceGroups/${resourceGroup}`
  const id = `${scope}/providers/Microsoft.EventGrid/namespaces/${options.name}`
  const existing = namespaces.namespaceById(id)
  const namespace: Namespace = {
    id: existing?.id ?? id,
    name: options.name,
    subscriptionId: azure.id,
    resourceGroup,
    location: options.location ?? emulatorDefaults.location,
    keys: options.keys ?? existing?.keys ?? [randomKey(), randomKey()],
    shown: existing?.shown ?? {},
  }
  namespaces.putNamespace(namespace)
  const wanted = options.topics ?? []
  for (const topic of namespaces.topics(namespace.id)) {
    if (!wanted.some(({ name }) => isSame(name, topic.name))) removeTopic(targets, topic)
  }
  for (const topic of wanted) putTopic(targets, namespace, topic)
}

/** Takes a namespace away with all that is in it. */
export function removeNamespace(targets: NamespaceTargets, id: string): void {
  const namespace = targets.namespaces.namespaceById(id)
  if (!namespace) return
  for (const topic of targets.namespaces.topics(namespace.id)) removeTopic(targets, topic)
  targets.namespaces.deleteNamespace(namespace)
}

function putTopic(targets: NamespaceTargets, namespace: Namespace, options: NamespaceTopicOptions): void {
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

function removeTopic({ namespaces, queues }: NamespaceTargets, topic: NamespaceTopic): void {
  for (const { id } of namespaces.subscriptions(topic.id)) queues.subscriptionDeleted(id)
  namespaces.deleteTopic(topic)
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
