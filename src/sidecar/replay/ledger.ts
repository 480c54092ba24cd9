// The ledger beside dead letters: which events of its folder were published, so that none is published again.
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const fileName = 'eventgrid-replay.ledger'

export const isLedger = (path: string) => basename(path) === fileName

/** Which events were published, by their keys. */
export interface Ledger {
  has(key: string): boolean
  /** Adds an event to the ledger of its folder, at once: a process that is killed later has it there. Throws as Node does. */
  add(folder: string, key: string, id: string): void
}

/**
 * Opens the ledgers of these folders; an event that one of them has counts as published for all. A line that broke off with its
 * process does not count. Throws as Node does for a ledger that can't be read, or written unless `readOnly`.
 */
export function openLedger(folders: Iterable<string>, { readOnly }: { readonly readOnly: boolean }): Ledger {
  const keys = new Set<string>()
  for (const folder of new Set(folders)) {
    const path = join(folder, fileName)
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    for (const line of text.split('\n')) {
      const key = /^[\w-]{43}(?= )/.exec(line)?.[0]
      if (key !== undefined) keys.add(key)
    }
    if (!readOnly) appendFileSync(path, text === '' || text.endsWith('\n') ? '' : '\n')
  }
  return {
    has: (key) => keys.has(key),
    add(folder, key, id) {
      keys.add(key)
      appendFileSync(join(folder, fileName), `${key} ${JSON.stringify(id)}\n`)
    },
  }
}
