import { isRecord } from '../../support/is-record.ts'
import { createCollection, noShelves, type Shelves } from './collection.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from './namespace.ts'

/** The namespaces with what is in them. Ids compare without regard to case, as ARM's do. */
export interface NamespaceStore {
  /** By name. */
  namespace(name: string): Namespace | undefined
  namespaceById(id: string): Namespace | undefined
  namespaces(): readonly Namespace[]
  putNamespace(namespace: Namespace): void
  /** Lists the namespaces and the topics with these ids before all others. */
  lead(ids: readonly string[]): void
  /** With its topics and their event subscriptions. */
  deleteNamespace(namespace: Namespace): void
  topic(id: string): NamespaceTopic | undefined
  /** Those of a namespace. */
  topics(namespaceId: string): readonly NamespaceTopic[]
  putTopic(topic: NamespaceTopic): void
  /** With its event subscriptions. */
  deleteTopic(topic: NamespaceTopic): void
  subscription(id: string): QueueSubscription | undefined
  /** Those of a topic. */
  subscriptions(topicId: string): readonly QueueSubscription[]
  putSubscription(subscription: QueueSubscription): void
  deleteSubscription(subscription: QueueSubscription): void
}

/** Makes the store of the namespaces on these shelves. @param shelves @default in memory */
export function createNamespaceStore(shelves: Shelves = noShelves): NamespaceStore {
  const keyOf = ({ id }: { readonly id: string }) => id
  const namespaces = createCollection({ keyOf, shelf: shelves('namespace'), isResource: isNamespace })
  const topics = createCollection({
    keyOf,
    groupOf: ({ namespaceId }) => namespaceId,
    shelf: shelves('namespace topic'),
    isResource: isTopic,
  })
  const subscriptions = createCollection({
    keyOf,
    groupOf: ({ topicId }) => topicId,
    shelf: shelves('queue event subscription'),
    isResource: isSubscription,
  })

  function deleteTopic(topic: NamespaceTopic): void {
    subscriptions.of(topic.id).forEach(subscriptions.delete)
    topics.delete(topic)
  }

  return {
    namespace: (name) => namespaces.all().find((one) => one.name.toLowerCase() === name.toLowerCase()),
    namespaceById: namespaces.get,
    namespaces: namespaces.all,
    putNamespace: namespaces.put,
    lead(ids) {
      namespaces.lead(ids)
      topics.lead(ids)
    },
    deleteNamespace(namespace) {
      topics.of(namespace.id).forEach(deleteTopic)
      namespaces.delete(namespace)
    },
    topic: topics.get,
    topics: topics.of,
    putTopic: topics.put,
    deleteTopic,
    subscription: subscriptions.get,
    subscriptions: subscriptions.of,
    putSubscription: subscriptions.put,
    deleteSubscription: subscriptions.delete,
  }
}

function isNamespace(value: unknown): value is Namespace {
  return isRecord(value) && typeof value.id === 'string' && isRecord(value.shown)
}

function isTopic(value: unknown): value is NamespaceTopic {
  return isRecord(value) && typeof value.id === 'string' && typeof value.namespaceId === 'string'
}

function isSubscription(value: unknown): value is QueueSubscription {
  return isRecord(value) && typeof value.id === 'string' && typeof value.topicId === 'string'
}
