import { isRecord } from '../../support/is-record.ts'
import { createCollection, noShelves, type Shelves } from './collection.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from './namespace.ts'

export type NamespaceStore = ReturnType<typeof createNamespaceStore>

/** Makes the store of the namespaces on these shelves. @param shelves @default in memory */
export function createNamespaceStore(shelves: Shelves = noShelves) {
  const keyOf = ({ id }: { readonly id: string }) => id
  return {
    namespaces: createCollection({ keyOf, shelf: shelves('namespace'), isResource: isNamespace }),
    /** Grouped by the ids of their namespaces. */
    topics: createCollection({
      keyOf,
      groupOf: ({ namespaceId }) => namespaceId,
      shelf: shelves('namespace topic'),
      isResource: isTopic,
    }),
    /** Queue event subscriptions, grouped by the ids of their topics. */
    subscriptions: createCollection({
      keyOf,
      groupOf: ({ topicId }) => topicId,
      shelf: shelves('queue event subscription'),
      isResource: isSubscription,
    }),
  }
}

/** The namespace of a name, which is unique in the emulator. */
export function namespaceNamed({ namespaces }: NamespaceStore, name: string): Namespace | undefined {
  return namespaces.all().find((one) => one.name.toLowerCase() === name.toLowerCase())
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
