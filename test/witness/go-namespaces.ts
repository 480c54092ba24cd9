import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { EventGridEmulator } from '../../src/emulator/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import { cacheOf, caFile } from './places.ts'
import { runProgram, startProgram } from './program.ts'
import { lastLine } from './python-environment.ts'
import type { Step, Witness } from './witness.ts'

const cache = cacheOf('go-namespaces')
const program = join(cache, 'witness')

/** Azure's Go client of namespaces: publish, receive and all settlements. */
export const goNamespaces: Witness = { name: "Azure's Go SDK of namespaces", prepare, run }

async function prepare(): Promise<{ missing?: string }> {
  const found = await runProgram('go', ['version'])
  if (found.code !== 0) return { missing: 'there is no go' }
  await mkdir(cache, { recursive: true })
  const cwd = join(import.meta.dirname, 'go-namespaces')
  const env = { GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }
  const build = await runProgram('go', ['build', '-o', program, '.'], { cwd, env })
  return build.code === 0 ? {} : { missing: `${found.stdout} can't build it: ${lastLine(build)}` }
}

async function run(): Promise<readonly Step[]> {
  await using emulator = await EventGridEmulator.start({
    // Delays of a release and waits for an empty queue are ten seconds at least.
    clock: startAcceleratedClock(10),
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Data Sender' }, { role: 'EventGrid Data Receiver' }] }],
  })
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const topic = emulator.namespaceTopic('orders')
  const world = {
    ...{ endpoint: topic.namespaceEndpoint, topic: topic.name, queue: 'app', key: topic.key },
    ...{ tenantId, clientId, clientSecret, authorityHost: endpoints.authorityHost },
  }
  const witness = startProgram(program, [], {
    timeoutMs: 180_000,
    env: { WORLD: JSON.stringify(world), SSL_CERT_FILE: await caFile('go-namespaces', emulator.ca), NO_PROXY: '*' },
  })
  witness.end()
  const steps: Step[] = []
  // Only main.go writes these lines, and each has this shape.
  for await (const line of witness.lines) steps.push(JSON.parse(line) as Step)
  const { code, stderr } = await witness.ended
  return code === 0 ? steps : [...steps, { step: 'the program runs to its end', error: lastLine({ stderr }) }]
}
