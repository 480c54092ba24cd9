/**
 * Packs the project and installs the tarball into an empty one, as a user does: what it weighs, whether the links of its pages lead
 * somewhere, whether the main job is done on the oldest Node that package.json allows and on this one, and with other package managers, how
 * the command starts, whether all that the pages tell to install goes together, and whether a TypeScript user's code compiles.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { installLines } from './support/install-lines.ts'
import { nodeOfNpm, versions } from './support/node-of-npm.ts'
import { check, openProject } from './support/packed-project.ts'

/** With this package itself. The bundle, for images, weighs 7 MB. */
const limits = { packages: 111, mebibytes: 101 } as const

const { folder, installed, bin, run, ...project } = openProject('eventgrid-binding', resolve(import.meta.dirname, '..'))

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

function work(): void {
  writeFileSync(join(folder, 'job.js'), job)
  for (const node of [nodeOfNpm(versions.oldest), dirname(process.execPath)])
    process.stdout.write(run('node', ['job.js'], { node }))
  process.stdout.write(run(bin, ['--version']))
}

/** How other package managers add an archive to a project, and run a file of it. */
const managers = [
  { name: 'pnpm', by: 'pnpm@12', add: (archive: string) => ['add', archive], run: ['node'] },
  {
    name: 'yarn',
    by: '@yarnpkg/cli-dist@4',
    add: (archive: string) => ['add', `eventgrid-binding@file:${archive}`],
    run: ['node'],
  },
  { name: 'bun', by: 'bun@1', add: (archive: string) => ['add', archive], run: [] },
]

/** pnpm, Yarn without node_modules (PnP) and Bun, each where the registry has it. */
function otherManagers(): void {
  const registry = run('npm', ['config', 'get', 'registry']).trim()
  const yarn = { YARN_NPM_REGISTRY_SERVER: registry, YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' }
  for (const { name, by, add, run: runs } of managers) {
    const cwd = join(folder, name)
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'package.json'), '{ "private": true, "type": "module" }')
    // Without a lockfile of its own Yarn would look for a project above.
    if (name === 'yarn') writeFileSync(join(cwd, 'yarn.lock'), '')
    writeFileSync(join(cwd, 'job.js'), job)
    const ask = (args: readonly string[]) => {
      const env = { ...process.env, ...yarn }
      return spawnSync('npx', ['--yes', by, ...args], { cwd, env, encoding: 'utf8', timeout: 300_000 })
    }
    if (ask(['--version']).status !== 0) {
      console.log(`skipped: ${name} cannot be had from the registry`)
      continue
    }
    for (const args of [add(project.archive()), [...runs, 'job.js']]) {
      const { status, stdout, stderr } = ask(args)
      check(status === 0, `${name} ${args.join(' ')}: ${stdout}${stderr}`)
    }
    console.log(`installed by ${name}, and delivered`)
  }
}

/** gRPC is not installed: whoever asks for it is told what to install, and then it works. */
function askForGrpc(): void {
  mkdirSync(join(folder, 'no-components'))
  const withRun = ['run', '--components', 'no-components', '--http-port', '0']
  const asking = [
    ['serve'],
    [...withRun, '--grpc-port', '0'],
    [...withRun, '--app-port', '1', '--app-protocol', 'grpc'],
  ]
  const lines = asking.map((args) => {
    const { status, stderr } = spawnSync(bin, args, { cwd: folder, encoding: 'utf8', timeout: 30_000 })
    const [, said = ''] = /needs gRPC: npm install (.*)/.exec(stderr) ?? []
    check(status === 2 && said !== '' && !/^ +at /m.test(stderr), `without gRPC: ${stderr}`)
    return said.split(' ')
  })
  const [packages = []] = lines
  const inPages = installLines(installed).filter((line) => line.packages.join() === packages.join())
  check(inPages.length > 1, `no pages tell to install ${packages.join(' ')}`)
  run('npm', ['install', '--silent', '--no-audit', ...packages])
  writeFileSync(join(folder, 'served.js'), served)
  for (const node of [nodeOfNpm(versions.oldest), dirname(process.execPath)])
    process.stdout.write(run('node', ['served.js'], { node }))
}

/** The Azure SDKs for destinations are not installed: whoever asks for one is told what to install. */
function askForDestinations(): void {
  const broker = '[{ connectionString: Endpoint=sb://localhost;SharedAccessKeyName=a;SharedAccessKey=b }]'
  for (const [field, name] of [
    ['deadLetterConnectionString: UseDevelopmentStorage=true', '@azure/storage-blob'],
    ['storageQueueConnectionString: UseDevelopmentStorage=true', '@azure/storage-queue'],
    [`serviceBus: ${broker}`, '@azure/service-bus'],
    [`eventHubs: ${broker}`, '@azure/event-hubs'],
  ]) {
    writeFileSync(join(folder, 'destination.yaml'), `${field}\n`)
    const { status, stderr } = spawnSync(bin, ['emulate', '--config', 'destination.yaml'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const [, said = ''] = /npm install (\S+)/.exec(stderr) ?? []
    const asInPages = installLines(installed).some(({ packages }) => packages.includes(said))
    check(status === 2 && said.startsWith(`${name}@`) && asInPages, `without ${name}: ${stderr}`)
  }
  console.log('an emulator that needs an SDK for a destination says what to install, as the pages do')
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

try {
  project.install()
  project.weigh(limits)
  project.followLinks()
  for (const step of [work, otherManagers, askForGrpc, askForDestinations, findSchemas, followInstallLines]) step()
  project.compile(typed)
} finally {
  project.remove()
}
