// Whether a new configuration can be applied: it is applied to a copy of what the emulator has, and what that throws is thrown.
import { createDomainTopic } from '../arm/resources/automatic-domain-topics.ts'
import { createDirectory, type Directory } from '../entra/directory.ts'
import type { Shelves } from '../model/resources/collection.ts'
import { createNamespaceStore, type NamespaceStore } from '../model/resources/namespace-store.ts'
import { createStore, type Store } from '../model/resources/store.ts'
import type { Clock } from '../model/time/clock.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import { createDeclarations } from './declarations.ts'
import type { ResolvedOptions } from './options.ts'

/** What a configuration changes. */
export interface Rehearsed {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly directory: Directory
  readonly persisted: PersistedValues
  readonly clock: Clock
}

/** Throws what applying the options would throw. Changes nothing. */
export function rehearse(
  { store, namespaces, directory, persisted, clock }: Rehearsed,
  options: ResolvedOptions,
): void {
  const copy = createStore(shelvesOf(store.shelved()))
  const trial = createDirectory({ clients: directory.clients, subscriptions: directory.declaredSubscriptions }, copy)
  trial.declare(options)
  createDeclarations({
    ...{ clock, store: copy, directory: trial },
    namespaces: createNamespaceStore(shelvesOf(namespaces.shelved())),
    persisted: { ...persisted, put: () => {} },
    queues: { subscriptionChanged: () => {}, subscriptionDeleted: () => {} },
    provisioning: {
      write(subscription) {
        createDomainTopic(copy, subscription.scope)
        copy.subscriptions.put(subscription)
      },
      remove: (subscription) => copy.subscriptions.delete(subscription),
    },
  }).declare(options)
}

/** Shelves that hold a copy by kind, and persist nothing. */
function shelvesOf(kinds: Readonly<Record<string, readonly unknown[]>>): Shelves {
  const nothing = { put: () => {}, delete: () => {}, putSoon: () => {}, deleteSoon: () => {} }
  // The kind names the type of what is on the shelf: the store itself put it there.
  return <Resource>(kind: string) => ({ ...nothing, all: () => (kinds[kind] ?? []) as readonly Resource[] })
}
