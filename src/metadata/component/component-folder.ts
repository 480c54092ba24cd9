/** Which files are read as components: each file that is named, and of a folder `.yaml`/`.yml`, not hidden. */
import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { wholeFile } from '../../core/component.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { readRegularFile } from '../../support/files/regular-file.ts'
import { codeOf, messageOf } from '../../support/process/error-code.ts'

/** YAML files: their paths, and their texts or why they can't be read. */
export type FolderTexts = ReadonlyMap<string, string | Error>

const yamlName = /\.ya?ml$/i

/** What was found at the paths. */
export interface PathsRead {
  readonly texts: FolderTexts
  /** The paths that lead nowhere, or can't be read. */
  readonly issues: readonly MetadataIssue[]
  /** A text for what has the name of a YAML file in a folder, and is left out. */
  readonly notes: readonly string[]
}

/** Reads files and folders in their order, each file once however often it is named. */
export async function readPaths(paths: readonly string[]): Promise<PathsRead> {
  const texts = new Map<string, string | Error>()
  const issues: MetadataIssue[] = []
  const notes: string[] = []
  const seen = new Set<string>()
  for (const path of paths) {
    try {
      const isFolder = (await stat(path)).isDirectory()
      for (const file of isFolder ? await filesOf(path) : [path]) {
        if (seen.has(resolve(file))) continue
        seen.add(resolve(file))
        const text = await readOne(file)
        const leftOut = isFolder && text instanceof Error ? noFile[codeOf(text) ?? ''] : undefined
        if (leftOut === undefined) texts.set(file, text)
        else notes.push(`${file} is ${leftOut}: left out`)
      }
    } catch (error) {
      issues.push(unreadablePath(path, error))
    }
  }
  return { texts, issues, notes }
}

/**
 * What a folder lists and no file is, by the code of the error. Files vanish between listing and reading: Kubernetes swaps the folder
 * behind the links of a mounted config map. Docker makes a folder where the file to mount is missing.
 */
const noFile: Readonly<Record<string, string>> = { ENOENT: 'gone, or a link that leads nowhere', EISDIR: 'a folder' }

/** The fault of a file or folder that can't be read. */
export function unreadablePath(path: string, error: unknown): MetadataIssue {
  const fix = codeOf(error) === 'ENOENT' ? { fix: 'make it, or correct the path' } : {}
  return { kind: 'unreadable', rule: `can't be read: ${messageOf(error)}`, at: wholeFile(path), ...fix }
}

/** The YAML files of a folder, neither hidden ones (of editors) nor those of folders in it, sorted by name. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => yamlName.test(name) && !name.startsWith('.')).sort()
  return names.map((name) => join(folder, name))
}

const readOne = (file: string): Promise<string | Error> =>
  readRegularFile(file).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
