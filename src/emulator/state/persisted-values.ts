// Keys, secrets and resources as texts, in memory or in the state file.
import type { StateFile } from './state-file.ts'

/** Persisted texts, by kind and id. */
export interface PersistedValues {
  get(kind: string, id: string): string | undefined
  put(kind: string, id: string, value: string): void
}

/** Values in memory: they end with the process. */
export function valuesInMemory(): PersistedValues {
  const values = new Map<string, string>()
  return {
    get: (kind, id) => values.get(`${kind}/${id}`),
    put: (kind, id, value) => void values.set(`${kind}/${id}`, value),
  }
}

/** Values in a state file; each is written at once. */
export function createPersistedValues({ database, run }: StateFile) {
  const one = database.prepare('SELECT value FROM kept WHERE kind = ? AND id = ?')
  const all = database.prepare('SELECT value FROM kept WHERE kind = ? ORDER BY id')
  const put = database.prepare('INSERT OR REPLACE INTO kept (kind, id, value) VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM kept WHERE kind = ? AND id = ?')
  let frozen = false
  return {
    get: (kind: string, id: string) => one.get(kind, id)?.value?.toString(),
    all: (kind: string) => all.all(kind).map(({ value }) => String(value)),
    put(kind: string, id: string, value: string) {
      if (!frozen) run(() => put.run(kind, id, value))
    },
    delete(kind: string, id: string) {
      if (!frozen) run(() => remove.run(kind, id))
    },
    /** Ignores further changes. */
    freeze: () => {
      frozen = true
    },
  }
}

/** The persisted value, or a new one, which is persisted. */
export function persistedOr(persisted: PersistedValues, kind: string, id: string, make: () => string): string {
  const known = persisted.get(kind, id)
  if (known !== undefined) return known
  const made = make()
  persisted.put(kind, id, made)
  return made
}
