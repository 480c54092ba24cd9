import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readPage, section } from '../../../documents/page.ts'
import { freePort } from '../../../support/free-port.ts'
import { listen } from '../../../support/listen.ts'
import { paste } from '../../../support/shell.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** The command as npm links it, or the bundle's: a file that is executed, by the Node that its first line names. */
const program =
  process.env.EVENTGRID_BINDING_PROGRAM === 'bundle' ? 'bundle/eventgrid-binding.js' : 'dist/src/sidecar/cli/main.js'
const bin = resolve(import.meta.dirname, '../../../..', program)
const files = ['components/orders.yaml', 'components/secrets.yaml', 'emulator.yaml', 'secrets.json', 'app.mjs']
const schemaLine = /^# yaml-language-server: \$schema=(.+)$/m

/** The folder's files, and the commands that `init` printed. */
async function initialised(folder = temporaryFolder()): Promise<{ folder: string; commands: string[] }> {
  const init = paste(`${bin} init`, folder)
  await init.ended
  const text = init.lines.join('\n')
  // Commands are indented; an indented line after a backslash goes on with the one before.
  return { folder, commands: [...text.matchAll(/(?:^ {2,}.*\n?)+/gm)].map(([command]) => command) }
}

/** The same on free ports. The default ports, which no command names, are given. */
async function onFreePorts(): Promise<{ folder: string; commands: string[] }> {
  const { folder, commands } = await initialised()
  const ports = new Map<string, string>()
  for (const port of ['4430', '4431', '9000', '3500', '3000']) ports.set(port, String(await freePort()))
  const moved = (text: string) => text.replace(/\b(4430|4431|9000|3500|3000)\b/g, (port) => ports.get(port) ?? port)
  for (const file of files) writeFileSync(join(folder, file), moved(readFileSync(join(folder, file), 'utf8')))
  return {
    folder,
    commands: commands.map((command) =>
      moved(
        command
          .replace('--emulator', '--emulator https://127.0.0.1:4430')
          .replace('--app-port', '--http-port 3500 --app-port'),
      ),
    ),
  }
}

it('writes files to start from, and prints the commands that bring an event to an application', async () => {
  const { folder, commands } = await onFreePorts()
  expect(commands).toHaveLength(4)
  const [emulate = '', app = '', run = '', publish = ''] = commands
  await paste(emulate, folder).said(/^ready: /)
  const application = paste(app, folder)
  await application.said(/listens on port/)
  await paste(run, folder).said(/the event subscription orders is provisioned/)
  const publishing = paste(publish, folder)
  await publishing.ended
  expect(publishing.lines).toContain('HTTP/1.1 200 OK')
  const [event = ''] = await application.said(/^\/orders /)
  expect(JSON.parse(event.slice('/orders '.length))).toMatchObject({ data: { order: 1 } })
})

it('writes files of which check --emulator says nothing but, in one line, that this is the emulator', async () => {
  const { folder, commands } = await onFreePorts()
  const [emulate = '', , run = ''] = commands
  const [emulator = ''] = /--emulator \S+/.exec(run) ?? []
  await paste(emulate, folder).said(/^ready: /)
  const check = paste(`${bin} check ${emulator}; echo ended with $?`, folder)
  await check.ended
  expect(check.lines.at(-1)).toBe('ended with 0')
  expect(check.lines.filter((line) => /^ +[^ ✓]/.test(line))).toEqual([
    '  on the emulator: public names and certificates are not judged as Azure judges them',
  ])
})

it('writes an application that says what to do when its port is in use', async () => {
  const { folder } = await initialised()
  const port = String(await listen(createServer()))
  const file = join(folder, 'app.mjs')
  writeFileSync(file, readFileSync(file, 'utf8').replace('3000', port))
  const application = paste('node app.mjs; echo ended with $?', folder)
  await application.ended
  expect(application.lines).toEqual([
    `port ${port} can't be used (EADDRINUSE). Free it, or change it in app.mjs and in --app-port of run`,
    'ended with 1',
  ])
})

it('prints the commands that docs/getting-started.md shows, where npm has installed the package', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(bin, join(folder, 'node_modules/.bin/eventgrid-binding'))
  const { commands } = await initialised(folder)
  const shown = section(readPage('docs/getting-started.md'), 'On your machine').flatMap((node) =>
    node.type === 'code' && node.lang === 'sh' ? [node.value] : [],
  )
  expect(shown).toEqual(['npx eventgrid-binding init', ...commands.map((command) => command.trim())])
})

it.each([
  { name: 'beside node_modules', below: '.' },
  { name: 'in a folder below that of node_modules', below: 'services/shop' },
])('writes schema lines that lead to the schemas of the package, $name', async ({ below }) => {
  const project = temporaryFolder()
  const installed = join(project, 'node_modules/eventgrid-binding/dist')
  mkdirSync(installed, { recursive: true })
  for (const kind of ['component', 'emulator']) writeFileSync(join(installed, `${kind}.schema.json`), '{}')
  const folder = join(project, below)
  mkdirSync(folder, { recursive: true })
  await paste(`${bin} init`, folder).ended
  const schemaOf = (file: string) => {
    const [, path = ''] = schemaLine.exec(readFileSync(join(folder, file), 'utf8')) ?? []
    return resolve(folder, dirname(file), path)
  }
  expect(schemaOf('components/orders.yaml')).toBe(join(installed, 'component.schema.json'))
  expect(schemaOf('emulator.yaml')).toBe(join(installed, 'emulator.schema.json'))
})

it('writes the path of its own schemas where the package is not installed in the project', async () => {
  const { folder } = await initialised()
  const [, path = ''] = schemaLine.exec(readFileSync(join(folder, 'emulator.yaml'), 'utf8')) ?? []
  expect(existsSync(resolve(folder, path))).toBe(true)
})

it.each(['secrets.json', 'components'])('overwrites nothing: with a file %s there it writes none', async (file) => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, file), 'mine')
  const init = paste(`${bin} init; echo ended with $?`, folder)
  await init.ended
  expect(init.lines).toContain('ended with 1')
  expect(init.lines.join('\n')).toMatch(new RegExp(`${file}.* in another folder`))
  expect(readdirSync(folder)).toEqual([file])
  expect(readFileSync(join(folder, file), 'utf8')).toBe('mine')
})
