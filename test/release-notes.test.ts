import { spawnSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { packageVersion } from '../src/core/versions.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '..')

const changelog = '# Changelog\n\n## 1.2.0\n\n- New.\n\n## 1.1.0\n\n- Old.\n'
const manifest = { version: '1.2.0', repository: 'example/example' }

/** A repository with one commit, and its release notes by `run`. */
function repository(files: { manifest?: object; changelog?: string; tag?: string }) {
  const folder = temporaryFolder()
  cpSync(join(root, 'build/release-notes.ts'), join(folder, 'build/release-notes.ts'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...(files.manifest ?? manifest) }))
  writeFileSync(join(folder, 'CHANGELOG.md'), files.changelog ?? changelog)
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: folder })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'one')
  git('tag', files.tag ?? 'v1.2.0')
  const run = (...args: string[]) => {
    const script = ['--disable-warning=ExperimentalWarning', 'build/release-notes.ts', ...args]
    const { stdout, stderr, status } = spawnSync(process.execPath, script, { cwd: folder, encoding: 'utf8' })
    return { stdout, faults: stderr.split('\n').filter(Boolean), status }
  }
  return { folder, run }
}

it('prints the part of CHANGELOG.md about the version', () => {
  expect(repository({}).run()).toEqual({ stdout: '- New.\n', faults: [], status: 0 })
})

it.each([
  { name: 'nothing, where all is well', files: {}, fault: undefined },
  {
    name: 'a version without notes',
    files: { changelog: '# Changelog\n\n## Unreleased\n' },
    fault: /nothing under "## 1.2.0"/,
  },
  { name: 'another tag', files: { tag: 'v1.1.0' }, fault: /no tag v1.2.0/ },
  { name: 'a package without its repository', files: { manifest: { version: '1.2.0' } }, fault: /no repository/ },
])('refuses before npm publishes: $name', ({ files, fault }) => {
  const { faults, status } = repository(files).run('--check')
  expect({ faults, status }).toEqual(
    fault ? { faults: [expect.stringMatching(fault)], status: 1 } : { faults: [], status: 0 },
  )
})

it('refuses changes that are not committed', () => {
  const { folder, run } = repository({})
  writeFileSync(join(folder, 'new.txt'), '')
  expect(run('--check')).toMatchObject({ faults: [expect.stringContaining('not committed')], status: 1 })
})

it('pages and manifests name the version of package.json', () => {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const files = globSync(
    ['README.md', 'Dockerfile', 'docs/*.md', 'packages/*/{README.md,docs/*.md}', 'examples/**/*.{md,yaml,bicep}'],
    { cwd: root },
  )
  const named = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const versions = text.matchAll(/eventgrid-binding(?:[:-]|\n\s*newTag: ")(\d+\.\d+\.\d+)/g)
    return [...versions].map(([, each]) => ({ file, version: each }))
  })
  expect(named.length).toBeGreaterThan(9)
  expect(named.filter((each) => each.version !== version)).toEqual([])
  expect(packageVersion).toBe(version)
})
