import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { complaintAboutNode, oldestNode } from '../../../src/support/process/runtime.ts'

const root = resolve(import.meta.dirname, '../../..')
const { engines }: { engines: { node: string } } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))

it('asks for the Node that package.json asks for', () => expect(engines.node).toBe(`>=${oldestNode}`))

it.each([
  { version: '18.20.8', isTooOld: true },
  { version: '22.17.1', isTooOld: true },
  { version: '22.18.0', isTooOld: false },
  { version: '24.0.0-nightly', isTooOld: false },
])('knows of Node $version whether it is too old', ({ version, isTooOld }) => {
  const what = `eventgrid-binding needs Node 22.18 or newer; this is v${version}. `
  const installed = complaintAboutNode(
    version,
    'file:///shop/node_modules/eventgrid-binding/dist/src/index.js',
    'program',
  )
  expect(installed?.replace(what, '')).toBe(
    isTooOld
      ? 'npm install node@24 adds a newer one to your project, and npx eventgrid-binding takes it; for your own files: npx node FILE'
      : undefined,
  )
  // npm brings no Node to the bundle.
  const bundled = complaintAboutNode(version, 'file:///opt/bundle/eventgrid-binding.js', 'eventgrid-binding')
  expect(bundled).toBe(isTooOld ? `${what}start it with a newer one: PATH/TO/NEWER/node FILE` : undefined)
})

it.each(['22.17.1', '22.18.0'])('says the same of Node %s when the emulator is imported', (version) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const load =
    "import('./packages/emulator/src/index.ts').then(() => 'imported', (error) => error.message).then(console.log)"
  const { stdout } = spawnSync(process.execPath, ['--eval', `${pretend}; ${load}`], { encoding: 'utf8', cwd: root })
  expect(stdout).toBe(`${complaintAboutNode(version, import.meta.url, 'eventgrid-emulator') ?? 'imported'}\n`)
})

/** The system's own Node, where that is too old: this project brings another for itself. */
const systemNode = '/usr/bin/node'
const { stdout } = spawnSync(systemNode, ['--version'], { encoding: 'utf8' })
const version = stdout?.trim().slice(1) ?? ''
const complaintOf = (name: string) => (version === '' ? undefined : complaintAboutNode(version, import.meta.url, name))
const complaint = complaintOf('eventgrid-binding')
const built = ['dist/src/index.js', 'dist/packages/emulator/src/index.js'].map((file) => resolve(root, file))
const cannotTell = complaint === undefined || !built.every((file) => existsSync(file))
const runOld = (...args: string[]) => spawnSync(systemNode, args, { encoding: 'utf8', cwd: root })

const commands = {
  'eventgrid-binding': 'dist/src/sidecar/cli/main.js',
  'eventgrid-emulator': 'packages/emulator/dist/packages/emulator/src/cli/main.js',
}
it
  .skipIf(cannotTell)
  .each(Object.entries(commands).flatMap(([name, file]) => ['--version', 'run'].map((arg) => ({ name, file, arg }))))(
  'says so on an old Node before the command line of $name does $arg',
  ({ name, file, arg }) => {
    const { status, stderr } = runOld(file, arg)
    expect({ status, stderr }).toEqual({ status: 1, stderr: `${complaintOf(name)}\n` })
  },
)

it.skipIf(cannotTell).each([
  { name: 'eventgrid-binding', file: './dist/src/index.js' },
  { name: 'eventgrid-emulator', file: './dist/packages/emulator/src/index.js' },
  { name: 'eventgrid-emulator', file: './packages/emulator/dist/packages/emulator/src/index.js' },
])('says so on an old Node when $file is imported', ({ name, file }) => {
  const program = `import('${file}').then(() => 'imported', (error) => error.message).then(console.log)`
  expect(runOld('--input-type=module', '--eval', program).stdout).toBe(`${complaintOf(name)}\n`)
})
