/**
 * Packs the emulator and installs its archive alone into an empty project, as a user without the binding does: what it weighs, its
 * licences, how soon it starts, whether a published event arrives and what a TypeScript user's code compiles to.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeOfNpm, versions } from './support/node-of-npm.ts'
import { check, openProject } from './support/packed-project.ts'
import { permissive } from './support/permissive-licences.ts'

const limits = { packages: 79, megabytes: 25 } as const

const from = resolve(import.meta.dirname, '../packages/emulator')
const { folder, installed, bin, run, ...project } = openProject('eventgrid-emulator', from)

function readLicences(): void {
  for (const path of run('npm', ['ls', '--all', '--parseable']).trim().split('\n').slice(1)) {
    const { license = 'none stated' }: { license?: string } = JSON.parse(
      readFileSync(join(path, 'package.json'), 'utf8'),
    )
    check(permissive.has(license), `the licence of ${path} is ${license}`)
  }
  console.log('the licences are permissive')
}

/** The program delivers what is published by a bare HTTP request to a bare HTTP server. */
const published = `
import { createServer } from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { EventGridEmulator } from 'eventgrid-emulator'

const server = createServer(async (request, response) => {
  response.setHeader('webhook-allowed-origin', request.headers['webhook-request-origin'] ?? '*')
  response.end()
  const body = await text(request)
  if (request.method === 'POST') server.emit('delivered', JSON.parse(body))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const arrived = once(server, 'delivered', { signal: AbortSignal.timeout(60_000) })
const emulator = await EventGridEmulator.start({
  port: 0,
  httpPort: 0,
  deliver: { orders: [\`http://127.0.0.1:\${server.address().port}/hook\`] },
})
// The handshake with the event subscription of \`deliver\`.
await emulator.idle()
const { httpEndpoint, key } = emulator.topic('orders')
const answer = await fetch(httpEndpoint, {
  method: 'POST',
  headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' },
  body: JSON.stringify({ specversion: '1.0', id: 'packed', source: '/shop', type: 'order.placed', data: 1 }),
})
if (answer.status !== 200) throw new Error(\`publish: \${answer.status}\`)
const [event] = await arrived
await emulator.close()
server.close()
if (event.id !== 'packed') throw new Error(\`delivered \${event.id}\`)
console.log('delivered on Node', process.version)
`

const typed = `
import { EventGridEmulator, type EventGridEmulatorOptions } from 'eventgrid-emulator'

const options: EventGridEmulatorOptions = { topics: [{ name: 'orders' }] }
export const start = (): Promise<EventGridEmulator> => EventGridEmulator.start(options)
`

/** Start to `ready:`, and the end by a signal. */
async function startProgram(): Promise<void> {
  const began = performance.now()
  const program = spawn(bin, ['--port', '0', '--http-port', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(program, 'exit')
  try {
    for await (const line of createInterface({ input: program.stdout })) {
      if (!line.startsWith('ready: ')) continue
      console.log(`${line} after ${Math.round(performance.now() - began)} ms`)
      program.kill('SIGTERM')
    }
    const [code] = await ended
    check(code === 0, `the emulator ended with ${code}`)
  } finally {
    program.kill('SIGKILL')
  }
}

try {
  project.install()
  project.weigh(limits)
  project.followLinks()
  readLicences()
  writeFileSync(join(folder, 'published.js'), published)
  for (const node of [nodeOfNpm(versions.oldest), dirname(process.execPath)]) {
    process.stdout.write(run('node', ['published.js'], { node }))
  }
  await startProgram()
  check(run(bin, ['schema']) === readFileSync(join(installed, 'dist/emulator.schema.json'), 'utf8'), 'another schema')
  project.compile(typed)
} finally {
  project.remove()
}
