/** `emulate --ready-file FILE`: what may be overwritten, writing it in one step for its owner alone, and removing it at the end. */
import { randomUUID } from 'node:crypto'
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readRegularBytesSync } from '../../../../src/support/files/regular-file.ts'
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { readJson } from '../../../../src/support/text/json-text.ts'

const maxBytes = 16 * 1024 * 1024

/** The members by which the file is known as that of an emulator. */
const ownMembers = ['http', 'https', 'ca', 'languages']

export interface ReadyFile {
  /** Writes what it holds as JSON. Throws as Node does. */
  write(environment: object): void
  /** Removes it, unless another emulator wrote it meanwhile. Never throws. */
  remove(): void
}

/**
 * Takes a file for that. One that a killed emulator left there is removed at once, so that nobody reads it before this one is ready. Throws
 * an Error for a file that holds something else: its user may have named one that is dear to him.
 */
export function openReadyFile(file: string): ReadyFile {
  const present = contentOf(file)
  if (present !== undefined && !isOwn(present)) {
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

function isOwn(text: string): boolean {
  const value = text.trim() === '' ? {} : readJson(text)
  return isRecord(value) && (text.trim() === '' || ownMembers.every((name) => Object.hasOwn(value, name)))
}
