import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../.cache/programs')

/**
 * Writes a TypeScript program as plain JavaScript, and returns its file. Run so, it imports `eventgrid-binding` as it is
 * built, and Node needs neither the
 * time nor the memory to strip types at its start. The program imports packages alone, no files beside it.
 */
export function builtProgram(file: string): string {
  mkdirSync(folder, { recursive: true })
  const built = join(folder, `${basename(file, '.ts')}.js`)
  writeFileSync(built, stripTypeScriptTypes(readFileSync(file, 'utf8'), { mode: 'strip' }))
  return built
}
