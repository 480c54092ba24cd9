import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseConfig } from '../../src/emulator/config/config.ts'
import { blocks, readPage, root } from './page.ts'

const shownConfigurations = ['docs/emulator.md', 'docs/emulator-migration.md']
  .flatMap((path) => blocks(readPage(path), 'yaml'))
  .map(({ value }) => ({
    value,
    first: value.split('\n')[0],
  }))

it.each(shownConfigurations)('the configuration in the pages is valid: $first', ({ value }) => {
  const readFile = () => ''
  expect(() => parseConfig(value, { file: 'emulator.yaml', now: 0, excerptWidth: 120, readFile })).not.toThrow()
})

it('shows the example of a configuration as it is', () => {
  expect(shownConfigurations.map(({ value }) => `${value}\n`)).toContain(
    readFileSync(join(root, 'examples/emulator/emulator.yaml'), 'utf8'),
  )
})
