import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import * as emulate from '../../../src/sidecar/cli/commands/emulate.ts'
import { createTerminal } from '../../../src/support/command-line/terminal.ts'
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
  expect(command.lines.filter((line) => line.length > 80)).toEqual([])
})

it('can be executed after each build, since npx links it once and for all', () => {
  expect(statSync(new URL('../../../dist/src/sidecar/cli/main.js', import.meta.url)).mode & 0o111).toBe(0o111)
})

const bin = fileURLToPath(new URL('../../../dist/src/sidecar/cli/main.js', import.meta.url))

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

it.each([
  [['emulate', '-h'], 'emulate'],
  [['help'], '<command>'],
  [['help', '--all'], '<command>'],
  [['help', 'run'], 'run'],
  [['--help', 'run'], 'run'],
  [['-h', 'run'], 'run'],
])('takes %j for --help', async (args, usage) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(0)
  expect(command.lines[0]).toContain(`Usage: eventgrid-binding ${usage}`)
})

const noCommand = (name: string) => `there is no command "${name}"`
const noOption = (name: string) => `Unknown option '${name}'`
it.each([
  ['a name that every object has', ['constructor'], '', noCommand('constructor')],
  ['a slip of a command', ['rnu'], '', `${noCommand('rnu')}; did you mean run?`],
  ['a command that help is asked for', ['help', 'all'], '', noCommand('all')],
  ['an unknown option', ['emulate', '--bogus'], ' emulate', noOption('--bogus')],
  ['an empty value', ['serve', '--sockets-folder', ''], ' serve', "Option '--sockets-folder' has an empty value"],
  ['a slip of run', ['run', '--componets', 'x'], ' run', `${noOption('--componets')}; did you mean --components?`],
  ['a slip of serve', ['serve', '--loglevel=x'], ' serve', `${noOption('--loglevel')}; did you mean --log-level?`],
  ['a missing option', ['replay'], ' replay', '--component is missing: the component that publishes the events'],
])('refuses %s with exit code 2, and says where the help is', async (_name, args, name, complaint) => {
  const command = startCommand(args)
  expect(await command.ended).toBe(2)
  expect(command.lines).toEqual([`eventgrid-binding${name}: ${complaint}`, `see: eventgrid-binding${name} --help`])
})

it('shows the help where no command is named, and says so last', async () => {
  const command = startCommand([])
  expect(await command.ended).toBe(2)
  expect(command.lines[0]).toContain('Usage: eventgrid-binding <command>')
  expect(command.lines.at(-1)).toBe('eventgrid-binding: a command is missing')
})

it.each([
  ['an argument too many', ['it'], "Unexpected argument 'it'"],
  ['an option without its value', ['--config'], "'--config <value>' argument missing"],
  ['a value for a switch', ['--quiet=yes'], "'--quiet' does not take an argument"],
  ['a port that is no number', ['--port', 'http'], '--port takes a number from 0 to 65535'],
  [
    'half an ingress',
    ['--ingress', 'https://a.example/'],
    '--ingress takes two URLs, like https://orders.example.com/=',
  ],
  [
    'an Azurite without an account',
    ['--storage', 'http://127.0.0.1:10000'],
    '--storage takes an account and the URL of Azurite',
  ],
  ['a port of an account', ['--storage', 'acc:4433=http://127.0.0.1:10000'], 'all accounts are at --blob-port'],
  ['an account twice', ['--storage', 'acc=http://x', '--storage', 'acc=http://y'], '--storage names acc twice'],
  ['a port out of range', ['--http-port', '65536'], '--http-port takes a number from 0'],
  ['one port for both', ['--port', '4431'], "two of https, http and blobs can't both have port 4431"],
])('refuses %s for emulate', async (_name, args, complaint) => {
  const running = emulate.run(args, createTerminal({ write: () => {} }))
  await expect(running).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(complaint) })
})
