/** The folder of this package or bundle, and its version, from the nearest `package.json` with its name. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Found {
  readonly folder: string
  readonly version: string
}

let found: Found | undefined

/** The version of this package, from its package.json. */
export const packageVersion = (): string => ownPackage().version

/** The folder with the package.json of this package: it is above this file, at a depth that differs in source, build and bundle. */
export const packageFolder = (): string => ownPackage().folder

function ownPackage(): Found {
  found ??= lookFrom(dirname(fileURLToPath(import.meta.url)))
  return found
}

function lookFrom(folder: string): Found {
  const manifest = readManifest(join(folder, 'package.json'))
  if (manifest?.name === 'eventgrid-binding') return { folder, version: manifest.version }
  const above = dirname(folder)
  if (above === folder) throw new Error('the package.json of eventgrid-binding is missing: install the package again')
  return lookFrom(above)
}

function readManifest(file: string): { readonly name: string; readonly version: string } | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
