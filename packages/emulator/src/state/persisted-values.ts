/** Which keys, secrets and resources are written when: at once, together ahead of a change, or later where the disk is full. */
import { messageOf } from '../../../../src/support/process/error-code.ts'
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

const keyOf = ({ kind, id }: PersistedChange) => `${kind}/${id}`

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
  /** What the file did not take, by kind and id. */
  const unwritten = new Map<string, PersistedChange>()
  let behind = ''

  const get = (kind: string, id: string) => one.get(kind, id)?.value?.toString()
  const isNew = ({ kind, id, value }: PersistedChange) => get(kind, id) !== value
  const execute = ({ kind, id, value }: PersistedChange) =>
    value === undefined ? remove.run(kind, id) : put.run({ kind, id, value })
  const written = (change: PersistedChange) => unwritten.delete(keyOf(change))

  /** What the file holds already needs no space. */
  function write(change: PersistedChange): void {
    if (isNew(change)) run(() => execute(change))
    written(change)
  }

  /** Writes what the file did not take before. */
  function catchUp(): void {
    try {
      for (const change of unwritten.values()) write(change)
    } catch (error) {
      // The warning was given. The rest stays in memory, and is written with a later change.
      behind = messageOf(error)
    }
  }

  function settle(change: PersistedChange, soon = false): void {
    if (frozen) return
    if (soon) unwritten.set(keyOf(change), change)
    else write(change)
    catchUp()
  }

  return {
    get,
    all: (kind: string) => all.all(kind).map(({ value }) => String(value)),
    put: (kind: string, id: string, value: string) => settle({ kind, id, value }),
    delete: (kind: string, id: string) => settle({ kind, id, value: undefined }),
    /** Writes or deletes a value now, or with a later change if the file does not take it now. Never throws. */
    settle: (kind: string, id: string, value?: string) => settle({ kind, id, value }, true),
    writeAhead(changes: readonly PersistedChange[]) {
      const last = frozen ? [] : [...new Map(changes.map((change) => [keyOf(change), change])).values()]
      const news = last.filter(isNew)
      if (news.length > 0) transaction(() => news.forEach(execute))
      last.forEach(written)
    },
    /** Why the file lacks changes; undefined where it lacks none. */
    problem: () => (unwritten.size > 0 ? behind : undefined),
    /** Ignores further changes. */
    freeze: () => {
      catchUp()
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
