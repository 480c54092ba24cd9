/**
 * Writes `bundle/` of each package: its command as one program without `node_modules`, for an image. Needs a build, for the schemas.
 * Source maps go to `bundle-maps/`, beside it: copied over the bundle, `node --enable-source-maps` reads them.
 */
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { licenceTexts } from './licence-texts.ts'

const root = resolve(import.meta.dirname, '..')

interface Program {
  readonly name: string
  /** Of the package, where `bundle/` goes. */
  readonly folder: string
  /** Its main file, in the folder of the package. */
  readonly main: string
  /** Most that the bundle may weigh, in bytes. */
  readonly limit: number
  /** What the program reads while it runs: where it stands in the repository, and in the bundle. */
  readonly assets: Readonly<Record<string, string>>
}

const emulatorAssets = { 'packages/emulator/src/page/assets': 'lib/assets', LICENSE: 'LICENSE' }

const programs: readonly Program[] = [
  {
    name: 'eventgrid-binding',
    folder: root,
    main: 'src/sidecar/cli/main.ts',
    limit: 7_000_000,
    assets: {
      ...emulatorAssets,
      'node_modules/@grpc/reflection/build/proto/grpc': 'lib/proto/grpc',
      'src/sidecar/pluggable/grpc/proto/bindings.proto': 'proto/bindings.proto',
      'src/sidecar/host/api/proto/runtime.proto': 'proto/runtime.proto',
      'examples/starter': 'examples/starter',
      'examples/local/app.mjs': 'examples/local/app.mjs',
      'dist/component.schema.json': 'dist/component.schema.json',
      'dist/emulator.schema.json': 'dist/emulator.schema.json',
      'dist/check.schema.json': 'dist/check.schema.json',
    },
  },
  {
    name: 'eventgrid-emulator',
    folder: join(root, 'packages/emulator'),
    main: 'src/cli/main.ts',
    limit: 5_000_000,
    assets: emulatorAssets,
  },
]

/** On Windows files are named with backslashes. */
const slashed = (files: readonly string[]) => files.map((file) => file.replaceAll('\\', '/'))

async function bundle({ name, folder, main, limit, assets }: Program): Promise<void> {
  const target = join(folder, 'bundle')
  const maps = join(folder, 'bundle-maps')
  for (const made of [target, maps]) {
    rmSync(made, { recursive: true, force: true })
    mkdirSync(made)
  }
  const bundler = await rolldown({
    input: { [name]: join(folder, main) },
    platform: 'node',
    // It sees no SDK whose API is older than its own: so the bundle has the oldest API that package.json allows.
    resolve: { alias: { '@opentelemetry/api': 'opentelemetry-api-1.9' } },
    plugins: [
      {
        name: 'optional packages are inside',
        load: (id) => (basename(id) === 'require-package.ts' ? 'export function requirePackage() {}' : undefined),
      },
    ],
  })
  const { output } = await bundler.write({
    dir: target,
    // CommonJS: a start takes 28 ms of processor time and 9 MB less. For ES modules Node makes a second module of each of its own, and reads
    // all of its exports.
    format: 'cjs',
    // Names of functions stay, for stack traces.
    minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } },
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'lib/[name]-[hash].js',
    // @grpc/reflection reads its own definitions two folders above the folder of its file.
    banner: ({ moduleIds }) =>
      slashed(moduleIds).some((id) => id.includes('/@grpc/reflection/')) ? '__dirname += "/a/b";' : '',
  })
  await bundler.close()

  chmodSync(join(target, `${name}.js`), 0o755)
  for (const file of globSync('**/*.map', { cwd: target })) {
    mkdirSync(dirname(join(maps, file)), { recursive: true })
    renameSync(join(target, file), join(maps, file))
  }

  for (const [from, to] of Object.entries(assets)) cpSync(join(root, from), join(target, to), { recursive: true })

  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const own = { name, version, type: 'commonjs', license: 'Apache-2.0' }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(own, undefined, 2)}\n`)
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? slashed(chunk.moduleIds) : []))
  writeFileSync(join(target, 'LICENSES.txt'), licenceTexts(modules))

  const bytes = globSync('**', { cwd: target }).reduce((sum, file) => {
    const entry = lstatSync(join(target, file))
    return sum + (entry.isFile() ? entry.size : 0)
  }, 0)
  console.log(`bundle of ${name}: ${(bytes / 1e6).toFixed(2)} MB`)
  if (bytes > limit) throw new Error(`the bundle of ${name} weighs over ${limit / 1e6} MB`)
}

for (const program of programs) await bundle(program)
