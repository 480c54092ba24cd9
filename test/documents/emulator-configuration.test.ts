import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseConfig } from '../../packages/emulator/src/config/config.ts'
import { blocks, readPage } from './page.ts'

/** A file of Docker Compose has the configuration inside. */
function configurationIn(yaml: string): string {
  const inside = composeFile.safeParse(parse(yaml))
  return inside.success ? inside.data.configs.emulator.content : yaml
}
const composeFile = z.object({ configs: z.object({ emulator: z.object({ content: z.string() }) }) })

const shownConfigurations = [
  'packages/emulator/docs/emulator.md',
  'packages/emulator/docs/emulator-migration.md',
  'packages/emulator/docs/containers.md',
]
  .flatMap((path) => blocks(readPage(path), 'yaml'))
  .map(({ value }) => configurationIn(value))
  .map((value) => ({ value, first: value.split('\n')[0] }))

it.each(shownConfigurations)('the configuration in the pages is valid: $first', ({ value }) => {
  const readFile = () => ''
  expect(() => parseConfig(value, { file: 'emulator.yaml', now: 0, excerptWidth: 120, readFile })).not.toThrow()
})
