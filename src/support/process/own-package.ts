/** The folder of a package or bundle, and its version, from the nearest `package.json` with its name. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface OwnPackage {
  readonly folder: string
  readonly version: string
}

/**
 * The package that a file belongs to: its package.json is above the file, at a depth that differs in source, build and bundle.
 *
 * @param file URL of the file
 */
export function packageOf(file: string, name: string): OwnPackage {
  return lookFrom(dirname(fileURLToPath(file)), name)
}

function lookFrom(folder: string, name: string): OwnPackage {
  const manifest = readManifest(join(folder, 'package.json'))
  if (manifest?.name === name) return { folder, version: manifest.version }
  const above = dirname(folder)
  if (above === folder) throw new Error(`the package.json of ${name} is missing: install the package again`)
  return lookFrom(above, name)
}

function readManifest(file: string): { readonly name: string; readonly version: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
