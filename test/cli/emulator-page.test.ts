import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { namesAt } from '../../src/emulator/config/config-schema.ts'

const root = resolve(import.meta.dirname, '../..')
const textOf = (path: string) => readFileSync(resolve(root, path), 'utf8')
const section = textOf('docs/emulator-facts.md')

/** Every field that a configuration may have, as the page spells it. */
function* fields(path: readonly (string | number)[] = [], shown = ''): Generator<string> {
  for (const name of namesAt(path)) {
    const field = `${shown}${shown === '' ? '' : '.'}${name}`
    yield field
    yield* fields([...path, name], field)
    yield* fields([...path, name, 0], `${field}[]`)
  }
}

const firstCells = (table: string) => [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell)

it('lists every field of the configuration', () => {
  const table = section.slice(section.indexOf('\n| field |'), section.indexOf('\n## Members of'))
  expect(firstCells(table)).toEqual([...fields()])
})

it('shows the example as it is', () => {
  const [, shown] =
    /<!-- emulator\.yaml -->\n```yaml\n(.*?)```\n<!-- \/emulator\.yaml -->/s.exec(textOf('docs/emulator.md')) ?? []
  expect(shown).toBe(textOf('examples/emulator/emulator.yaml'))
})
