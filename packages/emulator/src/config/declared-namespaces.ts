// Namespaces, topics and Queue event subscriptions declared in options: creation, update, removal.
import {
  declaredQueueProperties,
  deleteNamespace,
  type NamespaceContents,
  storeNamespaceTopic,
  storeQueueSubscription,
} from '../arm/resources/namespace-contents.ts'
import type { Directory } from '../entra/directory.ts'
import type { Namespace } from '../model/resources/namespace.ts'
import { named, randomKeys } from '../model/resources/resource.ts'
import type { NamespaceOptions, NamespaceTopicOptions } from './config-schema.ts'
import { placeOf } from './declared-resources.ts'

export interface NamespaceTargets extends NamespaceContents {
  readonly directory: Directory
}

/** The ids of what a declaration made or found. */
export type DeclaredNamespace = ReturnType<typeof putNamespace>

/**
 * Makes a namespace with its topics and event subscriptions, or gives an existing one new settings. Keys, events and
 * what was written through ARM beside the settings stay. A namespace of that name elsewhere is removed. Throws a
 * RangeError for an unknown Azure subscription, and an ArmError for settings that ARM would refuse.
 */
export function putNamespace(targets: NamespaceTargets, options: NamespaceOptions) {
  const { namespaces, directory, newKeys = randomKeys } = targets
  const former = named(namespaces.namespaces.all(), options.name)
  const place = placeOf(directory, 'namespaces', options, former, (elsewhere) => deleteNamespace(targets, elsewhere))
  const existing = namespaces.namespaces.get(place.id)
  const namespace: Namespace = {
    shown: {},
    ...existing,
    ...place,
    id: existing?.id ?? place.id,
    keys: options.keys ?? existing?.keys ?? newKeys(place.id),
  }
  namespaces.namespaces.put(namespace)
  const topics = (options.topics ?? []).map((topic) => putTopic(targets, namespace, topic))
  return {
    id: namespace.id,
    topics: topics.map((topic) => topic.id),
    subscriptions: topics.flatMap((topic) => topic.subscriptions),
  }
}

function putTopic(targets: NamespaceTargets, namespace: Namespace, options: NamespaceTopicOptions) {
  const { name, eventRetentionInDays, eventSubscriptions = [] } = options
  const place = { id: `${namespace.id}/topics/${name}`, name, namespaceId: namespace.id }
  const topic = storeNamespaceTopic(targets, place, eventRetentionInDays)
  const subscriptions = eventSubscriptions.map(({ name, properties }) => {
    return storeQueueSubscription(targets, {
      ...{ id: `${topic.id}/eventSubscriptions/${name}`, name, topicId: topic.id },
      properties: declaredQueueProperties(properties, topic.eventRetentionInDays),
    }).id
  })
  return { id: topic.id, subscriptions }
}
