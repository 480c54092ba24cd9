/** The ledger of a folder of dead letters, an SQLite file that one process has at a time: which events were published, and where to. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { codeOf, messageOf } from '../../support/process/error-code.ts'

const fileName = 'eventgrid-replay.db'
/** SQLite's own files beside the ledger. */
const besides = ['', '-journal', '-wal', '-shm']
/** The ledger of version 0.2.0 and before: a line for each event that was published. */
const formerName = 'eventgrid-replay.ledger'
/** The folder that was the lock of those versions. */
const formerLock = 'eventgrid-replay.lock'

/** Whether a file or folder belongs to a ledger, so that it is no dead letter. */
export const isLedger = (path: string) =>
  [fileName, formerName, formerLock].some((name) => basename(path).startsWith(name))

const table = `CREATE TABLE event (
  target TEXT NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL, published INTEGER NOT NULL, PRIMARY KEY (target, key)
) STRICT, WITHOUT ROWID`

/** What names an event in a ledger. */
export interface LedgerEntry {
  /** SHA-256 as base64url; equal for two dead letters of one event. */
  readonly key: string
  readonly id: string
}

/** The ledger of one folder, for the events that are published to one target. */
export type Ledger = ReturnType<typeof openLedger>

const maxIdLength = 200

/**
 * Opens the ledger of a folder for writing, or makes it; a ledger of version 0.2.0 is taken over then. Throws an Error that names the
 * file: where another process has it, where it is a link or no file, where it can't be written, and where it is damaged.
 */
export function openLedger(folder: string, target: string) {
  const path = join(folder, fileName)
  const attempt = <T>(work: () => T): T => attemptOn(path, work)
  const database = attempt(() => openDatabase(path))
  try {
    attempt(() => {
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = NORMAL; BEGIN EXCLUSIVE')
      if (isFresh(database)) {
        database.exec(table)
        takeOver(folder, database)
      }
      database.exec('COMMIT')
    })
  } catch (error) {
    database.close()
    throw error
  }
  const find = database.prepare('SELECT published FROM event WHERE target = ? AND key = ?')
  const insert = database.prepare('INSERT INTO event VALUES (?, ?, ?, 0)')
  const publish = database.prepare('UPDATE event SET published = 1 WHERE target = ? AND key = ?')
  const remove = database.prepare('DELETE FROM event WHERE target = ? AND key = ?')
  const inTransaction = (work: () => void): void =>
    attempt(() => {
      database.exec('BEGIN')
      try {
        work()
        database.exec('COMMIT')
      } catch (error) {
        // On a full disk SQLite itself ends the transaction.
        if (database.isTransaction) database.exec('ROLLBACK')
        throw error
      }
    })
  return {
    /**
     * Enters events as under way. `published`: those that the ledger has already, which are not to be published. `again`: those that were
     * under way when a replay ended, and may have been published. Throws where the ledger can't be written.
     */
    begin<Entry extends LedgerEntry>(entries: readonly Entry[]) {
      const states = new Map<Entry, unknown>()
      inTransaction(() => {
        for (const entry of entries) {
          const key = bytesOf(entry)
          const row = find.get(target, key)
          states.set(entry, row?.published)
          if (!row) insert.run(target, key, entry.id.slice(0, maxIdLength))
        }
      })
      return {
        published: entries.filter((entry) => states.get(entry) === 1),
        again: entries.filter((entry) => states.get(entry) === 0),
      }
    },
    /** Enters what became of events under way. Events in neither list stay under way. Throws where the ledger can't be written. */
    settle({ published, refused }: Readonly<Record<'published' | 'refused', readonly LedgerEntry[]>>): void {
      inTransaction(() => {
        for (const entry of published) publish.run(target, bytesOf(entry))
        for (const entry of refused) remove.run(target, bytesOf(entry))
      })
    },
    /** Gives the ledger free for other processes. */
    close: () => database.close(),
  }
}

const bytesOf = ({ key }: LedgerEntry) => Buffer.from(key, 'base64url')

/**
 * Calls back with the key of each event of a folder that was published to a target. Writes nothing.
 */
export function readLedger(folder: string, target: string, found: (key: Uint8Array) => void): void {
  const path = join(folder, fileName)
  const isRead = attemptOn(path, () => {
    if (!isPlainFile(path)) return false
    const database = openDatabase(path)
    try {
      if (isFresh(database)) return false
      const [first] = database.prepare('PRAGMA quick_check(1)').all()
      if (first?.quick_check !== 'ok') throw new Error(`it is ${damaged}`)
      const rows = database.prepare('SELECT key FROM event WHERE target = ? AND published = 1').iterate(target)
      for (const { key } of rows) if (key instanceof Uint8Array) found(key)
      return true
    } finally {
      database.close()
    }
  })
  if (!isRead) readFormer(folder, (entry) => entry.target === target && found(entry.key))
}

/** Which events a replay has met, by their keys, in memory outside of the heap: about 30 MB for a million. */
export function createMetEvents(maxEvents: number) {
  const database = new (loadSqlite().DatabaseSync)(':memory:')
  database.exec('CREATE TABLE event (key BLOB PRIMARY KEY, met INTEGER NOT NULL) STRICT, WITHOUT ROWID; BEGIN')
  const find = database.prepare('SELECT met FROM event WHERE key = ?')
  const insert = database.prepare('INSERT OR IGNORE INTO event VALUES (?, ?)')
  const meet = database.prepare('UPDATE event SET met = 1 WHERE key = ?')
  let count = 0
  function add(key: Uint8Array, met: 0 | 1): void {
    count += Number(insert.run(short(key), met).changes)
    if (count > maxEvents) throw new Error(`these are more than ${maxEvents} events; give fewer folders at once`)
  }
  return {
    /** Adds an event that a ledger has as published. */
    addPublished: (key: Uint8Array) => add(key, 0),
    /** Whether an event is in a ledger, was met before, or is new. @throws Error for one event too many */
    meet(entry: LedgerEntry): 'known' | 'duplicates' | 'new' {
      const key = bytesOf(entry)
      const row = find.get(short(key))
      if (row?.met === 1) return 'duplicates'
      if (row) meet.run(short(key))
      else add(key, 1)
      return row ? 'known' : 'new'
    },
    close: () => database.close(),
  }
}

/** 128 bits are enough to tell events apart. */
const short = (key: Uint8Array) => key.subarray(0, 16)

/**
 * Opens the database. Another user who may write into the folder must not redirect our writes: neither the ledger nor SQLite's files beside
 * it may be a symbolic link or have a hard link. An existing file that is not a ledger is not changed.
 */
function openDatabase(path: string): DatabaseSync {
  const [isThere] = besides.map((ending) => isPlainFile(`${path}${ending}`))
  // Never through a link that came meanwhile.
  if (!isThere) closeSync(openSync(path, 'wx'))
  const database = new (loadSqlite().DatabaseSync)(path)
  try {
    database.exec('PRAGMA trusted_schema = OFF')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Whether a database is empty; throws an Error for one that is not a ledger. */
function isFresh(database: DatabaseSync): boolean {
  const [first, ...more] = database.prepare('SELECT sql FROM sqlite_schema').all()
  if (first && (first.sql !== table || more.length > 0)) throw new Error('it is not a ledger of this version of replay')
  return first === undefined
}

/** Enters what a former ledger has for any target. */
function takeOver(folder: string, database: DatabaseSync): void {
  const insert = database.prepare('INSERT OR IGNORE INTO event VALUES (?, ?, ?, 1)')
  readFormer(folder, ({ target, key, id }) => void insert.run(target, key, id))
}

interface FormerEntry {
  readonly target: string
  readonly key: Uint8Array
  readonly id: string
}

const formerBounds = { maxBytes: 1024 ** 3, maxLineBytes: 16 * 1024 } as const

/**
 * Reads a former ledger, where there is one: the key, the target and the id as JSON in each line. A line that broke off behind its target
 * is as good as a whole one. A line that names no target, as the first version of replay wrote it, says nothing.
 */
function readFormer(folder: string, entry: (entry: FormerEntry) => void): void {
  const path = join(folder, formerName)
  attemptOn(path, () => {
    if (!isPlainFile(path)) return
    for (const line of linesOfFile(path, formerBounds)) {
      const [, key = '', target = '', id = ''] = /^([\w-]{43}) ([^"\s]\S*) (.*)$/.exec(line) ?? []
      if (target !== '') entry({ target, key: Buffer.from(key, 'base64url'), id: id.slice(1, maxIdLength) })
    }
  })
}

/** A ledger that can't be used; the message names its file, and what to do. */
class LedgerError extends Error {
  override readonly name = 'LedgerError'
}

function attemptOn<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof LedgerError) throw cause
    throw new LedgerError(`the ledger ${path} can't be used: ${explain(cause)}`, { cause })
  }
}

const damaged = 'damaged; move it away, and its events are published again'

/** What is wrong and what to do, by the primary result code of SQLite (rescode). */
const words: Readonly<Record<number, string>> = {
  5: 'another replay publishes from its folder; wait until that one ends, or end it',
  11: `it is ${damaged}`,
  13: 'the disk is full; free some space, and start again',
  26: 'it is not a ledger; move it away',
}

function explain(error: unknown): string {
  const known = error instanceof Error && 'errcode' in error ? words[Number(error.errcode) & 0xff] : undefined
  if (known !== undefined) return known
  const fix = codeOf(error) === undefined ? '' : '; replay needs to write its ledger beside the files'
  return `${messageOf(error)}${fix}`
}

/** The module `node:sqlite`. Node 22 prints a warning when it loads the module, which tells a user of a program nothing to act on. */
export function loadSqlite() {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Fails for a link, and does not wait for a pipe. Windows has neither flag. */
const ownFlags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)
const chunkBytes = 64 * 1024

/**
 * Whether a file is there that nobody can have put in place of another one: throws an Error for a link, for a file with a second name (a
 * hard link), and for what is no regular file.
 */
function isPlainFile(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  if (!stats) return false
  if (stats.isSymbolicLink()) throw new Error('it is a link')
  if (stats.isDirectory()) throw new Error('it is a folder')
  if (!stats.isFile()) throw new Error('it is a pipe, a socket or a device, not a regular file')
  if (stats.nlink > 1) throw new Error('it has a second name (a hard link); remove that one, or copy the file')
  return true
}

/** The lines of a file, which is no link; longer ones are cut. Throws as Node does, and an Error for what is no regular file. */
function* linesOfFile(
  file: string,
  { maxBytes, maxLineBytes }: { readonly maxBytes: number; readonly maxLineBytes: number },
): Generator<string> {
  const descriptor = openSync(file, ownFlags)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > maxBytes) throw new Error('it is no file, or too large')
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let rest = ''
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer)) {
      const lines = (rest + buffer.toString('latin1', 0, read)).split('\n')
      rest = (lines.pop() ?? '').slice(0, maxLineBytes)
      for (const line of lines) yield Buffer.from(line, 'latin1').toString()
    }
    if (rest !== '') yield Buffer.from(rest, 'latin1').toString()
  } finally {
    closeSync(descriptor)
  }
}
