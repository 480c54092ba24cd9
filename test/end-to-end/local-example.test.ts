import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { paste } from '../support/shell.ts'

const root = resolve(import.meta.dirname, '../..')
const local = 'examples/local'
const files = ['README.md', 'emulator.yaml', 'components/orders.yaml', 'components/secrets.yaml', 'app.mjs']

/** A checkout whose example has free ports in place of its own; `npx` finds the built package in it. */
async function checkout(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'local-example-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', local]) cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of ['dist', 'node_modules']) symlinkSync(join(root, name), join(folder, name))
  const ports = new Map<string, string>()
  for (const port of ['4430', '4431', '9000', '3500', '3000']) ports.set(port, String(await freePort()))
  for (const name of files) {
    const file = join(folder, local, name)
    const text = readFileSync(file, 'utf8').replace(
      /\b(4430|4431|9000|3500|3000)\b/g,
      (port) => ports.get(port) ?? port,
    )
    // Dapr's own port, which no line names, is given so that the test can choose it.
    writeFileSync(file, text.replace('--app-port', `--http-port ${ports.get('3500')} --app-port`))
  }
  return folder
}

it('has the component of the README, which names hosts of Azure', () => {
  const [, first = ''] = /^```yaml\n(.*?)^```$/ms.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
  const component = parse(readFileSync(join(root, local, 'components/orders.yaml'), 'utf8'))
  expect(parse(first).spec).toEqual(component.spec)
})

it('brings an event published by the binding, and one published to the topic, to the application, by the lines of its page alone', async () => {
  const folder = await checkout()
  const page = readFileSync(join(folder, local, 'README.md'), 'utf8')
  const [emulate = '', run = '', app = '', curls = ''] = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = '']) => block,
  )
  const emulator = paste(emulate, folder)
  await emulator.said(/^ready: /)
  const binding = paste(run, folder)
  const application = paste(app, folder)
  await binding.said(/the event subscription orders is provisioned: created/)
  await application.said(/the application listens/)

  const publishing = paste(curls, folder)
  await publishing.ended
  expect(publishing.lines.filter((line) => line.startsWith('HTTP/'))).toEqual(['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK'])
  const events = await application.said(/^\/orders \{/, 2)
  const data = events.map((line) => JSON.parse(line.replace('/orders ', '')).data)
  expect(data.toSorted((one, other) => one.order - other.order)).toEqual([{ order: 1 }, { order: 2 }])
}, 60_000)
