/**
 * Packs the project and installs the tarball into an empty one, as a user does: what it weighs, whether the links of its pages lead
 * somewhere, whether the main job is done on the oldest Node that package.json allows and on this one, how the command starts, whether all
 * that the pages tell to install goes together, and whether a TypeScript user's code compiles.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, lstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { installLines } from './support/install-lines.ts'
import { nodeOfNpm, versions } from './support/node-of-npm.ts'

/** Most that an installation may bring: packages, and mebibytes on the disk. The bundle, for images, weighs 6 MB. */
const limits = { packages: 147, mebibytes: 114 } as const

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'eventgrid-binding-'))
const installed = join(folder, 'node_modules/eventgrid-binding')
const bin = join(folder, 'node_modules/.bin/eventgrid-binding')

/** Runs a program in the user's project. `node`: the folder of the Node that scripts find. */
function run(command: string, args: readonly string[], { cwd = folder, node = dirname(process.execPath) } = {}) {
  // A registration of OpenTelemetry would ask which cloud this machine is in.
  const quiet = { OTEL_NODE_RESOURCE_DETECTORS: 'none' }
  const env = { ...process.env, ...quiet, PATH: `${node}${delimiter}${process.env.PATH}` }
  return execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function check(holds: boolean, complaint: string): void {
  if (!holds) throw new Error(complaint)
}

const job = `
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'

const emulator = await EventGridEmulator.start()
const topic = emulator.topic('orders')
const received = Promise.withResolvers()
const binding = new Binding({ endpoints: emulator.endpoints, onEvent: (event) => received.resolve(event.cloudEvent) })
emulator.setIngress(({ pathname }) => \`http://127.0.0.1:\${binding.address().port}\${pathname}\`)
await binding.init({
  tenantId: emulator.tenantId,
  subscriptionId: emulator.subscriptionId,
  clientId: emulator.clientId,
  clientSecret: emulator.clientSecret,
  scope: topic.id,
  subscriberEndpoint: 'https://binding.example.com/api/events',
  handshakePort: '0',
  topicEndpoint: topic.endpoint,
  accessKey: topic.key,
})
await binding.invoke('create', { hello: 'world' }, { metadata: { id: 'packed' } })
const { id } = await received.promise
await binding.close()
await emulator.close()
if (id !== 'packed') throw new Error(\`delivered \${id}\`)
console.log('delivered on Node', process.version)
`

const served = `
import { spawn } from 'node:child_process'
import { once } from 'node:events'

const serving = spawn('node_modules/.bin/eventgrid-binding', ['serve', '--sockets-folder', 'sockets'], {
  stdio: ['ignore', 'inherit', 'pipe'],
})
const ended = once(serving, 'exit')
for await (const lines of serving.stderr) {
  if (!/ ready /.test(lines)) continue
  serving.kill('SIGTERM')
}
const [code] = await ended
if (code !== 0) throw new Error(\`serve ended with \${code}\`)
console.log('served on Node', process.version)
`

const typed = `
import { Binding, BindingError, type EventHandler } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'

const onEvent: EventHandler = ({ cloudEvent, data }) => console.log(cloudEvent.type, data.length)
export const binding: Binding = new Binding({ onEvent })
export const start = (): Promise<EventGridEmulator> => EventGridEmulator.start()
export const code = (error: BindingError): string => error.code
`

function install(): void {
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module", "allowScripts": { "node": true } }')
  run('npm', ['install', '--silent', '--no-audit', `./${tarball.trim().split('\n').at(-1)}`])
}

function weigh(): void {
  const modules = join(folder, 'node_modules')
  const packages = run('npm', ['ls', '--all', '--parseable']).trim().split('\n').length - 1
  // As du counts: in blocks of the file system, which is where the disk goes.
  const sizeOf = (path: string) => (lstatSync(join(modules, path)).blocks ?? 0) * 512
  const bytes = globSync('**', { cwd: modules }).reduce((sum, path) => sum + sizeOf(path), 0)
  const mebibytes = bytes / 2 ** 20
  console.log(`${packages} packages, ${mebibytes.toFixed(1)} MiB`)
  check(packages <= limits.packages, `an installation brings over ${limits.packages} packages`)
  check(mebibytes < limits.mebibytes, `an installation weighs ${limits.mebibytes} MiB or more`)
}

/** Pages and examples that are packed lead to nothing that only the repository has. */
function followLinks(): void {
  for (const page of globSync(['*.md', 'docs/*.md'], { cwd: installed })) {
    const links = readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)
    const broken = [...links]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(resolve(installed, dirname(page), path)))
    check(broken.length === 0, `${page} links to what is not packed: ${broken.join(', ')}`)
  }
  for (const file of globSync('examples/**/*.{ts,mjs}', { cwd: installed })) {
    const imports = readFileSync(join(installed, file), 'utf8').matchAll(/from '(\.[^']+)'/g)
    const broken = [...imports]
      .map(([, path = '']) => path)
      .filter((path) => !existsSync(resolve(installed, dirname(file), path)))
    check(broken.length === 0, `${file} imports what is not packed: ${broken.join(', ')}`)
  }
  console.log('the links and imports of the packed pages and examples lead somewhere')
}

function work(): void {
  writeFileSync(join(folder, 'job.js'), job)
  writeFileSync(join(folder, 'served.js'), served)
  for (const node of [nodeOfNpm(versions.oldest), dirname(process.execPath)]) {
    for (const script of ['job.js', 'served.js']) process.stdout.write(run('node', [script], { node }))
  }
  process.stdout.write(run(bin, ['--version']))
}

/** The Azure SDK for blobs is not installed: whoever asks for it is told what to install. */
function askForStorage(): void {
  for (const [field, name] of [
    ['deadLetterConnectionString', '@azure/storage-blob'],
    ['storageQueueConnectionString', '@azure/storage-queue'],
  ]) {
    writeFileSync(join(folder, 'storage.yaml'), `${field}: UseDevelopmentStorage=true\n`)
    const { status, stderr } = spawnSync(bin, ['emulate', '--config', 'storage.yaml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const [, said = ''] = /npm install (\S+)/.exec(stderr) ?? []
    const asInPages = installLines(installed).some(({ packages }) => packages.includes(said))
    check(status === 2 && said.startsWith(`${name}@`) && asInPages, `without ${name}: ${stderr}`)
  }
  console.log('an emulator that needs an SDK for storage says what to install, as the pages do')
}

/** An editor finds the schema where the files of `init` say that it is. */
function findSchemas(): void {
  run(bin, ['init'])
  for (const file of ['components/orders.yaml', 'emulator.yaml']) {
    const [, schema = ''] =
      /^# yaml-language-server: \$schema=(.*)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? []
    check(schema !== '' && existsSync(resolve(folder, dirname(file), schema)), `${file} names no schema that is there`)
  }
  console.log('the files of init name schemas that are there')
}

/** What the pages tell to install goes together, whatever came first; the example of tracing runs with it. */
function followInstallLines(): void {
  const olderSdk = ['@opentelemetry/sdk-trace-node@2', '@opentelemetry/exporter-trace-otlp-http@0.223']
  run('npm', ['install', '--silent', '--no-audit', '--dry-run', ...olderSdk])
  const lines = new Set(installLines(installed).map(({ packages }) => packages.join(' ')))
  for (const line of lines) {
    console.log('npm install', line)
    run('npm', ['install', '--silent', '--no-audit', ...line.split(' ')])
  }
  cpSync(join(installed, 'examples/tracing'), folder, { recursive: true })
  const program = 'node_modules/.bin/eventgrid-binding'
  // Node 20 runs npm and npx, and has no part in the rest.
  for (const node of [nodeOfNpm('20'), nodeOfNpm(versions.oldest), dirname(process.execPath)]) {
    check(
      run('npx', ['node', 'main.ts'], { node }).includes('└─ confirm order'),
      'the example of tracing has no whole trace',
    )
    run('npx', ['node', '--import', './register.ts', program, '--version'], { node })
  }
  run('node', ['--import', '@opentelemetry/auto-instrumentations-node/register', program, '--version'])
  console.log('what the pages tell to install goes together, and traces')
}

function compile(): void {
  writeFileSync(join(folder, 'typed.ts'), typed)
  run('npm', ['install', '--silent', '--no-audit', 'typescript@7', '@types/node@22'])
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--types', 'node']
  run(join(folder, 'node_modules/.bin/tsc'), [...strict, '--module', 'nodenext', '--target', 'es2023', 'typed.ts'])
  console.log('the types compile in a strict project')
}

try {
  for (const step of [install, weigh, followLinks, work, askForStorage, findSchemas, followInstallLines, compile])
    step()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
