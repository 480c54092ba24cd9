import { createMemoryStore, type Store } from '../model/store.ts'
import { createFileJournal } from './file-journal.ts'
import { type Journal, noJournal } from './journal.ts'
import { createKeptStore } from './kept-store.ts'
import { createKeptValues, type KeptValues, valuesInMemory } from './kept-values.ts'
import { openStateFile } from './state-file.ts'

/** What an emulator remembers: in memory, or in a file that outlives it. */
export interface State {
  readonly store: Store
  readonly journal: Journal
  /** Keys, secrets, and what was declared. */
  readonly kept: KeptValues
  /** From here on changes are part of the emulator's end: an interrupted handshake, say, is to be found as it stood. */
  freeze(): void
  close(): void
}

/** Opens the state. @param file @default in memory. Throws an EmulatorStateError for a file that can't be used. */
export async function openState(file: string | undefined): Promise<State> {
  if (file === undefined) {
    return { store: createMemoryStore(), journal: noJournal, kept: valuesInMemory(), freeze: () => {}, close: () => {} }
  }
  const database = await openStateFile(file)
  const written = createKeptValues(database)
  const journal = createFileJournal(database)
  let frozen = false
  const kept: KeptValues = {
    ...written,
    put(kind, id, value) {
      if (!frozen) written.put(kind, id, value)
    },
    delete(kind, id) {
      if (!frozen) written.delete(kind, id)
    },
  }
  return {
    store: createKeptStore(kept),
    journal,
    kept,
    freeze: () => {
      frozen = true
    },
    close() {
      // The signing key is made in the background, and may be done only after a failed start.
      frozen = true
      journal.close()
      database.close()
    },
  }
}
