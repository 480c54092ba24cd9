/** Which keys, secrets and resources are written when: each at once, or together ahead of the change that they are of. */
import type { StateFile } from './state-file.ts'

/** Persisted texts, by kind and id. */
export interface PersistedValues {
  get(kind: string, id: string): string | undefined
  put(kind: string, id: string, value: string): void
  /** Writes changes ahead, all of them, or none and throws. Whoever makes them later writes nothing more to a file. */
  writeAhead(changes: readonly PersistedChange[]): void
}

/** Values in memory: they end with the process. */
export function valuesInMemory(): PersistedValues {
  const values = new Map<string, string>()
  return {
    get: (kind, id) => values.get(`${kind}/${id}`),
    put: (kind, id, value) => void values.set(`${kind}/${id}`, value),
    writeAhead: () => {},
  }
}

/** A value to be persisted; without one it is to be deleted. */
export interface PersistedChange {
  readonly kind: string
  readonly id: string
  readonly value: string | undefined
}

/** Values in a state file; each is written at once. */
export function createPersistedValues({ database, run, transaction }: StateFile) {
  const one = database.prepare('SELECT value FROM kept WHERE kind = ? AND id = ?')
  const all = database.prepare('SELECT value FROM kept WHERE kind = ? ORDER BY id')
  // By name: Node 22.18 does not bind numbered parameters.
  const put = database.prepare(
    'INSERT OR REPLACE INTO kept (kind, id, value, sum) VALUES ($kind, $id, $value, checksum($kind, $id, $value))',
  )
  const remove = database.prepare('DELETE FROM kept WHERE kind = ? AND id = ?')
  let frozen = false

  const get = (kind: string, id: string) => one.get(kind, id)?.value?.toString()
  /** What the file holds already needs no space. */
  const isNew = ({ kind, id, value }: PersistedChange) => !frozen && get(kind, id) !== value
  const execute = ({ kind, id, value }: PersistedChange) =>
    value === undefined ? remove.run(kind, id) : put.run({ kind, id, value })
  const write = (change: PersistedChange) => {
    if (isNew(change)) run(() => execute(change))
  }

  return {
    get,
    all: (kind: string) => all.all(kind).map(({ value }) => String(value)),
    put: (kind: string, id: string, value: string) => write({ kind, id, value }),
    delete: (kind: string, id: string) => write({ kind, id, value: undefined }),
    writeAhead(changes: readonly PersistedChange[]) {
      const last = new Map(changes.map((change) => [`${change.kind}/${change.id}`, change]))
      const news = [...last.values()].filter(isNew)
      if (news.length > 0) transaction(() => news.forEach(execute))
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
