/**
 * Builds `dist` of the binding and of the emulator: program, declarations, and beside them what it reads at run time. Does nothing where
 * EVENTGRID_BINDING_BUILT is set: .ci/run builds once and then runs many scripts that would build for themselves.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { copyDeclarations } from './copy-declarations.ts'

const root = resolve(import.meta.dirname, '..')
const declarations = join(root, '.cache/declarations')
const emulator = 'packages/emulator'

/** What each package has in its `dist`, which mirrors the root: the emulator is inside of the binding's too. */
const packages = [
  {
    folder: root,
    doors: ['src/index.d.ts', `${emulator}/src/index.d.ts`],
    assets: [`${emulator}/src/page/assets`, 'src/sidecar/pluggable/grpc/proto', 'src/sidecar/host/api/proto'],
    command: 'src/sidecar/cli/main.js',
    schemas: { component: ['schema', 'component'], emulator: ['schema', 'emulator'], check: ['schema', 'check'] },
  },
  {
    folder: join(root, emulator),
    doors: [`${emulator}/src/index.d.ts`],
    assets: [`${emulator}/src/page/assets`],
    command: `${emulator}/src/cli/main.js`,
    schemas: { emulator: ['schema'] },
  },
]

function compile(folder: string, ...options: readonly string[]): void {
  const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(folder, 'tsconfig.build.json')]
  execFileSync(process.execPath, [...compiler, ...options], { stdio: 'inherit' })
}

function build(): void {
  rmSync(declarations, { recursive: true, force: true })
  // The only run that checks types: the root has the sources of both packages.
  compile(root, '--emitDeclarationOnly', '--outDir', declarations)
  for (const { folder, doors, assets, command, schemas } of packages) {
    const dist = join(folder, 'dist')
    rmSync(dist, { recursive: true, force: true })
    // Only the declarations keep the comments, for editors.
    compile(folder, '--noCheck', '--declaration', 'false', '--removeComments')
    copyDeclarations(declarations, dist, doors)
    for (const asset of assets) cpSync(join(root, asset), join(dist, asset), { recursive: true })
    const program = join(dist, command)
    chmodSync(program, 0o755)
    for (const [name, args] of Object.entries(schemas)) {
      writeFileSync(join(dist, `${name}.schema.json`), execFileSync(process.execPath, [program, ...args]))
    }
  }
}

if (!process.env.EVENTGRID_BINDING_BUILT) build()
