/** The ledger beside dead letters: which events of its folder were published, and where to; one process at a time has it. */
import { basename, join } from 'node:path'
import { appendToRegularFile, readRegularBytes } from '../../support/files/regular-file.ts'
import { lockHolder, type SharedLock, type SharedLockOptions, takeSharedLock } from '../../support/files/shared-lock.ts'
import { codeOf, messageOf } from '../../support/process/error-code.ts'

const fileName = 'eventgrid-replay.ledger'
/** A folder beside it while a process publishes. */
const lockName = 'eventgrid-replay.lock'

export const isLedger = (path: string) => basename(path) === fileName || basename(path).startsWith(lockName)

/** Which events were published to a target, by their keys. */
export type Ledger = Awaited<ReturnType<typeof openLedger>>

export interface LedgerOptions {
  /** Where events are published to: what other targets took does not count. */
  readonly target: string
  readonly readOnly: boolean
  /** Called where a process that holds a folder may have been killed: it is watched for some seconds. */
  readonly onWait?: (folder: string) => void
  readonly signal?: AbortSignal
  /**
   * The most events that one replay keeps in mind, with those of the ledgers: more do not fit into the heap of the image. @default 800_000
   */
  readonly maxEvents?: number
}

const header = 'Events that eventgrid-binding replay has published: the key, the target and the id of each.'
const maxBytes = 512 * 1024 ** 2
const maxIdLength = 200
const keyLength = 43
/** Longer than the name of a target. */
const maxRestBytes = 8 * 1024

/**
 * Opens the ledgers of these folders; an event that one of them has for the target counts as published for all. Rejects as Node does for
 * a ledger that can't be read, or written unless `readOnly`; and where another process publishes from one of the folders.
 */
export async function openLedger(folders: Iterable<string>, options: LedgerOptions) {
  const { target, readOnly, onWait = () => {}, signal, maxEvents = 800_000 } = options
  const keys = new Set<string>()
  const locks = new Map<string, SharedLock>()
  const holder = lockHolder()
  let linesWithoutTarget = 0
  const tooMany = () =>
    new Error(`these are more than ${maxEvents} events with those of the ledgers; give fewer folders at once`)
  const close = () => {
    for (const lock of locks.values()) lock.release()
    locks.clear()
  }
  try {
    // In one order: of two processes that start at once the first one has all.
    for (const folder of [...new Set(folders)].sort()) {
      if (!readOnly) locks.set(folder, await lockFolder(folder, { holder, signal, onWait: () => onWait(folder) }))
      const path = join(folder, fileName)
      const bytes = await readIfThere(path)
      for (const { key, rest } of linesOf(bytes ?? Buffer.alloc(0))) {
        if (rest.startsWith(`${target} `)) keys.add(key)
        else if (rest.startsWith('"')) linesWithoutTarget++
        if (keys.size > maxEvents) throw tooMany()
      }
      if (!readOnly) appendToRegularFile(path, bytes === undefined ? header : '')
    }
  } catch (error) {
    close()
    throw error
  }
  return {
    /** Lines that count for no target. */
    linesWithoutTarget,
    has: (key: string) => keys.has(key),
    /** Why so many events can't be kept in mind beside those of the ledgers. */
    refusalOf: (count: number) => (keys.size + count > maxEvents ? tooMany() : undefined),
    /** Why nothing more may be published from a folder: another process took this one for dead, and may publish from it by now. */
    lossOf(folder: string): Error | undefined {
      if (locks.get(folder)?.lost !== true) return undefined
      const fix = 'let that one end, and start again'
      return new Error(`another replay has taken over ${folder}, as this one was suspended for some seconds; ${fix}`)
    },
    /** Adds an event to the ledger of its folder, at once: a process that is killed later has it there. Throws as Node does. */
    add(folder: string, key: string, id: string) {
      try {
        // The line before may have broken off with its process, or on a full disk.
        appendToRegularFile(join(folder, fileName), `\n${key} ${target} ${JSON.stringify(id.slice(0, maxIdLength))}`)
      } catch (error) {
        throw new Error(`the ledger of ${folder} can't be written: ${messageOf(error)}`, { cause: error })
      }
    },
    /** Gives the ledgers free for other processes. */
    close,
  }
}

async function lockFolder(folder: string, options: SharedLockOptions): Promise<SharedLock> {
  const path = join(folder, lockName)
  const lock = await takeSharedLock(path, options)
  if (lock === 'busy') throw new Error(`another replay publishes from ${folder}: wait until it ends, or end it`)
  if (lock === 'noFolder') throw new Error(`${path} is not a folder; remove it where no other replay runs`)
  return lock
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularBytes(path, maxBytes)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The key of each line, and the beginning of what follows it: a target, and behind a space the id; in lines of version 0.2.0, which
 * do not say where to, the id alone. A line that broke off behind its target is as good as a whole one.
 */
function* linesOf(bytes: Buffer): Generator<{ readonly key: string; readonly rest: string }> {
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf('\n', at)
    const end = found === -1 ? bytes.length : found
    // The text as a whole may not fit into the heap.
    const key = bytes.toString('latin1', at, Math.min(end, at + keyLength))
    const rest = bytes.toString('latin1', at + keyLength + 1, Math.min(end, at + maxRestBytes))
    if (/^[\w-]{43}$/.test(key)) yield { key, rest }
    at = end + 1
  }
}
