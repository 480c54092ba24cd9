// Storage of namespaces, their topics and Queue event subscriptions, with cascading deletion.
import { createCollection, noShelves, type Shelves } from './collection.ts'
import type { Namespace, NamespaceTopic } from './namespace.ts'
import type { QueueSubscription } from './queue-subscription.ts'

export type NamespaceStore = ReturnType<typeof createNamespaceStore>

/** Makes the store of the namespaces on these shelves. @param shelves @default in memory */
export function createNamespaceStore(shelves: Shelves = noShelves) {
  return {
    namespaces: createCollection(shelves<Namespace>('namespace')),
    /** Grouped by the ids of their namespaces. */
    topics: createCollection(shelves<NamespaceTopic>('namespace topic'), ({ namespaceId }) => namespaceId),
    /** Queue event subscriptions, grouped by the ids of their topics. */
    subscriptions: createCollection(shelves<QueueSubscription>('queue event subscription'), ({ topicId }) => topicId),
  }
}
