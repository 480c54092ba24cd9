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
    existing: namespaces.topic(id),
    view: viewNamespaceTopic,
    locationOf: () => location,
    put(existing) {
      const { properties } = parseBody(topicBody, call, 'topic')
      const { keys = [randomKey(), randomKey()] as const, eventRetentionInDays = 1 } = existing ?? {}
      const topic: NamespaceTopic = {
        ...{ id: existing?.id ?? id, name: existing?.name ?? name, namespaceId, keys },
        eventRetentionInDays: properties?.eventRetentionInDays ?? eventRetentionInDays,
      }
      namespaces.putTopic(topic)
      return topic
    },
    remove: (topic) => deleteNamespaceTopic(options, topic),
  }
}

/** Deletes a topic with its event subscriptions and their events. */
export function deleteNamespaceTopic({ namespaces, queues }: NamespaceContents, topic: NamespaceTopic): void {
  for (const { id } of namespaces.subscriptions(topic.id)) queues.subscriptionDeleted(id)
  namespaces.deleteTopic(topic)
}

export function viewNamespaceTopic({ id, name, eventRetentionInDays }: NamespaceTopic): object {
  const fixed = { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', provisioningState: 'Succeeded' }
  return { id, name, type: namespaceTypes[1], systemData: null, properties: { ...fixed, eventRetentionInDays } }
}
