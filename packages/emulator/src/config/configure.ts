// A configuration is applied whole or not at all: tried on a copy, written in one transaction, then carried out.
import { createDomainTopic } from '../arm/resources/resources.ts'
import { createDirectory, type Directory } from '../entra/directory.ts'
import { type EventSubscription, withInForce } from '../model/resources/event-subscription.ts'
import { createNamespaceStore, type NamespaceStore } from '../model/resources/namespace.ts'
import { randomKeys } from '../model/resources/resource.ts'
import { createStore, type Shelves, type Store } from '../model/resources/store.ts'
import type { PersistedChange, PersistedValues } from '../state/persisted-values.ts'
import { type DeclarationTargets, declare } from './declarations.ts'
import type { ResolvedOptions } from './options.ts'

/** What a configuration changes. */
export interface Configured extends Pick<DeclarationTargets, 'clock' | 'provisioning' | 'queues'> {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly directory: Directory
  readonly persisted: PersistedValues
  setIngress(ingress: ResolvedOptions['ingress']): void
}

/** What has to come out the same when a configuration is tried and when it is carried out. */
type Decided = Pick<DeclarationTargets, 'clock' | 'newKeys' | 'formerly' | 'alone'>

/**
 * Applies a configuration; `alone`: whether it leaves nothing else, such as what was made through ARM. Throws, and changes nothing, where a part of it is refused or the state file does not take it.
 */
export function configure(parts: Configured, options: ResolvedOptions, { alone = false } = {}): void {
  const { clock, persisted, directory } = parts
  const now = clock.now()
  const decided: Decided = {
    clock: { now: () => now },
    newKeys: remembered(randomKeys),
    alone,
    formerly: remembered((kind) => JSON.parse(persisted.get('declared', kind) ?? '[]')),
  }
  persisted.writeAhead(rehearse(parts, decided, options))
  if (alone) directory.forget()
  directory.declare(options)
  parts.setIngress(options.ingress)
  declare({ ...parts, ...decided, remember: (kind, names) => persisted.put('declared', kind, names) }, options)
}

/** Applies the options to a copy. Returns what that writes. Throws what applying them would throw. */
function rehearse(
  { store, namespaces, directory }: Configured,
  decided: Decided,
  options: ResolvedOptions,
): readonly PersistedChange[] {
  const changes: PersistedChange[] = []
  const copy = createStore(shelvesOf(store.shelved(), changes))
  const trial = createDirectory({ clients: directory.clients, subscriptions: directory.declaredSubscriptions }, copy)
  // What the copy itself wrote.
  changes.length = 0
  const put = (subscription: EventSubscription) =>
    copy.subscriptions.put(withInForce(subscription, copy.subscriptions.get(subscription.id)))
  if (decided.alone) trial.forget()
  trial.declare(options)
  const targets: DeclarationTargets = {
    ...decided,
    ...{ store: copy, directory: trial },
    namespaces: createNamespaceStore(shelvesOf(namespaces.shelved(), changes)),
    remember: (kind, value) => changes.push({ kind: 'declared', id: kind, value }),
    queues: { subscriptionChanged: () => {}, subscriptionDeleted: () => {} },
    provisioning: {
      write(subscription) {
        createDomainTopic(copy, subscription.scope)
        put(subscription)
      },
      remove: (subscription) => put({ ...subscription, provisioningState: 'Deleting' }),
    },
  }
  declare(targets, options)
  return changes
}

/** Shelves that hold a copy by kind, and note the changes. */
function shelvesOf(kinds: Readonly<Record<string, readonly unknown[]>>, changes: PersistedChange[]): Shelves {
  return <Resource>(kind: string) => {
    const put = (id: string, resource: Resource) => void changes.push({ kind, id, value: JSON.stringify(resource) })
    const remove = (id: string) => void changes.push({ kind, id, value: undefined })
    // The kind names the type of what is on the shelf: the store itself put it there.
    const all = () => (kinds[kind] ?? []) as readonly Resource[]
    return { all, put, delete: remove, putSoon: put, deleteSoon: remove }
  }
}

/** A function that makes each answer once. */
function remembered<Answer>(make: (id: string) => Answer): (id: string) => Answer {
  const known = new Map<string, { readonly answer: Answer }>()
  return (id) => {
    const found = known.get(id) ?? { answer: make(id) }
    known.set(id, found)
    return found.answer
  }
}
