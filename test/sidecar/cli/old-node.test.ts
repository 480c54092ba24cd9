import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { complaintAboutNode, oldestNode } from '../../../src/support/process/node-version.ts'

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
  const installed = complaintAboutNode(version, 'file:///shop/node_modules/eventgrid-binding/dist/src/index.js')
  expect(installed?.replace(what, '')).toBe(
    isTooOld
      ? 'npm install node@24 adds a newer one to your project, and npx eventgrid-binding takes it; for your own files: npx node FILE'
      : undefined,
  )
  // npm brings no Node to the bundle.
  const bundled = complaintAboutNode(version, 'file:///opt/bundle/eventgrid-binding.js')
  expect(bundled).toBe(isTooOld ? `${what}start it with a newer one: PATH/TO/NEWER/node FILE` : undefined)
})

it.each(['22.17.1', '22.18.0'])('says the same of Node %s when the emulator is imported', (version) => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const load =
    "import('./packages/emulator/src/index.ts').then(() => 'imported', (error) => error.message).then(console.log)"
  const { stdout } = spawnSync(process.execPath, ['--eval', `${pretend}; ${load}`], { encoding: 'utf8', cwd: root })
  expect(stdout).toBe(`${complaintAboutNode(version, import.meta.url) ?? 'imported'}\n`)
})

/** The system's own Node, where that is too old: this project brings another for itself. */
const systemNode = '/usr/bin/node'
const { stdout } = spawnSync(systemNode, ['--version'], { encoding: 'utf8' })
const version = stdout?.trim().slice(1) ?? ''
const complaint = version === '' ? undefined : complaintAboutNode(version, import.meta.url)
const built = ['dist/src/index.js', 'dist/packages/emulator/src/index.js'].map((file) => resolve(root, file))
const cannotTell = complaint === undefined || !built.every((file) => existsSync(file))
const runOld = (...args: string[]) => spawnSync(systemNode, args, { encoding: 'utf8', cwd: root })

it.skipIf(cannotTell).each(['--version', 'run'])('says so on an old Node before the command line does %s', (arg) => {
  const { status, stderr } = runOld('dist/src/sidecar/cli/main.js', arg)
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${complaint}\n` })
})

it.skipIf(cannotTell).each([
  { door: 'library', file: './dist/src/index.js' },
  { door: 'emulator', file: './dist/packages/emulator/src/index.js' },
])('says so on an old Node when the $door is imported', ({ file }) => {
  const program = `import('${file}').then(() => 'imported', (error) => error.message).then(console.log)`
  expect(runOld('--input-type=module', '--eval', program).stdout).toBe(`${complaint}\n`)
})
