/** Runs the tests on another Node: `oldest` or `newest` of those that package.json allows. */
import { spawnSync } from 'node:child_process'
import { delimiter, join, resolve } from 'node:path'
import { nodeOfNpm, versions } from './support/node-of-npm.ts'

const root = resolve(import.meta.dirname, '..')

const [which] = process.argv.slice(2)
if (which !== 'oldest' && which !== 'newest') throw new Error('say which Node: oldest or newest')
const bin = nodeOfNpm(versions[which])
const { status } = spawnSync(join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', '--project', 'nodes'], {
  cwd: root,
  env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
