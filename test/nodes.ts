/** Runs the tests on the oldest Node that package.json allows and on the newest one, from npm's package `node`, kept in `.cache`. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const versions = ['22.18.0', '26.10.0']
const root = resolve(import.meta.dirname, '..')

/** The folder of the program. */
function install(version: string): string {
  const folder = join(root, '.cache/nodes', version)
  const bin = join(folder, 'node_modules/node/bin')
  if (existsSync(join(bin, 'node'))) return bin
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
  execFileSync('npm', ['install', '--silent', '--no-audit', `node@${version}`], { cwd: folder, stdio: 'inherit' })
  return bin
}

for (const version of versions) {
  const bin = install(version)
  console.log(`::: tests on Node ${version}`)
  const { status } = spawnSync(
    join(bin, 'node'),
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'tests', '--reporter=dot'],
    {
      cwd: root,
      // No report for .ci/run: these are the tests of the first suite once more.
      env: { ...process.env, CI: '', PATH: `${bin}${delimiter}${process.env.PATH}` },
      stdio: 'inherit',
    },
  )
  if (status !== 0) process.exitCode = 1
}
