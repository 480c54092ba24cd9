/**
 * Packs the project, installs the tarball into an empty one with the oldest Node that package.json allows, and does the
 * main job there on the emulator, on that Node and on this one; then compiles a TypeScript user of the types.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'eventgrid-binding-'))
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

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

const cli = 'node_modules/eventgrid-binding/dist/cli/main.js'
const serving = spawn(process.execPath, [cli, 'serve', '--sockets-folder', 'sockets'], { stdio: ['ignore', 'inherit', 'pipe'] })
const ended = once(serving, 'exit')
for await (const lines of serving.stderr) if (/ ready /.test(lines)) serving.kill('SIGTERM')
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

try {
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder], root).trim().split('\n').at(-1) ?? ''
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module", "allowScripts": { "node": true } }')
  run('npm', ['install', '--silent', '--no-audit', `./${tarball}`, 'node@22.18.0'])
  writeFileSync(join(folder, 'job.js'), job)
  writeFileSync(join(folder, 'served.js'), served)
  for (const node of [join(folder, 'node_modules/.bin/node'), process.execPath]) {
    for (const script of ['job.js', 'served.js']) process.stdout.write(run(node, [script]))
  }
  process.stdout.write(run(join(folder, 'node_modules/.bin/eventgrid-binding'), ['--version']))

  writeFileSync(join(folder, 'typed.ts'), typed)
  run('npm', ['install', '--silent', '--no-audit', 'typescript@7', '@types/node@22'])
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--types', 'node']
  run(join(folder, 'node_modules/.bin/tsc'), [...strict, '--module', 'nodenext', '--target', 'es2023', 'typed.ts'])
  console.log('the types compile in a strict project')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
