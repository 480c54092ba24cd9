/**
 * Builds `dist`: the program, its declarations, and beside them what it reads at run time. Does nothing where EVENTGRID_BINDING_BUILT is
 * set: .ci/run builds once and then runs many scripts that would build for themselves.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pruneDeclarations } from './prune-declarations.ts'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
const command = join(dist, 'sidecar/cli/main.js')

const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json')]
const compile = (...options: readonly string[]) =>
  execFileSync(process.execPath, [...compiler, ...options], { stdio: 'inherit' })

function build(): void {
  rmSync(dist, { recursive: true, force: true })
  compile()
  // Once more without the comments: only the declarations keep them, for editors.
  compile('--declaration', 'false', '--removeComments')
  pruneDeclarations(dist)
  for (const folder of ['emulator/page/assets', 'sidecar/pluggable/grpc/proto', 'sidecar/host/api/proto']) {
    cpSync(join(root, 'src', folder), join(dist, folder), { recursive: true })
  }
  chmodSync(command, 0o755)
  for (const schema of ['component', 'emulator', 'check']) {
    writeFileSync(join(dist, `${schema}.schema.json`), execFileSync(process.execPath, [command, 'schema', schema]))
  }
}

if (!process.env.EVENTGRID_BINDING_BUILT) build()
