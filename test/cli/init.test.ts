import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDaprApp } from '../support/dapr-app.ts'
import { freePort } from '../support/free-port.ts'
import { paste } from '../support/shell.ts'

/** The command as npm links it: a file that is executed, by the Node that its first line names. */
const bin = resolve(import.meta.dirname, '../../dist/cli/main.js')
const files = ['components/orders.yaml', 'emulator.yaml', 'secrets.json']

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'init-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The folder's files, and the commands that `init` printed. */
async function initialised(): Promise<{ folder: string; commands: string[] }> {
  const folder = emptyFolder()
  const init = paste(`${bin} init`, folder)
  await init.ended
  const text = init.lines.join('\n')
  // Commands are indented; an indented line after a backslash goes on with the one before.
  return { folder, commands: [...text.matchAll(/(?:^ {2,}.*\n?)+/gm)].map(([command]) => command) }
}

it('writes files to start from, and prints the commands that bring an event to an application', async () => {
  const { folder, commands } = await initialised()
  expect(commands).toHaveLength(3)
  const app = await openDaprApp()
  const ports = new Map([['3000', String(app.port)]])
  for (const port of ['4430', '4431', '9000', '3500']) ports.set(port, String(await freePort()))
  const onFreePorts = (text: string) =>
    text.replace(/\b(4430|4431|9000|3500|3000)\b/g, (port) => ports.get(port) ?? port)
  for (const file of files) {
    writeFileSync(join(folder, file), onFreePorts(readFileSync(join(folder, file), 'utf8')))
  }
  const [emulate = '', run = '', publish = ''] = commands.map((command) =>
    // Dapr's own port, which no command names, is given so that the test can choose it.
    onFreePorts(command.replace('npx eventgrid-binding', bin)).replace(
      '--app-port',
      `--http-port ${ports.get('3500')} --app-port`,
    ),
  )
  await paste(emulate, folder).said(/^ready: /)
  await paste(run, folder).said(/the event subscription orders/)
  const publishing = paste(publish, folder)
  await publishing.ended
  expect(publishing.lines).toContain('HTTP/1.1 200 OK')
  const [call] = await app.received('POST', 1)
  expect(call).toMatchObject({ path: '/orders' })
  expect(JSON.parse(call?.body ?? '')).toMatchObject({ data: { order: 1 } })
})

it('overwrites nothing: with one of the files there it writes none of them', async () => {
  const folder = emptyFolder()
  writeFileSync(join(folder, 'secrets.json'), 'mine')
  const init = paste(`${bin} init; echo ended with $?`, folder)
  await init.ended
  expect(init.lines).toContain('ended with 1')
  expect(init.lines.join('\n')).toContain('secrets.json')
  expect(readdirSync(folder)).toEqual(['secrets.json'])
  expect(readFileSync(join(folder, 'secrets.json'), 'utf8')).toBe('mine')
})
