/** Where the emulator's state is: in memory, or in a file that is opened, frozen before the end, and closed. */

import { createNamespaceStore, type NamespaceStore } from '../model/resources/namespace.ts'
import { createStore, type Shelves, type Store } from '../model/resources/store.ts'
import { createFileJournal, type Journal, noJournal } from './journal.ts'
import { createPersistedValues, type PersistedValues, valuesInMemory } from './persisted-values.ts'
import { openStateFile, type StateFileOptions } from './state-file.ts'

/** The state of an emulator, in memory or persisted in a file. */
export interface State {
  readonly store: Store
  readonly namespaces: NamespaceStore
  readonly journal: Journal
  /** Keys, secrets, and the names of declared topics and subscriptions. */
  readonly persisted: PersistedValues
  /** Why the last write of the file failed; undefined where the write did not fail. */
  problem(): string | undefined
  /** Ignores further changes: the end of the emulator interrupts handshakes, which the next start repeats. */
  freeze(): void
  close(): void
}

/** Opens the state. @param path @default in memory. Throws an EmulatorStateError for a file that can't be used. */
export async function openState(path: string | undefined, options?: StateFileOptions): Promise<State> {
  if (path === undefined) {
    return {
      store: createStore(),
      namespaces: createNamespaceStore(),
      journal: noJournal,
      persisted: valuesInMemory(),
      problem: () => undefined,
      freeze: () => {},
      close: () => {},
    }
  }
  const file = await openStateFile(path, options)
  const persisted = createPersistedValues(file)
  const journal = createFileJournal(file)
  const shelves: Shelves = (kind) => ({
    all: () => persisted.all(kind).map((text) => JSON.parse(text)),
    put: (key, resource) => persisted.put(kind, key, JSON.stringify(resource)),
    delete: (key) => persisted.delete(kind, key),
  })
  return {
    store: createStore(shelves),
    namespaces: createNamespaceStore(shelves),
    journal,
    persisted,
    problem: file.problem,
    freeze: persisted.freeze,
    close() {
      // The signing key is made in the background, perhaps until after a failed start.
      persisted.freeze()
      try {
        journal.close()
      } finally {
        file.database.close()
      }
    },
  }
}
