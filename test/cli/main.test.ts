import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startCommand } from '../support/command.ts'

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
)

it.each(['--help', '-h'])('lists the commands and the exit codes by %s', async (option) => {
  const command = startCommand([option])
  expect(await command.ended).toBe(0)
  const text = command.lines.join('\n')
  expect(text).toContain('Usage: eventgrid-binding <command>')
  for (const name of ['serve', 'emulate', 'run']) expect(text).toMatch(new RegExp(`^  ${name} `, 'm'))
  expect(text).toContain('130 or 143 a second signal')
})

it.each(['--version', '-v'])('prints the version by %s', async (option) => {
  const command = startCommand([option])
  expect(await command.ended).toBe(0)
  expect(command.lines).toEqual([version])
})

it.each(['serve', 'emulate', 'run'])('prints the help of %s', async (name) => {
  const command = startCommand([name, '--help'])
  expect(await command.ended).toBe(0)
  expect(command.lines[0]).toContain(`Usage: eventgrid-binding ${name}`)
})

it.each([
  { name: 'no command', args: [], complaint: 'a command is missing' },
  { name: 'an unknown command', args: ['emulat'], complaint: 'there is no command "emulat"' },
  { name: 'a name that every object has', args: ['constructor'], complaint: 'there is no command "constructor"' },
  { name: 'an unknown option', args: ['emulate', '--bogus'], complaint: "Unknown option '--bogus'" },
  { name: 'an argument too many', args: ['emulate', 'it'], complaint: "Unexpected argument 'it'" },
  {
    name: 'an option without its value',
    args: ['emulate', '--config'],
    complaint: "'--config <value>' argument missing",
  },
  { name: 'a value for a switch', args: ['emulate', '--quiet=yes'], complaint: "'--quiet' does not take an argument" },
  { name: 'a port that is no number', args: ['emulate', '--port', 'http'], complaint: '--port takes a number from 0' },
  { name: 'a port out of range', args: ['emulate', '--http-port', '65536'], complaint: '--http-port takes a number' },
  {
    name: 'one port for both',
    args: ['emulate', '--port', '4431'],
    complaint: "https and http can't both have port 4431",
  },
])('refuses $name with exit code 2', async ({ args, complaint }) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain(complaint)
})
