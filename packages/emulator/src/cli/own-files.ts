/** Which files of `--ca` and `--ready-file` are written: none with other content, and none of another emulator that runs. */
import { randomUUID, X509Certificate } from 'node:crypto'
import { existsSync, lstatSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { UsageError } from '../../../../src/support/command-line/options.ts'
import { readRegularBytesSync } from '../../../../src/support/files/regular-file.ts'
import { messageOf } from '../../../../src/support/process/error-code.ts'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'
import type { EventGridEmulator } from '../index.ts'

const maxBytes = 16 * 1024 * 1024

/**
 * Does what an option asks with its file. Throws a UsageError that names the option. @param advice the end of its message. @default none
 */
function forOption<T>(option: string, work: () => T, advice = ''): T {
  try {
    return work()
  } catch (error) {
    throw new UsageError(`${option}: ${messageOf(error)}${advice}`, { cause: error })
  }
}

const another = '; name another file'

/**
 * Writes the certificate authority as PEM and as PKCS#12: into the files of `--ca`, else into a temporary folder. Returns what removes
 * that.
 */
export function writeAuthority(emulator: EventGridEmulator, wanted: readonly string[]): () => void {
  const folder = forOption('--ca', () => mkdtempSync(join(tmpdir(), 'eventgrid-emulator-')), another)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const fileOf = (isStore: boolean, name: string) =>
    resolve(wanted.find((file) => isStoreFile(file) === isStore) ?? join(folder, name))
  const [caFile, pkcs12File] = [fileOf(false, 'ca.pem'), fileOf(true, 'ca.p12')]
  Object.assign(emulator, { caFile, pkcs12File })
  try {
    forOption('--ca', () => writeAuthorityFile(caFile, emulator.ca), another)
    forOption('--ca', () => writeStoreFile(pkcs12File, Buffer.from(emulator.environment().pkcs12, 'base64')), another)
    return remove
  } catch (error) {
    remove()
    throw error
  }
}

/**
 * Keeps the file of an option for this process until the function that it resolves with is called, or the process ends: by an empty SQLite
 * file beside it, which is locked. Where none can be made there, nothing is kept. Rejects where another emulator keeps the file.
 */
export async function keepFile(option: string, file: string): Promise<() => void> {
  // Loaded on demand: before Node 24 the module prints a warning when it loads.
  const { DatabaseSync } = await import('node:sqlite')
  const lock = `${targetOf(resolve(file))}.lock`
  try {
    const database = new DatabaseSync(lock)
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return () => {
      rmSync(lock, { force: true })
      database.close()
    }
  } catch (error) {
    if (!isBusy(error)) return () => {}
    throw new UsageError(
      `${option}: ${resolve(file)} is in use by another emulator. End that one, or name another file`,
    )
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
 * Writes a certificate (PEM) into a file. Other commands read the file of their `--ca`, so a user may name a file that must stay: only
 * an empty file and a certificate of the same subject are overwritten. Throws an Error for any other file, and as Node does.
 */
export const writeAuthorityFile = (file: string, certificate: string): void =>
  overwrite(file, certificate, (present) => isAuthority(present.toString(), certificate))

/** Whether a file of `--ca` is to be a PKCS#12 store, by its name. */
const isStoreFile = (file: string): boolean => /\.(p12|pfx)$/i.test(file)

/** The same for a PKCS#12 store. */
const writeStoreFile = (file: string, store: Buffer): void =>
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

/** The file of `--ready-file`. */
export interface ReadyFile {
  /** Writes the environment as JSON, for its owner alone, and in one step. Throws a UsageError. */
  write(environment: object): void
  /** Removes the file, unless somebody else wrote it meanwhile. Never throws. */
  remove(): void
}

/**
 * Takes a file for that; without a file nothing is written. What a killed emulator left there is removed at once, so that nobody reads it
 * before this one is ready. Throws a UsageError for a file that holds something else: the user may have named it by mistake.
 */
export function openReadyFile(wanted: string | undefined): ReadyFile {
  if (wanted === undefined) return { write() {}, remove() {} }
  const file = resolve(wanted)
  forOption('--ready-file', () => clear(file), another)
  let written: string | undefined
  const remove = () => {
    try {
      if (written !== undefined && contentOf(file) === written) rmSync(file, { force: true })
    } catch {
      // Whoever made it unreadable has it.
    }
  }
  return {
    write(environment) {
      const text = `${JSON.stringify(environment, null, 2)}\n`
      process.once('exit', remove)
      forOption('--ready-file', () => replace(file, text), another)
      written = text
    },
    remove,
  }
}

function clear(file: string): void {
  const present = contentOf(file)
  if (present !== undefined && !isReady(present)) {
    throw new Error(`${file} holds something else than what the emulator writes there, and is not overwritten`)
  }
  rmSync(file, { force: true })
}

function replace(file: string, text: string): void {
  const fresh = `${file}.${randomUUID()}.tmp`
  try {
    // It holds keys.
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 })
    renameSync(fresh, file)
  } finally {
    rmSync(fresh, { force: true })
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
