import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startCommand } from '../../../support/command.ts'

it.each([
  { args: ['schema'], file: 'component.schema.json' },
  { args: ['schema', 'component'], file: 'component.schema.json' },
  { args: ['schema', 'emulator'], file: 'emulator.schema.json' },
  { args: ['schema', 'check'], file: 'check.schema.json' },
])('prints by $args what the package holds as $file', async ({ args, file }) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(0)
  const packed = readFileSync(new URL(import.meta.resolve(`eventgrid-binding/${file}`)), 'utf8')
  expect(`${command.lines.join('\n')}\n`).toBe(packed)
})

it('ends with 2 for another schema', async () => {
  const command = startCommand(['schema', 'components'])
  expect(await command.ended).toBe(2)
  expect(command.lines[0]).toBe('eventgrid-binding schema: schema takes component, emulator or check, not "components"')
})
