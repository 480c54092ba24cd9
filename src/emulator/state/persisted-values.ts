// Keys, secrets and resources as texts, in memory or in the state file.
import { messageOf } from '../../support/process/error-code.ts'
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

/** A value that a state file did not take; without one it is to be deleted. */
interface Unwritten {
  readonly kind: string
  readonly id: string
  readonly value: string | undefined
}

/** Values in a state file; each is written at once. */
export function createPersistedValues({ database, run }: StateFile) {
  const one = database.prepare('SELECT value FROM kept WHERE kind = ? AND id = ?')
  const all = database.prepare('SELECT value FROM kept WHERE kind = ? ORDER BY id')
  const put = database.prepare('INSERT OR REPLACE INTO kept (kind, id, value) VALUES (?, ?, ?)')
  const remove = database.prepare('DELETE FROM kept WHERE kind = ? AND id = ?')
  let frozen = false
  /** By kind and id. */
  const unwritten = new Map<string, Unwritten>()
  let behind = ''

  function write(change: Unwritten): void {
    const { kind, id, value } = change
    run(() => (value === undefined ? remove.run(kind, id) : put.run(kind, id, value)))
    unwritten.delete(`${kind}/${id}`)
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

  function writeNow(change: Unwritten): void {
    if (frozen) return
    write(change)
    catchUp()
  }

  return {
    get: (kind: string, id: string) => one.get(kind, id)?.value?.toString(),
    all: (kind: string) => all.all(kind).map(({ value }) => String(value)),
    put: (kind: string, id: string, value: string) => writeNow({ kind, id, value }),
    delete: (kind: string, id: string) => writeNow({ kind, id, value: undefined }),
    /** Writes or deletes a value now, or with a later change if the file does not take it now. Never throws. */
    settle(kind: string, id: string, value?: string) {
      if (frozen) return
      unwritten.set(`${kind}/${id}`, { kind, id, value })
      catchUp()
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
