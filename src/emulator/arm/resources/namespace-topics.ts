// How a namespace topic is stored, shown and deleted: `eventRetentionInDays` of 1, new keys.
import { randomKey } from '../../model/resources/model.ts'
import type { NamespaceTopic } from '../../model/resources/namespace.ts'
import { deleteQueueSubscription } from '../subscriptions/queue-subscriptions.ts'
import type { NamespaceContents } from './namespace-contents.ts'

/** Stores a topic. An existing one keeps its keys. @param eventRetentionInDays @default 1 */
export function storeNamespaceTopic(
  { namespaces }: Pick<NamespaceContents, 'namespaces'>,
  { id, name, namespaceId }: Pick<NamespaceTopic, 'id' | 'name' | 'namespaceId'>,
  eventRetentionInDays = 1,
): NamespaceTopic {
  const { keys = [randomKey(), randomKey()] as const, ...existing } = namespaces.topics.get(id) ?? {}
  const topic = { id, name, namespaceId, ...existing, keys, eventRetentionInDays }
  namespaces.topics.put(topic)
  return topic
}

/** Deletes a topic with its event subscriptions and their events. */
export function deleteNamespaceTopic(contents: NamespaceContents, topic: NamespaceTopic): void {
  const { subscriptions, topics } = contents.namespaces
  for (const subscription of subscriptions.of(topic.id)) deleteQueueSubscription(contents, subscription)
  topics.delete(topic)
}

/** A topic's properties in ARM's shape. */
export function namespaceTopicBody({ eventRetentionInDays }: NamespaceTopic): object {
  return { properties: { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', eventRetentionInDays } }
}
