/** The licence texts of the packages whose modules are in the bundle, one after the other; equal texts stand once. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param modules files, as the bundler names them */
export function licenceTexts(modules: readonly string[]): string {
  const folders = new Set(modules.flatMap((id) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []))
  const byText = new Map<string, string[]>()
  for (const folder of [...folders].sort()) {
    const { name, version, license } = manifestOf(folder)
    const text = textIn(folder) ?? `Licence as its package.json states it: ${license}`
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`])
  }
  return [...byText].map(([text, names]) => `${names.join('\n')}\n\n${text.trim()}\n`).join(`\n${'-'.repeat(80)}\n\n`)
}

function manifestOf(folder: string): { name: string; version: string; license?: string } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function textIn(folder: string): string | undefined {
  const [file] = globSync(['LICENSE*', 'LICENCE*', 'license*', 'licence*', 'COPYING*'], { cwd: folder })
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8')
}
