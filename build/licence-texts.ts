/** The licence texts of the packages whose modules are in the bundle, one after the other; equal texts stand once. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param modules files, as the bundler names them */
export function licenceTexts(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))
  const byText = new Map<string, string[]>()
  for (const folder of [...folders].sort()) {
    const { name, version, license, author } = manifestOf(folder)
    const text = textIn(folder) || `Licence as its package.json states it: ${license}, by ${author}`
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`])
  }
  return [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text}\n`).join(`\n${'-'.repeat(80)}\n\n`)
}

function manifestOf(folder: string): { name: string; version: string; license?: string; author?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** Licences, and the notices that Apache-2.0 asks to pass on; empty where the package brings none. */
const textIn = (folder: string): string =>
  readdirSync(folder)
    .filter((file) => /^(licen[sc]e|copying|notice)\b/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim())
    .join('\n\n')
