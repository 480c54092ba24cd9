import { z } from 'zod'
import { randomKey } from '../model/model.ts'
import type { Namespace, NamespaceTopic } from '../model/namespace.ts'
import {
  checkNamespaceName,
  type NamespaceContents,
  type NamespaceOptions,
  type NamespacePlace,
  namespaceRemoved,
  namespaceResourceNotFound,
  namespaceTypes,
  namespaceWritten,
} from './namespace-place.ts'
import { parseBody, type ResourceHandler } from './resource.ts'

const topicBody = z.object({
  properties: z
    .object({
      publisherType: z.literal('Custom').nullish(),
      inputSchema: z.literal('CloudEventSchemaV1_0').nullish(),
      eventRetentionInDays: z.int().min(1).max(7).nullish(),
    })
    .nullish(),
})

export function namespaceTopicHandler(
  options: NamespaceOptions,
  place: NamespacePlace,
  namespace: Namespace,
): ResourceHandler<NamespaceTopic> {
  const { namespaces } = options
  return {
    existing: namespaces.topic(place.id),
    notFound: () => namespaceResourceNotFound(place.type, place.id),
    view: viewNamespaceTopic,
    write(existing) {
      const { properties } = parseBody(topicBody, place.call, 'topic')
      checkNamespaceName(place.name, 'topic')
      const topic: NamespaceTopic = {
        id: existing?.id ?? place.id,
        name: existing?.name ?? place.name,
        namespaceId: namespace.id,
        keys: existing?.keys ?? [randomKey(), randomKey()],
        eventRetentionInDays: properties?.eventRetentionInDays ?? existing?.eventRetentionInDays ?? 1,
      }
      namespaces.putTopic(topic)
      return namespaceWritten(options, place, namespace, viewNamespaceTopic(topic))
    },
    remove: (topic) => namespaceRemoved(options, place, namespace, () => deleteNamespaceTopic(options, topic)),
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
