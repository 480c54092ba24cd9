import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import * as emulate from '../../../src/sidecar/cli/commands/emulate.ts'
import { createTerminal } from '../../../src/sidecar/cli/output/terminal.ts'
import { startCommand, startProcess } from '../../support/command.ts'

const { version }: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

it('lists the commands and the exit codes by --help', async () => {
  const command = startCommand(['--help'])
  expect(await command.ended).toBe(0)
  const text = command.lines.join('\n')
  expect(text).toContain('Usage: eventgrid-binding <command>')
  for (const name of ['serve', 'emulate', 'run', 'check', 'provision', 'replay', 'init', 'schema'])
    expect(text).toMatch(new RegExp(`^  ${name} `, 'm'))
  expect(text).toMatch(/130 or\s143 a second signal/)
})

it('can be executed after each build, since npx links it once and for all', () => {
  expect(statSync(new URL('../../../dist/sidecar/cli/main.js', import.meta.url)).mode & 0o111).toBe(0o111)
})

const bin = fileURLToPath(new URL('../../../dist/sidecar/cli/main.js', import.meta.url))

it('starts with a line that every env understands', () => {
  expect(readFileSync(bin, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
})

const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((path) => existsSync(path))
it.skipIf(busybox === undefined)('starts by the env of BusyBox, as on Alpine', async () => {
  const [, ...words] = readFileSync(bin, 'utf8').split('\n', 1)[0]?.split(' ') ?? []
  const command = startProcess(busybox ?? '', ['env', ...words, bin, '--version'])
  expect(await command.ended).toBe(0)
  expect(command.lines).toEqual([version])
})

it('prints the version by -v', async () => {
  const command = startCommand(['-v'])
  expect(await command.ended).toBe(0)
  expect(command.lines).toEqual([version])
})

it('prints the help of a command', async () => {
  const command = startCommand(['emulate', '-h'])
  expect(await command.ended).toBe(0)
  expect(command.lines[0]).toContain('Usage: eventgrid-binding emulate')
})

it.each([
  { args: ['help'], usage: 'Usage: eventgrid-binding <command>' },
  { args: ['help', '--all'], usage: 'Usage: eventgrid-binding <command>' },
  { args: ['help', 'run'], usage: 'Usage: eventgrid-binding run' },
  { args: ['--help', 'run'], usage: 'Usage: eventgrid-binding run' },
  { args: ['-h', 'run'], usage: 'Usage: eventgrid-binding run' },
])('takes $args for --help', async ({ args, usage }) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(0)
  expect(command.lines[0]).toContain(usage)
})

const noCommand = (name: string) => `eventgrid-binding: there is no command "${name}"`
it.each([
  { name: 'a name that every object has', args: ['constructor'], complaint: noCommand('constructor'), see: '' },
  { name: 'a slip of a command', args: ['rnu'], complaint: `${noCommand('rnu')}; did you mean run?`, see: '' },
  { name: 'a command that help is asked for', args: ['help', 'all'], complaint: noCommand('all'), see: '' },
  {
    name: 'an unknown option',
    args: ['emulate', '--bogus'],
    complaint: "eventgrid-binding emulate: Unknown option '--bogus'",
    see: 'emulate ',
  },
  {
    name: 'a variable that is not set',
    args: ['serve', '--sockets-folder', ''],
    complaint: "eventgrid-binding serve: Option '--sockets-folder' has an empty value",
    see: 'serve ',
  },
  {
    name: 'a slip of an option of run',
    args: ['run', '--componets', 'x'],
    complaint: "eventgrid-binding run: Unknown option '--componets'; did you mean --components?",
    see: 'run ',
  },
  {
    name: 'a slip of an option of serve',
    args: ['serve', '--loglevel=debug'],
    complaint: "eventgrid-binding serve: Unknown option '--loglevel'; did you mean --log-level?",
    see: 'serve ',
  },
  {
    name: 'an option that is missing',
    args: ['run'],
    complaint: 'eventgrid-binding run: --components is missing: the folder of the component YAML files',
    see: 'run ',
  },
])('refuses $name with exit code 2, and says where the help is', async ({ args, complaint, see }) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(2)
  expect(command.lines).toEqual([complaint, `see: eventgrid-binding ${see}--help`])
})

it('shows the help where no command is named, and says so last', async () => {
  const command = startCommand([])
  expect(await command.ended).toBe(2)
  expect(command.lines[0]).toContain('Usage: eventgrid-binding <command>')
  expect(command.lines.at(-1)).toBe('eventgrid-binding: a command is missing')
})

it.each([
  { name: 'an argument too many', args: ['it'], complaint: "Unexpected argument 'it'" },
  { name: 'an option without its value', args: ['--config'], complaint: "'--config <value>' argument missing" },
  { name: 'a value for a switch', args: ['--quiet=yes'], complaint: "'--quiet' does not take an argument" },
  { name: 'a port that is no number', args: ['--port', 'http'], complaint: '--port takes a number from 0 to 65535' },
  {
    name: 'an ingress without a target',
    args: ['--ingress', 'https://orders.example.com/'],
    complaint:
      '--ingress takes two URLs, like https://orders.example.com/=http://127.0.0.1:9000/, not "https://orders.ex',
  },
  { name: 'a port out of range', args: ['--http-port', '65536'], complaint: '--http-port takes a number from 0' },
  { name: 'one port for both', args: ['--port', '4431'], complaint: "https and http can't both have port 4431" },
])('refuses $name for emulate', async ({ args, complaint }) => {
  const running = emulate.run(args, createTerminal({ write: () => {} }))
  await expect(running).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(complaint) })
})
