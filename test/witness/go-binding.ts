import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import {
  type DeliveryRecord,
  EventGridEmulator,
  type EventGridEmulatorOptions,
} from '../../packages/emulator/src/index.ts'
import { goProgramOf, prepareGo } from './go-program.ts'
import { caFile, portIngress } from './places.ts'
import { type Program, startProgram } from './program.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

const folder = 'go'

/** Dapr's own Event Grid binding, in Go, from its module. It knows no host names but Azure's. */
export const goBinding: Witness = { name: "Dapr's Go binding", prepare: () => prepareGo(folder), run }

async function run(): Promise<readonly Step[]> {
  return [...(await wholeLife('1.0')), ...(await wholeLife('2.0')), ...(await refusals())]
}

/** What a step of the program said: its name, an error, and an event that it was handed. */
interface Said {
  readonly step: string
  readonly error?: string
  readonly event?: unknown
}

/** The binding, started against an emulator through its proxy. */
interface Started {
  readonly program: Program
  /** What it says next; rejects when it has ended. */
  next(): Promise<Said>
}

async function wholeLife(version: '1.0' | '2.0'): Promise<readonly Step[]> {
  const steps: Step[] = []
  const step = async (name: string, check: () => void | Promise<void>) => {
    steps.push(await takeStep(`${name} (tokens v${version})`, check))
  }
  await using emulator = await startEmulator({ deliveryTokenVersion: version })
  const port = await freePort()
  const first = await start(emulator, port)
  await step('it initialises', async () => said(await first.next(), 'init'))
  await step('it creates its event subscription, through the proxy, by its own handshake', async () => {
    said(await first.next(), 'read')
    const webhook = destinationOf(emulator)
    assert.equal(webhook?.endpointUrl, subscriberEndpoint(port))
    assert.equal(webhook?.azureActiveDirectoryApplicationIdOrUri, emulator.clientId)
    assert.equal(emulator.records.handshakes.last?.method, 'OPTIONS')
    assert.equal(emulator.records.handshakes.last?.outcome, 'validated')
    const put = emulator.records.requests.filter(({ method }) => method === 'PUT')
    assert.equal(put.length, 1)
    assert.match(String(put[0]?.headers['user-agent']), /^dapr-/)
    assert.equal(put[0]?.headers.host, 'management.azure.com')
  })
  const event = { specversion: '1.0', id: 'go-1', source: '/orders/1', type: 'Order.Placed', data: { amount: 5 } }
  await step('it publishes an event, passes the token check and is handed the event', async () => {
    first.program.write(JSON.stringify(event))
    // The delivery may come before its own answer does.
    const both = [await first.next(), await first.next()]
    said(
      both.find((one) => one.step === 'invoke'),
      'invoke',
    )
    assert.deepEqual(both.find((one) => one.step === 'event')?.event, event)
    const delivery = await delivered(emulator, 'go-1')
    assert.equal(delivery.status, 200)
    // The record doesn't show the token; that it is checked shows in the refusals.
    assert.ok(delivery.headers.authorization)
  })
  await step('it is handed an event that somebody else has published', async () => {
    emulator.raise(emulator.topic().id, [{ ...event, id: 'go-2' }])
    assert.deepEqual((await first.next()).event, { ...event, id: 'go-2' })
    assert.equal((await delivered(emulator, 'go-2')).status, 200)
  })
  await step('it is told what is wrong with an event that it publishes', async () => {
    first.program.write('{"specversion":"1.0","id":"go-3"}')
    assert.match((await first.next()).error ?? '', /invalid status code \(400\).*"code":"BadRequest"/)
  })
  await step('it closes', async () => {
    first.program.end()
    said(await first.next(), 'close')
    const { code, stderr } = await first.program.ended
    assert.equal(code, 0, stderr)
  })
  const again = await start(emulator, port)
  await step('started again it finds the subscription as it wants it and writes nothing', async () => {
    said(await again.next(), 'init')
    said(await again.next(), 'read')
    assert.equal(emulator.records.requests.filter(({ method }) => method === 'PUT').length, 1)
  })
  again.program.end()
  await again.program.ended
  return steps
}

/** That its checks are real: it refuses what it must, and reports what it is refused. */
async function refusals(): Promise<readonly Step[]> {
  const steps: Step[] = []
  await using emulator = await startEmulator({})
  const port = await freePort()
  const binding = await start(emulator, port)
  steps.push(
    await takeStep('it refuses a token that is signed by a key which it does not know', async () => {
      said(await binding.next(), 'init')
      said(await binding.next(), 'read')
      await emulator.rotateKeys({ forget: true })
      emulator.raise(emulator.topic().id, [{ specversion: '1.0', id: 'go-4', source: '/', type: 't' }])
      const delivery = await delivered(emulator, 'go-4')
      assert.equal(delivery.status, 401)
      assert.equal(delivery.outcome, 'dropped')
    }),
  )
  binding.program.end()
  await binding.program.ended
  emulator.removeRoles(emulator.clientId)
  const stranger = await start(emulator, port)
  steps.push(
    await takeStep('it is told AuthorizationFailed without a role', async () => {
      said(await stranger.next(), 'init')
      assert.match((await stranger.next()).error ?? '', /AuthorizationFailed/)
    }),
  )
  stranger.program.end()
  await stranger.program.ended
  return steps
}

function startEmulator(options: EventGridEmulatorOptions): Promise<EventGridEmulator> {
  return EventGridEmulator.start({ ...options, ingress: portIngress })
}

const subscriberEndpoint = (port: number) => `https://port-${port}.subscriber.example/api/events`

async function start(emulator: EventGridEmulator, port: number): Promise<Started> {
  const topic = emulator.topic()
  const program = startProgram(goProgramOf(folder), [], {
    timeoutMs: 180_000,
    env: {
      HTTPS_PROXY: emulator.proxy,
      NO_PROXY: '127.0.0.1,localhost',
      SSL_CERT_FILE: await caFile(folder, emulator.ca),
      BINDING_METADATA: JSON.stringify({
        tenantId: emulator.tenantId,
        subscriptionId: emulator.subscriptionId,
        clientId: emulator.clientId,
        clientSecret: emulator.clientSecret,
        subscriberEndpoint: subscriberEndpoint(port),
        handshakePort: String(port),
        scope: topic.id,
        eventSubscriptionName: 'orders',
        accessKey: topic.key,
        topicEndpoint: topic.endpoint,
      }),
    },
  })
  const lines = program.lines[Symbol.asyncIterator]()
  return {
    program,
    async next() {
      const { done, value } = await lines.next()
      if (done)
        throw new Error(`it has ended: ${(await program.ended).stderr.trim().split('\n').slice(-3).join(' | ')}`)
      // Only main.go writes these lines, and each has this shape.
      return JSON.parse(value) as Said
    },
  }
}

function said(one: Said | undefined, step: string): void {
  assert.equal(one?.error, undefined)
  assert.equal(one?.step, step)
}

function destinationOf(emulator: EventGridEmulator) {
  const destination = emulator.eventSubscription(emulator.topic().id, 'orders')?.properties.destination
  return destination?.endpointType === 'WebHook' ? destination.properties : undefined
}

function delivered(emulator: EventGridEmulator, eventId: string): Promise<DeliveryRecord> {
  return emulator.records.deliveries.waitFor(({ eventIds }) => eventIds.includes(eventId), AbortSignal.timeout(20_000))
}

/** A port that was free a moment ago: the binding takes none that is to be chosen for it. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
