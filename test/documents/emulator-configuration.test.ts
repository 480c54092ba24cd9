import { expect, it } from 'vitest'
import { parseConfig } from '../../packages/emulator/src/config/config.ts'
import { blocks, readPage } from './page.ts'

const shownConfigurations = ['packages/emulator/docs/emulator.md', 'packages/emulator/docs/emulator-migration.md']
  .flatMap((path) => blocks(readPage(path), 'yaml'))
  .map(({ value }) => ({
    value,
    first: value.split('\n')[0],
  }))

it.each(shownConfigurations)('the configuration in the pages is valid: $first', ({ value }) => {
  const readFile = () => ''
  expect(() => parseConfig(value, { file: 'emulator.yaml', now: 0, excerptWidth: 120, readFile })).not.toThrow()
})
