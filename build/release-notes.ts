/** The part of CHANGELOG.md about the version of package.json. `--check` says what keeps that version from being released. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const { version, repository }: { version: string; repository?: unknown } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)

/** The text under `## VERSION`, to the next heading of that level. */
function partOf(changelog: string): string | undefined {
  const [, part] = changelog.split(new RegExp(`^## ${version.replaceAll('.', '\\.')}\\b.*$`, 'm'))
  return part?.split(/^## /m)[0]?.trim()
}

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const notes = partOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
const faults = notes ? [] : [`CHANGELOG.md has nothing under "## ${version}"`]
if (process.argv.includes('--check')) {
  if (git('status', '--porcelain') !== '') faults.push('there are changes that are not committed')
  if (repository === undefined) faults.push('package.json has no repository, which a provenance of npm names')
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  if (!tags.includes(`v${version}`)) faults.push(`this commit has no tag v${version}`)
} else if (notes) {
  console.log(notes)
}
for (const fault of faults) console.error(`not releasable: ${fault}`)
if (faults.length > 0) process.exitCode = 1
