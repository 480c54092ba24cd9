import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { letter, openReplay } from './open-replay.ts'

/** As of the image (Dockerfile). */
const heapOfImage = { NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=1' }

it('reads a file of 15 MB with the heap of the image', async () => {
  const { write, dead, given, emulator } = await openReplay()
  const file = openSync(write('large.json', '['), 'a')
  const data = { text: 'x'.repeat(10_000) }
  const count = 1_500
  for (let index = 0; index < count; index++) {
    writeSync(file, `${index === 0 ? '' : ','}${JSON.stringify(letter(String(index), { data }))}`)
  }
  writeSync(file, ']')
  closeSync(file)
  const command = startCommand(['replay', ...given, '--type', 'none', dead], heapOfImage)
  expect(await command.ended).toBe(0)
  expect(command.lines.at(-1)).toBe(`0 events published, ${count} left out by --since or --type`)
  expect(emulator.records.requests.all()).toEqual([])
})

const regular = /it is a pipe, a socket or a device, not a regular file/

it.each([
  { what: 'the secrets file', name: 'secrets', args: ['--secrets'], code: 2 },
  { what: 'the certificate authority', name: 'ca.pem', args: ['--ca'], code: 2 },
  { what: 'the ledger', name: 'eventgrid-replay.db', args: [], code: 1 },
  { what: 'a former ledger', name: 'eventgrid-replay.ledger', args: [], code: 1 },
  { what: 'a dead letter', name: 'b.json', args: [], code: 1 },
])('does not wait for a pipe in place of $what, and says so', async ({ name, args, code }) => {
  const { write, dead, given, at } = await openReplay()
  write('a.json', letter('1'))
  execFileSync('mkfifo', [at(name)])
  const command = startCommand(['replay', ...given, ...args.flatMap((one) => [one, at(name)]), dead])
  expect(await command.ended).toBe(code)
  expect(command.lines.join('\n')).toMatch(regular)
})

it.each([
  { command: 'replay', args: ['--component', 'orders', '.', '--components'], code: 2 },
  { command: 'provision', args: ['--components'], code: 2 },
  { command: 'check', args: ['--components'], code: 1 },
  { command: 'emulate', args: ['--config'], code: 2 },
])('does not wait for a pipe, nor take it for a file: $command $args', async ({ command, args, code }) => {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  const started = startCommand([command, ...args, path])
  expect(await started.ended).toBe(code)
  expect(started.lines.join('\n')).toMatch(regular)
})
