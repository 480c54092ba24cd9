import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { blocks, readPage, root, section } from '../documents/page.ts'
import { freePort } from '../support/free-port.ts'
import { paste } from '../support/shell.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const local = 'examples/local'
const python = 'examples/python'
const files = ['emulator.yaml', 'components/orders.yaml', 'components/secrets.yaml', 'app.mjs']
  .map((name) => join(local, name))
  .concat(join(python, 'app.py'))

/** A checkout in which `npx` finds the built package. */
async function checkout() {
  const folder = temporaryFolder()
  for (const name of ['package.json', local, python]) cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of ['dist', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  return withFreePorts(folder, files)
}

/** A user's project in which the built package is installed, with the files that `init` writes. */
async function project() {
  const folder = temporaryFolder()
  const installed = join(folder, 'node_modules')
  mkdirSync(join(installed, '.bin'), { recursive: true })
  symlinkSync(root, join(installed, 'eventgrid-binding'))
  symlinkSync('../eventgrid-binding/dist/src/sidecar/cli/main.js', join(installed, '.bin/eventgrid-binding'))
  writeFileSync(join(folder, 'package.json'), '{}')
  await paste('npx eventgrid-binding init', folder).ended
  return withFreePorts(folder, ['emulator.yaml', 'components/orders.yaml', 'app.mjs'])
}

/** Puts free ports into files of a folder. `onFreePorts` puts the same ones into a line. */
async function withFreePorts(folder: string, files: readonly string[]) {
  const ports = new Map<string, string>()
  for (const port of ['4430', '4431', '9000', '3500', '3000']) ports.set(port, String(await freePort()))
  const replacePorts = (text: string) =>
    text.replace(/\b(4430|4431|9000|3500|3000)\b/g, (port) => ports.get(port) ?? port)
  for (const name of files) {
    const file = join(folder, name)
    writeFileSync(file, replacePorts(readFileSync(file, 'utf8')))
  }
  return {
    folder,
    onFreePorts: (line: string) =>
      replacePorts(
        // Default ports, which no line names, are given so that the test can choose others.
        line
          .replace('--emulator --', '--emulator https://127.0.0.1:4430 --')
          .replace('--app-port', '--http-port 3500 --app-port'),
      ),
  }
}

/** The lines of the shell blocks under a heading. */
function shellLines(path: string, title: string): string[] {
  return section(readPage(path), title).flatMap((node) =>
    node.type === 'code' && node.lang === 'sh' ? node.value.split('\n') : [],
  )
}

it('has the component of the README, which names hosts of Azure', () => {
  const [shown] = blocks(readPage('README.md'), 'yaml')
  const component = parse(readFileSync(join(root, local, 'components/orders.yaml'), 'utf8'))
  expect(parse(shown?.value ?? '').spec).toEqual(component.spec)
})

it.each([
  { path: 'README.md', title: 'Without Dapr: run', open: project, published: 1 },
  { path: 'examples/local/README.md', title: 'Three shells and two curls', open: checkout, published: 2 },
])('brings events to the application by the lines of $path alone', async ({ path, title, open, published }) => {
  const { folder, onFreePorts } = await open()
  const lines = shellLines(path, title).map(onFreePorts)
  const lineOf = (start: string) => lines.find((line) => line.startsWith(start)) ?? ''
  await paste(lineOf('npx eventgrid-binding emulate'), folder).said(/^ready: /)
  const application = paste(lineOf('node '), folder)
  const binding = paste(lineOf('npx eventgrid-binding run'), folder)
  await binding.said(/the event subscription orders is provisioned: created/)
  await application.said(/the application listens/)

  const publishing = paste(lines.filter((line) => line.startsWith('curl ')).join('\n'), folder)
  await publishing.ended
  const answers = publishing.lines.filter((line) => line.startsWith('HTTP/'))
  expect(answers).toEqual(Array(published).fill('HTTP/1.1 200 OK'))
  const events = await application.said(/^\/orders \{/, published)
  const orders = events.map((line) => JSON.parse(line.replace('/orders ', '')).data.order)
  expect(orders.toSorted()).toEqual(published === 1 ? [1] : [1, 2])
})

it.runIf(spawnSync('python3', ['--version']).status === 0)(
  'the application in Python receives an event and publishes another',
  async () => {
    const { folder, onFreePorts } = await checkout()
    const lines = shellLines('examples/python/README.md', 'An application in Python').map(onFreePorts)
    const lineOf = (start: string) => lines.find((line) => line.startsWith(start)) ?? ''
    await paste(lineOf('npx eventgrid-binding emulate'), folder).said(/^ready: /)
    const application = paste(lineOf('python3 '), folder)
    await paste(lineOf('npx eventgrid-binding run'), folder).said(
      /the event subscription orders is provisioned: created/,
    )
    await application.said(/the application listens/)
    await paste(lineOf('curl '), folder).ended
    const events = await application.said(/^\/orders /, 2)
    const [shown = ''] = blocks(readPage('examples/python/README.md'), 'text').map(({ value }) => value)
    expect(events.toSorted()).toEqual(shown.split('\n').toSorted())
  },
)

it.each([
  { title: 'With Dapr: serve', says: / ready / },
  { title: 'The emulator alone', says: /^ready: / },
])('starts by the lines of README.md under $title', async ({ title, says }) => {
  const { folder } = await checkout()
  const [sockets, port, httpPort] = [temporaryFolder(), await freePort(), await freePort()]
  const lines = shellLines('README.md', title)
    .filter((line) => !line.startsWith('daprd '))
    .map((line) =>
      line
        .replace('/tmp/dapr-components-sockets', sockets)
        .replace('emulate ', `emulate --port ${port} --http-port ${httpPort} `),
    )
  await paste(lines.join('\n'), folder).said(says)
})
