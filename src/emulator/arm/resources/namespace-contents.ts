// What holds namespaces and the queues of their event subscriptions; ARM types of the three levels.
import type { QueueSubscription } from '../../model/resources/namespace.ts'
import type { NamespaceStore } from '../../model/resources/namespace-store.ts'

/** The namespaces, and the queues of their event subscriptions. */
export interface NamespaceContents {
  readonly namespaces: NamespaceStore
  /** Follows each event subscription that is stored or deleted. */
  readonly queues: {
    subscriptionChanged(subscription: QueueSubscription): void
    subscriptionDeleted(subscriptionId: string): void
  }
}

/** The types of a namespace, its topics and their event subscriptions, without the provider. */
export const namespaceTypes = ['namespaces', 'namespaces/topics', 'namespaces/topics/eventSubscriptions'] as const
