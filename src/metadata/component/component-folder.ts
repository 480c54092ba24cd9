// Which files of a components folder are read: `.yaml`/`.yml`, not hidden, at most 1,000.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegularFile } from '../../support/files/regular-file.ts'
import { codeOf } from '../../support/process/error-code.ts'

/** The YAML files of a folder: their paths, and their texts or why they can't be read. */
export type FolderTexts = ReadonlyMap<string, string | Error>

const maxFiles = 1_000
const yamlName = /\.ya?ml$/i

/**
 * Reads the YAML files of a folder, regular ones only, neither hidden ones nor those of folders in it, sorted by name. A folder with the
 * name of such a file can't be read: Docker makes one where the file to mount is missing. Rejects where the folder itself can't be read.
 */
export async function readFolder(folder: string): Promise<FolderTexts> {
  const names = (await readdir(folder)).filter((name) => yamlName.test(name) && !isHidden(name)).sort()
  if (names.length > maxFiles) throw new Error(`${folder} holds over ${maxFiles} YAML files`)
  const texts = new Map<string, string | Error>()
  for (const name of names) {
    const file = join(folder, name)
    try {
      texts.set(file, await readRegularFile(file))
    } catch (error) {
      const isFolder = codeOf(error) === 'EISDIR'
      if (isFolder) texts.set(file, new Error('it is a folder, not a file', { cause: error }))
      else texts.set(file, error instanceof Error ? error : new Error(String(error)))
    }
  }
  return texts
}

/** The names of files in a folder that {@link readFolder} does not read, for their names; hidden ones are left out. */
export async function otherFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  return names.filter((name) => !isHidden(name) && !yamlName.test(name)).sort()
}

/** Editors keep copies and locks under such names. */
const isHidden = (name: string) => name.startsWith('.')
