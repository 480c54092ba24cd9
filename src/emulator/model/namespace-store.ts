import type { Namespace, NamespaceStore, NamespaceTopic, QueueSubscription } from './namespace.ts'

/** A namespace store in memory. */
export function createNamespaceStore(): NamespaceStore {
  const namespaces = new Map<string, Namespace>()
  const topics = new Map<string, NamespaceTopic>()
  const subscriptions = new Map<string, QueueSubscription>()
  const keyOf = (id: string) => id.toLowerCase()

  function deleteTopic(topic: NamespaceTopic): void {
    for (const subscription of subscriptionsOf(topic.id)) subscriptions.delete(keyOf(subscription.id))
    topics.delete(keyOf(topic.id))
  }

  const topicsOf = (namespaceId: string) =>
    [...topics.values()].filter((topic) => keyOf(topic.namespaceId) === keyOf(namespaceId))
  const subscriptionsOf = (topicId: string) =>
    [...subscriptions.values()].filter((subscription) => keyOf(subscription.topicId) === keyOf(topicId))

  return {
    namespace: (name) => [...namespaces.values()].find((one) => keyOf(one.name) === keyOf(name)),
    namespaceById: (id) => namespaces.get(keyOf(id)),
    namespaces: () => [...namespaces.values()],
    putNamespace: (namespace) => void namespaces.set(keyOf(namespace.id), namespace),
    deleteNamespace(namespace) {
      for (const topic of topicsOf(namespace.id)) deleteTopic(topic)
      namespaces.delete(keyOf(namespace.id))
    },
    topic: (id) => topics.get(keyOf(id)),
    topics: topicsOf,
    putTopic: (topic) => void topics.set(keyOf(topic.id), topic),
    deleteTopic,
    subscription: (id) => subscriptions.get(keyOf(id)),
    subscriptions: subscriptionsOf,
    putSubscription: (subscription) => void subscriptions.set(keyOf(subscription.id), subscription),
    deleteSubscription: (subscription) => void subscriptions.delete(keyOf(subscription.id)),
  }
}
