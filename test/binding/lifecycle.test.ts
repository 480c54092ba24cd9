import { createServer } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding } from '../../src/index.ts'
import { managementOf } from '../support/azure-clients.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { listen } from '../support/listen.ts'
import { openWorld, outputOnly, publicUrl } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'

it('refuses a second init on a live binding, which goes on working', async () => {
  const world = await openWorld()
  await world.init()
  const again = await refusal(world.init())
  expect(again.code).toBe('ALREADY_INITIALIZED')
  expect(again.fix).toContain('make another Binding')
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.settled()
  expect(world.handled).toHaveLength(1)
})

it('refuses a second init while the first is under way', async () => {
  const world = await openWorld()
  const first = world.init()
  expect((await refusal(world.init())).code).toBe('ALREADY_INITIALIZED')
  await first
})

it('can be initialised after an init that failed', async () => {
  const world = await openWorld()
  expect((await refusal(world.init({ scope: 'nonsense' }))).code).toBe('METADATA_INVALID')
  await world.init()
  expect(world.binding.health().status).toBe('healthy')
})

it('says PORT_UNAVAILABLE when the port is taken, and asks nothing of Azure', async () => {
  const port = await listen(createServer(), '::')
  const world = await openWorld()
  const error = await refusal(world.init({ handshakePort: String(port) }))
  expect(error).toMatchObject({
    code: 'PORT_UNAVAILABLE',
    message: expect.stringContaining(`handshakePort ${port} is in use`),
    fix: expect.stringContaining('choose another port'),
    details: { port, reason: 'EADDRINUSE' },
  })
  expect(world.emulator.records.requests.all()).toEqual([])
})

it('frees the port when init fails', async () => {
  const world = await openWorld()
  world.emulator.removeRoles(world.emulator.clientId)
  const port = await freePort()
  expect((await refusal(world.init({ handshakePort: String(port) }))).code).toBe('PERMISSION_DENIED')
  expect(world.binding.address()).toBeUndefined()
  const again = createServer()
  await new Promise<void>((listening, failing) => again.once('error', failing).listen(port, '::', listening))
  await new Promise((closed) => again.close(closed))
})

it('rejects an init whose signal was aborted before', async () => {
  const world = await openWorld()
  expect((await refusal(world.init({}, { signal: AbortSignal.abort() }))).code).toBe('ABORTED')
  expect(world.emulator.records.requests.all()).toEqual([])
})

it('ends an init of the output alone that is aborted or closed before it is done', async () => {
  const world = await openWorld()
  const abort = new AbortController()
  const aborted = refusal(world.init(outputOnly, { signal: abort.signal }))
  abort.abort()
  expect((await aborted).code).toBe('ABORTED')
  const init = refusal(world.init(outputOnly))
  const closed = world.binding.close()
  expect((await init).code).toBe('CLOSED')
  await closed
  expect((await refusal(world.binding.invoke('create', {}))).code).toBe('CLOSED')
  expect((await refusal(world.init(outputOnly))).code).toBe('CLOSED')
})

it('refuses to invoke before init', async () => {
  expect((await refusal(new Binding().invoke('create', {}))).code).toBe('NOT_INITIALIZED')
})

it('refuses another operation, however it is called', async () => {
  const world = await openWorld()
  await world.init(outputOnly)
  for (const operation of ['get', 'CREATE', '', '__proto__', 'x'.repeat(10_000)]) {
    const error = await refusal(world.binding.invoke(operation, {}))
    expect(error.code).toBe('OPERATION_UNSUPPORTED')
    expect(error.message.length).toBeLessThan(300)
  }
})

it('answers create with ids, count and the request id of Event Grid', async () => {
  const world = await openWorld()
  await world.init(outputOnly)
  const { metadata } = await world.binding.invoke('create', { order: 1 }, { metadata: { id: 'one' } })
  expect(metadata).toMatchObject({ ids: '["one"]', count: '1' })
  const published = world.emulator.records.requests.all().findLast(({ route }) => route === 'topic')
  expect(metadata.requestId).toBe(published?.requestId)
})

it('answers 503 until a handler is there, so nothing is lost', async () => {
  const world = await openWorld()
  await world.init()
  world.binding.read(undefined)
  expect(world.binding.health()).toMatchObject({ status: 'unhealthy', input: { status: 'unhealthy' } })
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)
  const received = Promise.withResolvers<unknown>()
  world.binding.read(({ cloudEvent }) => received.resolve(cloudEvent.data))
  expect(await received.promise).toEqual({ order: 1 })
  expect(world.binding.health().status).toBe('healthy')
})

it('counts the answers to deliveries, those that reach no handler too, apart from strangers, and no handshake', async () => {
  const world = await openWorld()
  await world.init()
  expect(world.binding.health().input?.answered).toEqual({})
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.settled()
  const port = world.binding.address()?.port
  const { pathname } = new URL(world.fields.subscriberEndpoint ?? '')
  await fetch(`http://127.0.0.1:${port}${pathname}`, { method: 'POST', body: '{}' })
  world.binding.read(undefined)
  await world.binding.invoke('create', { order: 2 })
  await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)
  expect(world.binding.health().input?.answered).toEqual({ 200: 1, 503: 1 })
  expect(world.binding.health().input?.strangers).toEqual({ 401: 1 })
})

it('resolves in the background once the listener is up, and brings the subscription up later', async () => {
  const world = await openWorld()
  world.emulator.failNext({ route: 'entra', times: 1, status: 503 })
  await world.init({}, { subscription: 'background' })
  expect(world.binding.address()?.port).toBeGreaterThan(0)
  expect(world.binding.health()).toMatchObject({ status: 'degraded' })
  await world.emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await world.emulator.idle()
  expect(world.subscription()?.provisioningState).toBe('Succeeded')
})

it('closes once, however often it is asked', async () => {
  const world = await openWorld()
  await world.init()
  await Promise.all([world.binding.close(), world.binding.close()])
  await world.binding.close()
  expect(world.binding.health().status).toBe('unhealthy')
})

it('puts the event subscription right also where its token has expired before our clock says so', async () => {
  const world = await openWorld({ emulator: { retrySchedule: [200] } })
  await world.init()
  const before = world.subscription()?.properties.destination
  world.emulator.expireTokens()
  const { eventSubscriptions } = managementOf(world.emulator)
  await eventSubscriptions.beginCreateOrUpdateAndWait(String(world.fields.scope).slice(1), 'orders', {
    destination: { endpointType: 'WebHook', endpointUrl: publicUrl },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
  })
  await world.binding.invoke('create', { order: 1 })
  await world.emulator.settled()
  expect(world.handled).toHaveLength(1)
  expect(world.subscription()?.properties.destination).toMatchObject({ ...before })
})

it('is unhealthy once ten deliveries in a row have failed, however fast, and however long ago, until one succeeds', async () => {
  const { now } = Date
  let later = 0
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + later)
  onTestFinished(() => spy.mockRestore())
  let failures = 0
  const onEvent = () => {
    if (failures-- > 0) throw new Error('the application is down')
  }
  const { init, binding, emulator } = await openWorld({ binding: { onEvent } })
  await init()
  failures = 9
  await binding.invoke('create', { order: 1 })
  await emulator.settled()
  failures = Number.POSITIVE_INFINITY
  await binding.invoke('create', { order: 2 })
  await eventually(() => expect(binding.health().input?.answered['500']).toBeGreaterThan(18))
  const reasons = [expect.stringMatching(/^the application failed the last \d+ events: look at its log/)]
  expect(binding.health()).toMatchObject({ status: 'unhealthy', input: { cause: 'handler', reasons, ready: true } })
  later = 24 * 60 * 60_000
  expect(binding.health().status).toBe('unhealthy')
  failures = 0
  await binding.invoke('create', { order: 3 })
  await eventually(() => expect(binding.health().status).toBe('healthy'))
})
