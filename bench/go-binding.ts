import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The program with Dapr's Go binding, or why there is none. */
export type GoBinding = { readonly program: string; readonly version: string } | { readonly missing: string }

/** Builds it; Go keeps what it has built. */
export function buildGoBinding(): GoBinding {
  const found = spawnSync('go', ['version'], { encoding: 'utf8' })
  if (found.status !== 0) return { missing: 'there is no go' }
  const version = found.stdout.trim().replace('go version ', '')
  const folder = join(root, '.cache', 'bench')
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'go-binding')
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GONOSUMDB: 'github.com/dapr/*', CGO_ENABLED: '0' }
  const build = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(root, 'bench', 'go'),
    env,
    encoding: 'utf8',
  })
  if (build.status === 0) return { program, version }
  return { missing: `${version} can't build it: ${build.stderr.trim().split('\n').at(-1)}` }
}
