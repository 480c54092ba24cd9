/** The dead-letter files that paths lead to, oldest first as Azure names them: each file once, and only those of dead letters. */
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
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
  // A shell makes them of a star. The lock may go at any moment.
  for (const given of paths.filter((path) => !isLedger(path))) {
    for (const path of (await stat(given)).isDirectory() ? await filesBelow(given) : [given]) {
      // A link to nothing is listed when it is read.
      const real = await realpath(path).catch(() => path)
      if (!isLedger(real) && !found.has(real)) found.set(real, { path, folder: dirname(real) })
    }
  }
  return [...found.values()]
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const files = await listBelow(folder)
  return files.filter((path) => /^[^.].*\.json$/i.test(basename(path))).sort(byTime.compare)
}

async function listBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const lists = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() && !isLedger(path) ? listBelow(path) : [path]
    }),
  )
  return lists.flat()
}
