/** Another Node beside the project's own, from npm's package `node`, kept in `.cache` of the project. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const { engines }: { engines: { node: string } } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Versions by their place in what package.json allows. */
export const versions = { oldest: engines.node.replace('>=', ''), newest: '26.10' } as const

/** The folder of the program `node`. */
export function nodeOfNpm(version: string): string {
  const folder = join(root, '.cache/nodes', version)
  const bin = join(folder, 'node_modules/node/bin')
  if (existsSync(join(bin, 'node'))) return bin
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
  execFileSync('npm', ['install', '--silent', '--no-audit', `node@${version}`], { cwd: folder, stdio: 'inherit' })
  return bin
}
