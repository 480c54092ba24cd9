import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The Dapr that is measured; the same as in test/dapr. */
const version = '1.18.1'

/** daprd with its own Event Grid binding alone, and daprd's side of the hop alone; or why they are not there. */
export type DaprPrograms =
  | { readonly daprd: string; readonly reader: string; readonly version: string }
  | { readonly missing: string }

const folder = join(import.meta.dirname, '..', '.cache', 'daprd', `bench-${version}`)
const sources = join(import.meta.dirname, 'dapr')

/**
 * Builds them where there are none yet, which takes minutes the first time.
 *
 * @param build false: only looks whether they are there
 */
export function obtainDaprPrograms(build: boolean): DaprPrograms {
  const programs = { daprd: join(folder, 'daprd'), reader: join(folder, 'reader'), version }
  if (existsSync(programs.daprd) && existsSync(programs.reader)) return programs
  if (spawnSync('go', ['version']).status !== 0) return { missing: 'there is no go' }
  if (!build)
    return { missing: 'its daprd is not built yet, which takes minutes; npm run bench -- --only dapr builds it' }
  console.log(
    `building daprd ${version} with its own Event Grid binding alone; the first time this takes a few minutes`,
  )
  try {
    buildInto(folder)
    return programs
  } catch (error) {
    return { missing: `go can't build daprd ${version}: ${lastLine(error)}` }
  }
}

/** Builds in a copy of Dapr's module, so with the very versions of its release, from which all other components are taken away. */
function buildInto(target: string): void {
  const env = { ...process.env, GONOSUMDB: 'github.com/dapr/*', CGO_ENABLED: '0' }
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 24 })
  const { Dir: dapr }: { Dir: string } = JSON.parse(
    run('go', 'mod', 'download', '-json', `github.com/dapr/dapr@v${version}`),
  )
  const work = `${target}.${process.pid}`
  mkdirSync(dirname(target), { recursive: true })
  try {
    run('cp', '-R', dapr, work)
    // The module's own files are read-only.
    run('chmod', '-R', 'u+w', work)
    const components = join(work, 'cmd', 'daprd', 'components')
    for (const file of readdirSync(components)) {
      if (file !== 'bindings_azure_eventgrid.go') rmSync(join(components, file))
    }
    cpSync(join(sources, 'reader'), join(work, 'cmd', 'reader'), { recursive: true })
    const build = ['go', 'build', '-C', work, '-tags', 'allcomponents', '-o', join(work, 'bin/')]
    run('nice', '-n', '10', ...build, './cmd/daprd', './cmd/reader')
    rmSync(target, { recursive: true, force: true })
    renameSync(join(work, 'bin'), target)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function lastLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return said.trim().split('\n').at(-1) ?? ''
}
