// The ledger beside dead letters: which events of its folder were published, so that none is published again; one process has it.
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { codeOf, messageOf } from '../../support/process/error-code.ts'

const fileName = 'eventgrid-replay.ledger'
/** Beside it while a process publishes: which one, on which machine. */
const lockName = 'eventgrid-replay.lock'

export const isLedger = (path: string) => basename(path) === fileName || basename(path).startsWith(lockName)

/** Which events were published, by their keys. */
export type Ledger = ReturnType<typeof openLedger>

/**
 * Opens the ledgers of these folders; an event that one of them has counts as published for all. A line that broke off with its
 * process does not count. Throws as Node does for a ledger that can't be read, or written unless `readOnly`; and where another process
 * publishes from one of the folders.
 */
export function openLedger(folders: Iterable<string>, { readOnly }: { readonly readOnly: boolean }) {
  const keys = new Set<string>()
  const locks: string[] = []
  const close = () => {
    for (const lock of locks.splice(0)) rmSync(lock, { force: true })
  }
  try {
    for (const folder of new Set(folders)) {
      if (!readOnly) locks.push(takeLock(folder))
      const path = join(folder, fileName)
      const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
      for (const line of text.split('\n')) {
        const key = /^[\w-]{43}(?= )/.exec(line)?.[0]
        if (key !== undefined) keys.add(key)
      }
      if (!readOnly) appendFileSync(path, text === '' || text.endsWith('\n') ? '' : '\n')
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    has: (key: string) => keys.has(key),
    /** Adds an event to the ledger of its folder, at once: a process that is killed later has it there. Throws as Node does. */
    add(folder: string, key: string, id: string) {
      keys.add(key)
      try {
        appendFileSync(join(folder, fileName), `${key} ${JSON.stringify(id)}\n`)
      } catch (error) {
        const what = `the ledger of ${folder} can't be written: ${messageOf(error)}`
        throw new Error(`${what}; the events under way may be published again by the next replay`, { cause: error })
      }
    },
    /** Gives the ledgers free for other processes. */
    close,
  }
}

function takeLock(folder: string): string {
  const path = join(folder, lockName)
  const own = `${process.pid} ${hostname()}`
  if (createFile(path, own)) return path
  const refused = (what: string) =>
    new Error(`another replay ${what} ${folder}: wait until it ends, or remove ${path}* where none runs`)
  const before = readIfThere(path)
  if (before === undefined || isHeld(before)) throw refused('publishes from')
  // Who has made the successor may replace the lock, and nobody else. It may have been replaced before that.
  const successor = `${path}.next`
  if (!createFile(successor, own)) throw refused('begins with')
  if (readIfThere(path) !== before) {
    rmSync(successor)
    throw refused('publishes from')
  }
  renameSync(successor, path)
  return path
}

/** Whether it was not there, and is now. */
function createFile(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    // On a full disk the file is there, and empty.
    rmSync(path, { force: true })
    throw error
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Whether the process that wrote the lock may still run. A killed one leaves its lock; a container that starts again has its id. A lock
 * without a text is being written.
 */
function isHeld(lock: string): boolean {
  const [, pid, host] = /^(\d+) (.+)$/.exec(lock) ?? []
  if (host !== hostname()) return true
  if (Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
