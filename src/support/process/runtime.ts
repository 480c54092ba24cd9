/** What this process runs on: the version of Node, and the folder of our package. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The oldest supported version of Node: `engines.node` of package.json, which a test compares. */
export const oldestNode = '22.18'

/**
 * The error message for a Node that is too old; `undefined` for a supported one. Runs on old versions too.
 *
 * @param program the URL of the file that runs: npm can bring a Node to a package in `node_modules`, not to the bundle
 * @param name of the package, where the file is not in a `node_modules`
 */
export function complaintAboutNode(version: string, program: string, name: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split('.').map(Number)
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined
  const [, installed] = /\/node_modules\/([^/]+)\//.exec(program) ?? []
  const remedy = installed
    ? `npm install node@24 adds a newer one to your project, and npx ${installed} takes it; for your own files: npx node FILE`
    : 'start it with a newer one: PATH/TO/NEWER/node FILE'
  return `${installed ?? name} needs Node ${oldestNode} or newer; this is v${version}. ${remedy}`
}

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
