/** What stands at the emulator, by kind of resource; how a draft of it is made, and in what two states differ. */
import { deleteUnusedDomainTopic } from '../arm/resources/domain-topics.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import { createNamespaceStore, type NamespaceStore } from '../model/resources/namespace.ts'
import { createStore, noShelves, type Shelves, type Store } from '../model/resources/store.ts'

/** All resources, by the kinds of their shelves, each kind in the order in which it is listed. */
export type Standing = ReturnType<Store['shelved']> & ReturnType<NamespaceStore['shelved']>

export const standingOf = ({ store, namespaces }: Stores): Standing => ({
  ...store.shelved(),
  ...namespaces.shelved(),
})

interface Stores {
  readonly store: Store
  readonly namespaces: NamespaceStore
}

/** Where nothing stands yet. */
export const nothing = (): Standing => standingOf({ store: createStore(), namespaces: createNamespaceStore() })

/** Stores of what stands, which keep nothing. */
export function draftOf(standing: Standing) {
  const shelves: Shelves = <Resource>(kind: string) => ({
    ...noShelves<Resource>(kind),
    // The kind names the type of what is on the shelf: the store itself put it there.
    all: () => (kind in standing ? standing[kind as keyof Standing] : []) as readonly Resource[],
  })
  const store = createStore(shelves)
  const remove = (subscription: EventSubscription) => {
    store.subscriptions.delete(subscription)
    deleteUnusedDomainTopic(store, subscription.scope)
  }
  return { store, namespaces: createNamespaceStore(shelves), provisioning: { remove } }
}

/** What is stored and what is gone, from one state to another. */
function difference<R extends { readonly id: string }>(before: readonly R[], after: readonly R[]) {
  const [old, ids] = [new Set(before), new Set(after.map(({ id }) => id.toLowerCase()))]
  return { put: after.filter((one) => !old.has(one)), gone: before.filter(({ id }) => !ids.has(id.toLowerCase())) }
}

/** The same for each kind of resource. */
export const differences = (before: Standing, after: Standing) => ({
  resource: difference(before.resource, after.resource),
  'resource group': difference(before['resource group'], after['resource group']),
  'event subscription': difference(before['event subscription'], after['event subscription']),
  'role assignment': difference(before['role assignment'], after['role assignment']),
  namespace: difference(before.namespace, after.namespace),
  'namespace topic': difference(before['namespace topic'], after['namespace topic']),
  'queue event subscription': difference(before['queue event subscription'], after['queue event subscription']),
})
