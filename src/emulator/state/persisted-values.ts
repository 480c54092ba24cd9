import type { StateFile } from './state-file.ts'

/** Persisted texts, by kind and id. */
export interface PersistedValues {
  get(kind: string, id: string): string | undefined
  all(kind: string): readonly string[]
  put(kind: string, id: string, value: string): void
  delete(kind: string, id: string): void
}

/** Values in memory: they end with the process. */
export function valuesInMemory(): PersistedValues {
  const kinds = new Map<string, Map<string, string>>()
  return {
    get: (kind, id) => kinds.get(kind)?.get(id),
    all: (kind) => [...(kinds.get(kind)?.values() ?? [])],
    put: (kind, id, value) => void kinds.set(kind, (kinds.get(kind) ?? new Map()).set(id, value)),
    delete: (kind, id) => void kinds.get(kind)?.delete(id),
  }
}

/** Values in a state file; each is written at once. */
export function createPersistedValues({ database, run }: StateFile): PersistedValues {
  const one = database.prepare('SELECT value FROM kept WHERE kind = ? AND id = ?')
  const all = database.prepare('SELECT value FROM kept WHERE kind = ? ORDER BY id')
  const put = database.prepare('INSERT OR REPLACE INTO kept (kind, id, value) VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM kept WHERE kind = ? AND id = ?')
  return {
    get: (kind, id) => textOf(one.get(kind, id)),
    all: (kind) => all.all(kind).flatMap((row) => textOf(row) ?? []),
    put: (kind, id, value) => void run(() => put.run(kind, id, value)),
    delete: (kind, id) => void run(() => remove.run(kind, id)),
  }
}

function textOf(row: Record<string, unknown> | undefined): string | undefined {
  return typeof row?.value === 'string' ? row.value : undefined
}

/** The persisted value, or a new one, which is persisted. */
export function persistedOr(persisted: PersistedValues, kind: string, id: string, make: () => string): string {
  const known = persisted.get(kind, id)
  if (known !== undefined) return known
  const made = make()
  persisted.put(kind, id, made)
  return made
}
