import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseConfig } from '../../src/emulator/config/config.ts'
import { namesAt } from '../../src/emulator/config/config-schema.ts'
import { blocks, codeIn, readPage, root, rowsOf, section, tables } from './page.ts'

/** Every field that a configuration may have: `topics[].name`. */
function* fields(path: readonly (string | number)[] = [], shown = ''): Generator<string> {
  for (const name of namesAt(path)) {
    const field = `${shown}${shown === '' ? '' : '.'}${name}`
    yield field
    yield* fields([...path, name], field)
    yield* fields([...path, name, 0], `${field}[]`)
  }
}

it('lists every field of the configuration', () => {
  const page = readPage('docs/emulator-facts.md')
  const rows = tables(section(page, 'Fields of the configuration file')).flatMap((table) => rowsOf(page, table))
  const names = rows.flatMap(([field = '']) => codeIn(field))
  const listed = rows.flatMap(([field = '', meaning = '']) => {
    const [name = ''] = codeIn(field)
    // A row may refer to the rows of a like field.
    const [, like] = /^has the fields of `(.+)`$/.exec(meaning) ?? []
    if (like === undefined) return [name]
    return names.filter((one) => one.startsWith(`${like}.`)).map((one) => name + one.slice(like.length))
  })
  expect(listed).toEqual([...fields()])
})

const shownConfigurations = blocks(readPage('docs/emulator.md'), 'yaml').map(({ value }) => ({
  value,
  first: value.split('\n')[0],
}))

it.each(shownConfigurations)('the configuration in docs/emulator.md is valid: $first', ({ value }) => {
  const readFile = () => ''
  expect(() => parseConfig(value, { file: 'emulator.yaml', now: 0, excerptWidth: 120, readFile })).not.toThrow()
})

it('shows the example of a configuration as it is', () => {
  expect(shownConfigurations.map(({ value }) => `${value}\n`)).toContain(
    readFileSync(join(root, 'examples/emulator/emulator.yaml'), 'utf8'),
  )
})
