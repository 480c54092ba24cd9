/** Which files of `--ca` and `--ready-file` the emulator writes: none that is dear to its user, and none of another emulator that runs. */
import { randomUUID, X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readRegularBytesSync } from '../../../../src/support/files/regular-file.ts'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'

const maxBytes = 16 * 1024 * 1024

/**
 * Keeps a file for this process until the function that it resolves with is called, or the process ends: by an empty SQLite file beside it,
 * which is locked. Where none can be made there, nothing is kept. Rejects where another emulator keeps the file.
 */
export async function keepFile(file: string): Promise<() => void> {
  // Loaded on demand: before Node 24 the module prints a warning when it loads.
  const { DatabaseSync } = await import('node:sqlite')
  const lock = `${targetOf(file)}.lock`
  try {
    const database = new DatabaseSync(lock)
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return () => {
      rmSync(lock, { force: true })
      database.close()
    }
  } catch (error) {
    if (isBusy(error)) throw new Error(`${file} is in use by another emulator. End that one, or name another file`)
    return () => {}
  }
}

/** SQLITE_BUSY. */
const isBusy = (error: unknown) => isRecord(error) && Number(error.errcode) === 5

/** The file that a link leads to. */
function targetOf(file: string): string {
  if (existsSync(file)) return realpathSync(file)
  const folder = dirname(file)
  return existsSync(folder) ? join(realpathSync(folder), basename(file)) : file
}

/**
 * Writes a certificate (PEM) into a file. Other commands read the file of their `--ca`, so a user may name one that is dear to him: only
 * an empty file and a certificate of the same subject are overwritten. Throws an Error for any other file, and as Node does.
 */
export const writeAuthorityFile = (file: string, certificate: string): void =>
  overwrite(file, certificate, (present) => isAuthority(present.toString(), certificate))

/** Whether a file of `--ca` is to be a PKCS#12 store, by its name. */
export const isStoreFile = (file: string): boolean => /\.(p12|pfx)$/i.test(file)

/** The same for a PKCS#12 store. */
export const writeStoreFile = (file: string, store: Buffer): void =>
  overwrite(file, store, (present) => present.length === 0 || isStore(present, store))

/** The store of an emulator is short, and ends with the name under which Java finds the certificate. */
const isStore = (present: Buffer, store: Buffer): boolean =>
  present.length < 2 * store.length && present.subarray(-70).equals(store.subarray(-70))

/** @param isOwn whether what the file holds may be overwritten */
function overwrite(file: string, content: string | Buffer, isOwn: (present: Buffer) => boolean): void {
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined
  // Through a link the file itself is replaced, not the link.
  const target = isThere ? realpathSync(file) : file
  // Opening a named pipe waits for a reader, perhaps for ever.
  if (isThere && !statSync(target).isFile()) throw new Error(`${file} is not a regular file`)
  if (isThere && !isOwn(readRegularBytesSync(target, maxBytes))) {
    throw new Error(`${file} holds something else than the certificate of an emulator, and is not overwritten`)
  }
  const fresh = `${target}.${randomUUID()}.tmp`
  try {
    writeFileSync(fresh, content, { flag: 'wx' })
    renameSync(fresh, target)
  } catch (error) {
    if (existsSync(fresh)) rmSync(fresh)
    // A file that is mounted into a container, or whose folder is of another user, can be written but not replaced.
    if (!isThere) throw error
    writeFileSync(target, content)
  }
}

/** One certificate and nothing else: no bundle, and no key beside it. */
const onlyCertificate = /^-----BEGIN CERTIFICATE-----[A-Za-z\d+/=\s]+-----END CERTIFICATE-----$/

function isAuthority(text: string, certificate: string): boolean {
  const present = text.trim()
  if (present === '') return true
  if (!onlyCertificate.test(present)) return false
  try {
    return new X509Certificate(present).subject === new X509Certificate(certificate).subject
  } catch {
    return false
  }
}

/** The members by which a ready file is known as that of an emulator. */
const readyMembers = ['http', 'https', 'ca', 'languages']

export interface ReadyFile {
  /** Writes what it holds as JSON, for its owner alone, and in one step. Throws as Node does. */
  write(environment: object): void
  /** Removes it, unless somebody else wrote it meanwhile. Never throws. */
  remove(): void
}

/**
 * Takes a file for that. One that a killed emulator left there is removed at once, so that nobody reads it before this one is ready. Throws
 * an Error for a file that holds something else: its user may have named one that is dear to him.
 */
export function openReadyFile(file: string): ReadyFile {
  const present = contentOf(file)
  if (present !== undefined && !isReady(present)) {
    throw new Error(`${file} holds something else than what the emulator writes there, and is not overwritten`)
  }
  rmSync(file, { force: true })
  let written: string | undefined
  return {
    write(environment) {
      const text = `${JSON.stringify(environment, null, 2)}\n`
      const fresh = `${file}.${randomUUID()}.tmp`
      try {
        // It holds keys.
        writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
        renameSync(fresh, file)
      } finally {
        rmSync(fresh, { force: true })
      }
      written = text
    },
    remove() {
      try {
        if (written !== undefined && contentOf(file) === written) rmSync(file, { force: true })
      } catch {
        // Whoever made it unreadable has it.
      }
    },
  }
}

/** Undefined where there is no file. Throws an Error for what is no regular file. */
function contentOf(file: string): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  return readRegularBytesSync(file, maxBytes).toString()
}

function isReady(text: string): boolean {
  const value = text.trim() === '' ? {} : readJson(text)
  return isRecord(value) && (text.trim() === '' || readyMembers.every((name) => Object.hasOwn(value, name)))
}
