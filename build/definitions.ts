/** Compiles each `.proto` file of src to the JSON form beside it, which the program loads without reading the text again. */
import { globSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { compileDefinitions } from './compile-definitions.ts'

const root = resolve(import.meta.dirname, '..')
for (const file of globSync('src/**/*.proto', { cwd: root })) {
  writeFileSync(resolve(root, file.replace(/proto$/, 'json')), compileDefinitions(resolve(root, file)))
}
