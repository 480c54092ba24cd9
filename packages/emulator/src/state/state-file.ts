/** Which files are taken as the emulator's state: its own SQLite databases, checked row by row before anything is changed in them. */
import { closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { messageOf } from '../../../../src/support/process/error-code.ts'

/** A state file that can't be used, or not be written, and why. What it holds is not changed. */
export class EmulatorStateError extends Error {
  override readonly name = 'EmulatorStateError'
}

/** "EEGN" in the file's header marks our databases. */
const applicationId = 0x4545474e
const formatVersion = 2

/** Each row has a checksum of its other columns, so that what is read is what was written; of `event` the row's number aside. */
const tables = `
  CREATE TABLE kept (
    kind TEXT NOT NULL, id TEXT NOT NULL, value TEXT NOT NULL, sum INTEGER NOT NULL, PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE event (id INTEGER PRIMARY KEY, accepted_at REAL NOT NULL, body TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
  CREATE TABLE waiting (
    event INTEGER NOT NULL, subscription TEXT NOT NULL, state TEXT, sum INTEGER NOT NULL, PRIMARY KEY (event, subscription)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${formatVersion};
`

/** Finds a row that is not as it was written. */
const wrongRow = `
  SELECT 1 FROM kept WHERE sum <> checksum(kind, id, value)
  UNION ALL SELECT 1 FROM event WHERE sum <> checksum(accepted_at, body) OR id NOT IN (SELECT event FROM waiting)
  UNION ALL SELECT 1 FROM waiting WHERE sum <> checksum(event, subscription, state) OR event NOT IN (SELECT id FROM event)
`

export interface StateFile {
  readonly database: DatabaseSync
  /** Runs a write. Throws an {@link EmulatorStateError} where SQLite fails, and warns once when writing begins to fail. */
  run<T>(work: () => T): T
  /** Runs writes that are made all or not at all, in the same way. */
  transaction<T>(work: () => T): T
  /** Why the last write failed; undefined where it did not. */
  problem(): string | undefined
}

export interface StateFileOptions {
  /** Size in pages of 4 KiB, beyond which writing fails as on a full disk. @default that of SQLite, 16 TiB */
  readonly maxPages?: number
}

/**
 * Opens the emulator's database, or creates it, and locks it against other processes until it is closed. Throws an
 * {@link EmulatorStateError} for a file that can't be used, and leaves that as it is.
 */
export async function openStateFile(path: string, { maxPages }: StateFileOptions = {}): Promise<StateFile> {
  const file = resolve(path)
  // Loaded on demand: before Node 24 the module prints a warning when it loads.
  const { DatabaseSync: Database } = await import('node:sqlite')
  const open = (options: { readonly readOnly: boolean }) => {
    const database = new Database(file, options)
    const sumOf = (...values: unknown[]) => crc32(values.join('\u0000'))
    database.function('checksum', { deterministic: true, varargs: true }, sumOf)
    return database
  }
  return attempt(file, () => {
    const isNew = prepareFile(file)
    if (!isNew) {
      // By a read-only connection, so that a damaged file is not changed.
      const reader = open({ readOnly: true })
      try {
        check(file, reader)
      } finally {
        reader.close()
      }
    }
    const database = open({ readOnly: false })
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE')
      if (maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${maxPages}`)
      if (isNew) inTransaction(database, () => database.exec(tables))
      // A commit survives the end of the process at once, and a power failure soon after.
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000;')
      // The first write takes the exclusive lock and keeps it.
      database.exec('BEGIN IMMEDIATE; COMMIT;')
      const count = database.prepare('SELECT total_changes() AS changes')
      const writes = createWrites(file, () => Number(count.get()?.changes))
      return { database, ...writes, transaction: (work) => writes.run(() => inTransaction(database, work)) }
    } catch (error) {
      database.close()
      // The next start would refuse a file that was only begun.
      if (isNew) rmSync(file, { force: true })
      throw error
    }
  })
}

/**
 * Makes the file where there is none, for its owner only, since the file holds keys; returns whether it is new. Throws for a file of
 * others.
 */
function prepareFile(file: string): boolean {
  if (!existsSync(dirname(file))) mkdirSync(dirname(file), { recursive: true })
  const isNew = !existsSync(file)
  // Opening a named pipe waits for a writer, perhaps for ever.
  if (!isNew && !statSync(file).isFile()) {
    throw new EmulatorStateError(`${file} is not a regular file. Name another file.`)
  }
  const handle = openSync(file, isNew ? 'wx+' : 'r', 0o600)
  try {
    const bytes = Buffer.alloc(100)
    if (!isNew) checkHeader(file, bytes.subarray(0, readSync(handle, bytes)))
    return isNew
  } finally {
    closeSync(handle)
  }
}

/** Reads the header of a database (SQLite: fileformat2, 1.3). */
function checkHeader(file: string, header: Buffer): void {
  if (header.length === 0) {
    throw new EmulatorStateError(`${file} is empty. Remove it for a fresh start, restore a copy, or name another file.`)
  }
  const isDatabase = header.length === 100 && header.toString('latin1', 0, 16) === 'SQLite format 3\0'
  if (!isDatabase || header.readUInt32BE(68) !== applicationId) {
    throw new EmulatorStateError(
      `${file} is not a state file of the emulator. Name another file; this one is left alone.`,
    )
  }
  const version = header.readUInt32BE(60)
  if (version === formatVersion) return
  throw new EmulatorStateError(
    `${file} was written by another version of the emulator (format ${version}; this one reads ${formatVersion}). ` +
      'Use that version, or name another file.',
  )
}

/** Throws for a database that is not as the emulator wrote it. */
function check(file: string, reader: DatabaseSync): void {
  const [problem] = reader.prepare('PRAGMA quick_check(1)').all()
  if (problem?.quick_check !== 'ok') throw new EmulatorStateError(damaged(file))
  if (reader.prepare(`${wrongRow} LIMIT 1`).get()) {
    throw new EmulatorStateError(damaged(file, 'a row is not as it was written'))
  }
}

/**
 * The writes: what fails is told once, whoever wrote, until a write succeeds again.
 *
 * @param changes how many rows were changed so far. A write that changes none proves nothing
 */
function createWrites(file: string, changes: () => number): Pick<StateFile, 'run' | 'problem'> {
  let problem: string | undefined
  return {
    run(work) {
      const before = problem === undefined ? 0 : changes()
      try {
        const result = attempt(file, work)
        if (problem !== undefined && changes() > before) problem = undefined
        return result
      } catch (error) {
        const known = problem
        problem = messageOf(error)
        if (known === undefined) process.emitWarning(error instanceof Error ? error : problem)
        throw error
      }
    },
    problem: () => problem,
  }
}

function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // On a full disk SQLite itself ends the transaction.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

function attempt<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof EmulatorStateError || !(error instanceof Error)) throw error
    throw new EmulatorStateError(explain(file, error), { cause: error })
  }
}

/** Primary result codes (SQLite: rescode). The first one is that of a table or column that is not there. */
const wrongSql = 1
const busy = 5
const corrupt = 11
const full = 13
const noDatabase = 26

function explain(file: string, error: Error): string {
  // An error without a code of SQLite is one of the file system.
  if (!('errcode' in error)) return `${file} can't be opened: ${error.message}. Name another file.`
  switch (Number(error.errcode) & 0xff) {
    case busy:
      return `${file} is in use by another emulator. End that one, or name another file.`
    case full:
      return `${file} can't be written: the disk is full. Nothing was lost. Free some space, or name another file.`
    case wrongSql:
    case corrupt:
    case noDatabase:
      return damaged(file, error.message)
    default:
      return `${file} can't be read or written: ${error.message}. Check the disk, or name another file.`
  }
}

function damaged(file: string, detail?: string): string {
  return `${file} is damaged${detail === undefined ? '' : ` (${detail})`}. Name another file or restore a copy; this one is left alone.`
}
