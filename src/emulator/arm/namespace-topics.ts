import { z } from 'zod'
import { randomKey } from '../model/model.ts'
import type { Namespace, NamespaceTopic } from '../model/namespace.ts'
import {
  type NamespaceContents,
  type NamespaceLevel,
  type NamespaceOptions,
  type NamespacePlace,
  namespaceTypes,
} from './namespace-place.ts'
import { deleteQueueSubscription } from './queue-subscriptions.ts'
import { parseBody } from './resource.ts'

const topicBody = z.object({
  properties: z
    .object({
      publisherType: z.literal('Custom').nullish(),
      inputSchema: z.literal('CloudEventSchemaV1_0').nullish(),
      eventRetentionInDays: z.int().min(1).max(7).nullish(),
    })
    .nullish(),
})

export function namespaceTopicLevel(
  options: NamespaceOptions,
  { call, id, name }: NamespacePlace,
  { id: namespaceId, location }: Namespace,
): NamespaceLevel<NamespaceTopic> {
  const { namespaces } = options
  return {
    what: 'topic',
    existing: namespaces.topics.get(id),
    view: viewNamespaceTopic,
    locationOf: () => location,
    put(existing) {
      const { properties } = parseBody(topicBody, call, 'topic')
      const days = properties?.eventRetentionInDays ?? existing?.eventRetentionInDays
      return storeNamespaceTopic(options, { id, name, namespaceId }, days)
    },
    remove: (topic) => deleteNamespaceTopic(options, topic),
  }
}

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

export function viewNamespaceTopic({ id, name, eventRetentionInDays }: NamespaceTopic): object {
  const fixed = { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', provisioningState: 'Succeeded' }
  return { id, name, type: namespaceTypes[1], systemData: null, properties: { ...fixed, eventRetentionInDays } }
}
