import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { complaintAboutNode, oldestNode } from '../../src/node-version.ts'

const root = resolve(import.meta.dirname, '../..')
const { engines }: { engines: { node: string } } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))

it('asks for the Node that package.json asks for', () => expect(engines.node).toBe(`>=${oldestNode}`))

it.each([
  { version: '18.20.8', isTooOld: true },
  { version: '22.17.1', isTooOld: true },
  { version: '22.18.0', isTooOld: false },
  { version: '24.0.0-nightly', isTooOld: false },
])('knows of Node $version whether it is too old', ({ version, isTooOld }) => {
  const complaint = `eventgrid-binding needs Node 22.18 or newer; this is v${version}`
  expect(complaintAboutNode(version)).toBe(isTooOld ? complaint : undefined)
})

/** The system's own Node, where that is too old: this project brings another for itself. */
const systemNode = '/usr/bin/node'
const { stdout } = spawnSync(systemNode, ['--version'], { encoding: 'utf8' })
const version = stdout?.trim().slice(1) ?? ''
const complaint = version === '' ? undefined : complaintAboutNode(version)
const cannotTell = complaint === undefined || !existsSync(resolve(root, 'dist/require-node.js'))
const runOld = (...args: string[]) => spawnSync(systemNode, args, { encoding: 'utf8', cwd: root })

it.skipIf(cannotTell).each(['--version', 'run'])('says so on an old Node before the command line does %s', (arg) => {
  const { status, stderr } = runOld('dist/cli/main.js', arg)
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${complaint}\n` })
})

it.skipIf(cannotTell)('says so on an old Node when the library is imported', () => {
  const program = "import('./dist/index.js').then(() => 'imported', (error) => error.message).then(console.log)"
  expect(runOld('--input-type=module', '--eval', program).stdout).toBe(`${complaint}\n`)
})
