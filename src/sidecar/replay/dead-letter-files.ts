// The dead-letter files that paths lead to, oldest first as Azure names them, and the entries of one file.
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exactJson, parseJson } from '../../publisher/payload/exact-json.ts'
import { readRegularBytes } from '../../support/files/regular-file.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { isLedger } from './ledger.ts'

export interface DeadLetterFile {
  /** As the user named it, or found below a folder that he named. */
  readonly path: string
  /** Where its ledger is. */
  readonly folder: string
}

/** The hours and days in the names of blobs have no leading zeros. */
const byTime = new Intl.Collator('en', { numeric: true })

/**
 * The files of paths: each file once, and all `.json` files below a folder, hidden ones left out. Rejects as Node does where a
 * path can't be read. Links to folders are not followed, since they could lead in a circle.
 */
export async function findDeadLetterFiles(paths: readonly string[]): Promise<readonly DeadLetterFile[]> {
  const found = new Map<string, DeadLetterFile>()
  for (const given of paths) {
    for (const path of (await stat(given)).isDirectory() ? await filesBelow(given) : [given]) {
      // A link to nothing is listed when it is read.
      const real = await realpath(path).catch(() => path)
      if (!isLedger(real) && !found.has(real)) found.set(real, { path, folder: dirname(real) })
    }
  }
  return [...found.values()]
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => !entry.isDirectory() && /^[^.].*\.json$/i.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort(byTime.compare)
}

/** Larger ones must be split: a file is held in memory. */
const maxBytes = 256 * 1024 * 1024

/** The entries of a file: a JSON array of them, or one. Numbers keep all their digits. A text says why it can't be read. */
export async function readEntries(path: string): Promise<readonly unknown[] | string> {
  try {
    const bytes = await readRegularBytes(path, maxBytes)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value = exactJson(text, parseJson(text))
    return Array.isArray(value) ? value : [value]
  } catch (error) {
    if (error instanceof SyntaxError) return 'it is not valid JSON; was it downloaded to its end?'
    return error instanceof TypeError ? 'it is not UTF-8' : messageOf(error)
  }
}
