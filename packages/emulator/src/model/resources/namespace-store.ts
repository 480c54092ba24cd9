// Storage of namespaces, their topics and Queue event subscriptions, with cascading deletion.
import { createCollection, noShelves, type Shelves } from './collection.ts'
import type { Namespace, NamespaceTopic } from './namespace.ts'
import type { QueueSubscription } from './queue-subscription.ts'

export type NamespaceStore = ReturnType<typeof createNamespaceStore>

/** Makes the store of the namespaces on these shelves. @param shelves @default in memory */
export function createNamespaceStore(shelves: Shelves = noShelves) {
  const namespaces = createCollection(shelves<Namespace>('namespace'))
  const topics = createCollection(shelves<NamespaceTopic>('namespace topic'), ({ namespaceId }) => namespaceId)
  const subscriptions = createCollection(
    shelves<QueueSubscription>('queue event subscription'),
    ({ topicId }) => topicId,
  )
  return {
    namespaces,
    /** Grouped by the ids of their namespaces. */
    topics,
    /** Queue event subscriptions, grouped by the ids of their topics. */
    subscriptions,
    /** All that it has, by the kinds of its shelves. */
    shelved: () => ({
      namespace: namespaces.all(),
      'namespace topic': topics.all(),
      'queue event subscription': subscriptions.all(),
    }),
  }
}
