// How namespaces, their topics and Queue event subscriptions are stored and deleted, with their queues; `eventRetentionInDays` of 1.
import { type NewKeys, randomKeys } from '../../model/resources/access-keys.ts'
import type { Namespace, NamespaceTopic } from '../../model/resources/namespace.ts'
import type { NamespaceStore } from '../../model/resources/namespace-store.ts'
import type { QueueSubscription } from '../../model/resources/queue-subscription.ts'
import type { Clock } from '../../model/time/clock.ts'

/** The namespaces, and the queues of their event subscriptions. */
export interface NamespaceContents {
  readonly clock: Pick<Clock, 'now'>
  /** @default random ones */
  readonly newKeys?: NewKeys
  readonly namespaces: NamespaceStore
  /** Follows each event subscription that is stored or deleted. */
  readonly queues: {
    subscriptionChanged(subscription: QueueSubscription): void
    subscriptionDeleted(subscriptionId: string): void
  }
}

/** Stores a topic. An existing one keeps its keys. @param eventRetentionInDays @default 1 */
export function storeNamespaceTopic(
  { namespaces, newKeys = randomKeys }: NamespaceContents,
  { id, name, namespaceId }: Pick<NamespaceTopic, 'id' | 'name' | 'namespaceId'>,
  eventRetentionInDays = 1,
): NamespaceTopic {
  const existing = namespaces.topics.get(id)
  const topic = { id, name, namespaceId, keys: newKeys(id), ...existing, eventRetentionInDays }
  namespaces.topics.put(topic)
  return topic
}

/** Stores an event subscription; its queue is made, or takes the new settings. */
export function storeQueueSubscription(
  { namespaces, queues, clock }: NamespaceContents,
  given: Pick<QueueSubscription, 'id' | 'name' | 'topicId' | 'properties'>,
): QueueSubscription {
  const { id, name, createdAt } = namespaces.subscriptions.get(given.id) ?? { ...given, createdAt: clock.now() }
  const subscription: QueueSubscription = { ...given, id, name, createdAt }
  namespaces.subscriptions.put(subscription)
  queues.subscriptionChanged(subscription)
  return subscription
}

/** Deletes a namespace with all that it contains. */
export function deleteNamespace(contents: NamespaceContents, namespace: Namespace): void {
  const { namespaces, topics } = contents.namespaces
  for (const topic of topics.of(namespace.id)) deleteNamespaceTopic(contents, topic)
  namespaces.delete(namespace)
}

/** Deletes a topic with its event subscriptions and their events. */
export function deleteNamespaceTopic(contents: NamespaceContents, topic: NamespaceTopic): void {
  const { subscriptions, topics } = contents.namespaces
  for (const subscription of subscriptions.of(topic.id)) deleteQueueSubscription(contents, subscription)
  topics.delete(topic)
}

/** Deletes an event subscription with its events. */
export function deleteQueueSubscription(
  { namespaces, queues }: NamespaceContents,
  subscription: QueueSubscription,
): void {
  queues.subscriptionDeleted(subscription.id)
  namespaces.subscriptions.delete(subscription)
}
