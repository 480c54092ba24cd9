import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const target = join(import.meta.dirname, '..', '.cache', 'bench', 'js')

/** Where a program of the benchmark stands without its types, as {@link stripTypes} has written it. */
export const programFile = (path: string) => join(target, `${path}.js`)

/** Writes the programs as plain JavaScript: Node would need time and memory of the process under test to do it at their start. */
export function stripTypes(): void {
  rmSync(target, { recursive: true, force: true })
  for (const file of globSync(['*.ts', 'servers/*.ts', 'load/*.ts'], { cwd: import.meta.dirname })) {
    const code = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, file), 'utf8'), { mode: 'strip' })
    const path = programFile(file.slice(0, -'.ts'.length))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, code.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"))
  }
}
