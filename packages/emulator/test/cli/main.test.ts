import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { startProgram } from '../support/program.ts'

const folder = resolve(import.meta.dirname, '../..')
const manifest: { version: string; bin: Record<string, string> } = JSON.parse(
  readFileSync(resolve(folder, 'package.json'), 'utf8'),
)
const schema = readFileSync(resolve(folder, 'dist/emulator.schema.json'), 'utf8')

it.each([
  { args: ['--version'], printed: manifest.version },
  { args: ['-v'], printed: manifest.version },
  { args: ['schema'], printed: schema.trimEnd() },
])('prints by $args what the package says', async ({ args, printed }) => {
  const program = startProgram(args)
  expect(await program.ended).toBe(0)
  expect(program.stdout.join('\n')).toBe(printed)
})

it.each([['--help'], ['-h'], ['help'], ['--port', '0', '--help'], ['schema', '--help']])(
  'prints its help by %s, in lines that fit a terminal',
  async (...args) => {
    const program = startProgram(args)
    expect(await program.ended).toBe(0)
    expect(program.stdout[0]).toBe('Usage: eventgrid-emulator [options]')
    expect(program.stdout.join('\n')).not.toContain('eventgrid-binding')
    expect(program.stdout.filter((line) => line.length > 80)).toEqual([])
  },
)

it.each([
  { args: ['--prot', '1'], complaint: "Unknown option '--prot'; did you mean --port?" },
  { args: ['emulate'], complaint: "Unexpected argument 'emulate'. This command does not take positional arguments" },
  { args: ['schema', 'check'], complaint: 'schema takes nothing else, not "check"' },
])('refuses $args with exit code 2, and says where the help is', async ({ args, complaint }) => {
  const program = startProgram(args)
  expect(await program.ended).toBe(2)
  expect(program.lines).toEqual([`eventgrid-emulator: ${complaint}`, 'see: eventgrid-emulator --help'])
})

it('can be executed after each build, since npx links it once and for all', () => {
  const bin = resolve(folder, manifest.bin['eventgrid-emulator'] ?? '')
  expect(statSync(bin).mode & 0o111).toBe(0o111)
  expect(readFileSync(bin, 'utf8').split('\n')[0]).toBe('#!/usr/bin/env node')
})
