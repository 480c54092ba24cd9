/** Which files are read as components: each file that is named, and of a folder `.yaml`/`.yml`, not hidden, at most 1,000. */
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { readRegularFile } from '../../support/files/regular-file.ts'
import { codeOf } from '../../support/process/error-code.ts'

/** YAML files: their paths, and their texts or why they can't be read. */
export type FolderTexts = ReadonlyMap<string, string | Error>

const maxFiles = 1_000
const yamlName = /\.ya?ml$/i

/** Reads files and folders in their order, each file once however often it is named. `unreadable`: what leads nowhere, or can't be read. */
export async function readPaths(paths: readonly string[]) {
  const texts = new Map<string, string | Error>()
  const unreadable: { readonly path: string; readonly error: unknown }[] = []
  const seen = new Set<string>()
  for (const path of paths) {
    try {
      const isFolder = (await stat(path)).isDirectory()
      for (const file of isFolder ? await filesOf(path) : [path]) {
        if (seen.has(resolve(file))) continue
        seen.add(resolve(file))
        texts.set(file, await readOne(file))
      }
    } catch (error) {
      unreadable.push({ path, error })
    }
  }
  return { texts, unreadable }
}

/**
 * The YAML files of a folder, neither hidden ones nor those of folders in it, sorted by name. Among them is a folder with the
 * name of such a file, which can't be read: Docker makes one where the file to mount is missing.
 */
async function filesOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => yamlName.test(name) && !isHidden(name)).sort()
  if (names.length > maxFiles) throw new Error(`${folder} holds over ${maxFiles} YAML files`)
  return names.map((name) => join(folder, name))
}

async function readOne(file: string): Promise<string | Error> {
  try {
    return await readRegularFile(file)
  } catch (error) {
    if (codeOf(error) === 'EISDIR') return new Error('it is a folder, not a file', { cause: error })
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** The files in these folders that {@link readPaths} does not read, for their names; hidden ones are left out. */
export async function otherFiles(paths: readonly string[]): Promise<readonly string[]> {
  const all = await Promise.all(paths.map(unreadFilesOf))
  const named = new Set(paths.map((path) => resolve(path)))
  return all.flat().filter((file) => !named.has(resolve(file)))
}

async function unreadFilesOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const unread = entries.filter((one) => !one.isDirectory() && !isHidden(one.name) && !yamlName.test(one.name))
  return unread.map(({ name }) => join(folder, name)).sort()
}

/** Editors keep copies and locks under such names. */
const isHidden = (name: string) => name.startsWith('.')
