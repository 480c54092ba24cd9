import { isRecord } from '../../support/is-record.ts'
import type { Namespace, NamespaceStore, NamespaceTopic, QueueSubscription } from '../model/namespace.ts'
import { createNamespaceStore } from '../model/namespace-store.ts'
import type { PersistedValues } from './persisted-values.ts'

const kinds = { namespace: 'namespace', topic: 'namespace topic', subscription: 'queue event subscription' } as const

/** A namespace store that begins with the persisted resources, and persists every change before it returns. */
export function createPersistedNamespaces(persisted: PersistedValues): NamespaceStore {
  const store = createNamespaceStore()
  for (const namespace of persisted.all(kinds.namespace).map(parsed).filter(isNamespace)) store.putNamespace(namespace)
  for (const topic of persisted.all(kinds.topic).map(parsed).filter(isTopic)) store.putTopic(topic)
  for (const one of persisted.all(kinds.subscription).map(parsed).filter(isSubscription)) store.putSubscription(one)
  const put = (kind: string, { id }: { readonly id: string }, value: unknown) =>
    persisted.put(kind, id.toLowerCase(), JSON.stringify(value))
  const remove = (kind: string, { id }: { readonly id: string }) => persisted.delete(kind, id.toLowerCase())

  function deleteTopic(topic: NamespaceTopic): void {
    for (const subscription of store.subscriptions(topic.id)) remove(kinds.subscription, subscription)
    remove(kinds.topic, topic)
    store.deleteTopic(topic)
  }

  return {
    ...store,
    putNamespace(namespace) {
      put(kinds.namespace, namespace, namespace)
      store.putNamespace(namespace)
    },
    deleteNamespace(namespace) {
      for (const topic of store.topics(namespace.id)) deleteTopic(topic)
      remove(kinds.namespace, namespace)
      store.deleteNamespace(namespace)
    },
    putTopic(topic) {
      put(kinds.topic, topic, topic)
      store.putTopic(topic)
    },
    deleteTopic,
    putSubscription(subscription) {
      put(kinds.subscription, subscription, subscription)
      store.putSubscription(subscription)
    },
    deleteSubscription(subscription) {
      remove(kinds.subscription, subscription)
      store.deleteSubscription(subscription)
    },
  }
}

function parsed(text: string): unknown {
  return JSON.parse(text)
}

// The file is our own and was found whole, so that telling the kinds apart is enough.
function isNamespace(value: unknown): value is Namespace {
  return isRecord(value) && typeof value.id === 'string' && isRecord(value.shown)
}

function isTopic(value: unknown): value is NamespaceTopic {
  return isRecord(value) && typeof value.id === 'string' && typeof value.namespaceId === 'string'
}

function isSubscription(value: unknown): value is QueueSubscription {
  return isRecord(value) && typeof value.id === 'string' && typeof value.topicId === 'string'
}
