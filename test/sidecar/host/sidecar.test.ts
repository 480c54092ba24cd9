import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { captureLog } from '../../support/captured-log.ts'
import { componentFile } from '../../support/component-folder.ts'
import { openDaprApp } from '../../support/dapr-app.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { loadTexts } from '../../support/load-texts.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openSidecar, publisherFile, startQueue } from './open-sidecar.ts'

const appAt = (port: number, address = '127.0.0.1') => ({ address, port, maxConcurrency: 10 })
const notReady = (what: string) => ({
  status: 500,
  body: JSON.stringify({ errorCode: 'ERR_HEALTH_NOT_READY', message: `dapr is not ready: [${what}]` }),
})

it('waits for its components, then for the application, and is ready until it closes', async () => {
  const { emulator, fields } = await startQueue()
  const port = await freePort()
  const files = { 'orders.yaml': componentFile('orders', fields) }
  const run = await openSidecar(files, { app: appAt(port), endpoints: emulator.endpoints })
  const { observed } = run.sidecar
  expect(await run.ask('/v1.0/healthz')).toEqual(notReady('components app'))
  expect(await run.ask('/v1.0/healthz/outbound')).toMatchObject({ status: 500 })
  await run.start()
  expect(await run.ask('/v1.0/healthz')).toEqual(notReady('app'))
  expect((await run.ask('/v1.0/healthz/outbound')).status).toBe(204)
  expect([observed.ready, observed.draining, run.names()]).toEqual([false, false, ['orders']])
  await eventually(() =>
    expect(run.said('not there yet')).toEqual([
      `the application is not there yet: nothing listens on 127.0.0.1:${port} (--app-address, --app-port); ` +
        'until the application is ready, it gets no events, and Event Grid keeps them',
    ]),
  )
  expect((await run.create('orders', 'early')).status).toBe(200)
  expect([...emulator.queues().values()]).toEqual([{ available: 1, locked: 0, delayed: 0 }])
  const app = await openDaprApp({ port })
  const [post] = await app.received('POST', 1)
  expect(JSON.parse(post?.body ?? '')).toMatchObject({ data: 'early' })
  expect(run.said(`the application is up on port ${port}`)).toHaveLength(1)
  expect(run.said('events go to the application at /orders')).toHaveLength(1)
  expect((await run.ask('/v1.0/healthz')).status).toBe(204)
  expect(observed.ready).toBe(true)
  await eventually(async () =>
    expect(await run.metrics()).toContain('eventgrid_binding_events_total{component="orders",result="acknowledged"} 1'),
  )
  await run.sidecar.close()
  expect([observed.ready, observed.draining, run.names()]).toEqual([false, true, []])
  await run.sidecar.close()
})

it('says that the application is gone and back, and stays ready meanwhile', async () => {
  const { emulator, fields } = await startQueue()
  const app = await openDaprApp()
  const files = { 'orders.yaml': componentFile('orders', fields) }
  const run = await openSidecar(files, { app: appAt(app.port), endpoints: emulator.endpoints })
  await run.start()
  await eventually(() => expect(run.said('events go to')).toHaveLength(1))
  await app.close()
  await run.create('orders', 'late')
  await eventually(() =>
    expect(run.said('the application is gone')).toEqual([
      expect.stringContaining(`nothing listens on 127.0.0.1:${app.port} (--app-address, --app-port); until`),
    ]),
  )
  expect(run.sidecar.observed.ready).toBe(true)
  await openDaprApp({ port: app.port })
  await eventually(() => expect(run.said(`the application is back on port ${app.port}`)).toHaveLength(1))
  await eventually(() => expect(run.said('events go to')).toHaveLength(2))
  expect(run.said('not there yet')).toEqual([])
})

it('is ready only while an application is well whose health it checks', async () => {
  const { emulator, fields } = await startQueue()
  const app = await openDaprApp()
  app.feel(false)
  const files = { 'orders.yaml': componentFile('orders', fields) }
  const health = { path: '/well', intervalMs: 10, threshold: 1 }
  const run = await openSidecar(files, { app: appAt(app.port), health, endpoints: emulator.endpoints })
  await run.start()
  await eventually(() => expect(run.said('is not healthy at /well yet; until')).toHaveLength(1))
  app.feel(true)
  await eventually(() => expect(run.sidecar.observed.ready).toBe(true))
  expect(run.said(`the application is up on port ${app.port}`)).toHaveLength(1)
  app.feel(false)
  await eventually(() => expect(run.said('the application is unhealthy at /well; until')).toHaveLength(1))
  expect(run.sidecar.observed.ready).toBe(false)
  expect(await run.ask('/v1.0/healthz')).toEqual(notReady('app'))
  app.feel(true)
  await eventually(() => expect(run.said('the application is back on port')).toHaveLength(1))
  expect((await run.ask('/v1.0/healthz')).status).toBe(204)
})

it('writes the IPv6 address of the application in brackets', async () => {
  const port = await freePort()
  const run = await openSidecar({ 'a.yaml': publisherFile('a') }, { app: appAt(port, '::1') })
  await run.start()
  await eventually(() => expect(run.said(`nothing listens on [::1]:${port} (`)).toHaveLength(1))
})

it('follows its files: what is new, changed, broken, valid again, left out and removed', async () => {
  const run = await openSidecar({ 'a.yaml': publisherFile('a'), 'b.yaml': publisherFile('b') })
  await run.start()
  expect(run.names()).toEqual(['a', 'b'])
  expect(run.sidecar.observed.ready).toBe(true)
  const foreign = publisherFile('x').replace('bindings.azure.eventgrid', 'bindings.cron')
  run.write({ 'a.yaml': publisherFile('a', { publishTimeout: '3s' }), 'c.yaml': publisherFile('c'), 'x.yaml': foreign })
  await eventually(() => expect(run.names()).toEqual(['a', 'c']))
  await eventually(() => expect(run.said('v1: output')).toHaveLength(4))
  expect(run.said('removed')).toEqual(['removed'])
  const notes = run.said('x.yaml')
  expect(notes).toHaveLength(1)
  run.write({
    'a.yaml': publisherFile('a', { publishTimeout: 'soon' }),
    'c.yaml': publisherFile('c'),
    'x.yaml': foreign,
  })
  await eventually(() => expect(run.said('nothing is changed: all components go on as before')).toHaveLength(1))
  expect(run.log.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).toEqual([
    expect.stringContaining('publishTimeout'),
  ])
  expect(run.said('every component file is valid again')).toEqual([])
  run.write({ 'a.yaml': publisherFile('a'), 'c.yaml': publisherFile('c'), 'x.yaml': foreign })
  await eventually(() => expect(run.said('every component file is valid again')).toHaveLength(1))
  run.failToLoad(new Error('no memory'))
  run.write({})
  await eventually(() => expect(run.said('the components could not be read again: no memory')).toHaveLength(1))
  expect(run.names()).toEqual(['a', 'c'])
  run.failToLoad(undefined)
  run.write({ 'c.yaml': publisherFile('c'), 'x.yaml': foreign })
  await eventually(() => expect(run.names()).toEqual(['c']))
  expect(run.said('x.yaml')).toEqual(notes)
  await eventually(() => expect(run.said('every component file is valid again')).toHaveLength(2))
  expect((await run.create('a', 1)).body).toContain("couldn't find output binding a")
})

it.each([{ when: 'at the start' }, { when: 'at a reload' }])(
  'opens every output before an input $when, so that a handler can publish through another component',
  async ({ when }) => {
    const { emulator, fields } = await startQueue()
    const { topicEndpoint, accessKey, ...input } = fields
    const files = {
      'a.yaml': componentFile('a', { ...input, direction: 'input' }),
      'b.yaml': componentFile('b', { topicEndpoint, accessKey }),
    }
    const app = await openDaprApp()
    const calls: { names: string[]; answer: ReturnType<typeof run.create> }[] = []
    const log = captureLog()
    const loggerOf = (name?: string) => ({
      ...log,
      info(message: string) {
        log.info(message)
        // Its events flow from here on.
        if (name === 'a' && message.endsWith('v1: input'))
          calls.push({ names: run.names(), answer: run.create('b', 1) })
      },
    })
    const options = { app: appAt(app.port), endpoints: emulator.endpoints, loggerOf }
    const run = await openSidecar(when === 'at the start' ? files : {}, options)
    await run.start()
    run.write(files)
    await eventually(() => expect(calls).toHaveLength(1))
    expect(calls[0]?.names).toEqual(['a', 'b'])
    expect((await calls[0]?.answer)?.status).toBe(200)
    const [post] = await app.received('POST', 1)
    expect(post?.path).toBe('/a')
  },
)

it('closes a new component again whose input can not be opened, and takes it in once that can be', async () => {
  const { emulator, fields } = await startQueue()
  const taken = createServer()
  const handshakePort = String(await listen(taken))
  const push = {
    ...{ handshakePort, scope: emulator.topic('orders').id, subscriberEndpoint: 'https://a.example.com/api/events' },
    ...{ tenantId: emulator.tenantId, subscriptionId: emulator.subscriptionId },
    ...{ clientId: emulator.clientId, clientSecret: emulator.clientSecret },
    ...{ topicEndpoint: fields.topicEndpoint, accessKey: fields.accessKey },
  }
  const run = await openSidecar({}, { endpoints: emulator.endpoints })
  await run.start()
  const file = componentFile('a', push)
  run.write({ 'a.yaml': file, 'b.yaml': publisherFile('b') })
  await eventually(() => expect(run.said('it is left out until a file changes')).toHaveLength(1))
  await eventually(() => expect(run.said('v1: output')).toHaveLength(1))
  expect(run.names()).toEqual(['b'])
  expect((await run.create('a', 1)).body).toContain("couldn't find output binding a")
  taken.close()
  run.write({ 'a.yaml': file.replace(handshakePort, String(await freePort())), 'b.yaml': publisherFile('b') })
  await eventually(() => expect(run.said('v1: input and output')).toHaveLength(1))
  expect((await run.create('a', 1)).status).toBe(200)
})

it('drains a removed component while the others change, and stays ready while another waits for its port', async () => {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }] })
  const handshakePort = String(await freePort())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${handshakePort}${pathname}`)
  const listener = (name: string) =>
    componentFile(name, { ...fieldsFor(emulator), handshakePort, eventSubscriptionName: `${name}orders` })
  const app = await openDaprApp()
  const { promise: held, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => held)
  const files = { 'a.yaml': listener('a'), 'b.yaml': publisherFile('b') }
  const run = await openSidecar(files, { app: appAt(app.port), endpoints: emulator.endpoints })
  await run.start()
  await eventually(() => expect(run.said('events go to the application at /a')).toHaveLength(1))
  await eventually(() => expect(run.said('is provisioned')).toHaveLength(1))
  expect((await run.create('a', 'first')).status).toBe(200)
  await app.received('POST', 1)
  run.write({ 'b.yaml': publisherFile('b', { publishTimeout: '3s' }), 'c.yaml': listener('c') })
  await eventually(() => expect(run.said('the output side starts anew')).toHaveLength(1))
  // Else one component would keep the deliveries of all others away.
  expect([run.names(), run.sidecar.observed.ready]).toEqual([['b', 'c'], true])
  expect(run.said('listening for handshakes')).toHaveLength(1)
  // The handler may still publish by its component.
  expect((await run.create('a', 'second')).status).toBe(200)
  answer(200)
  await eventually(() => expect(run.said('listening for handshakes')).toHaveLength(2))
  expect(run.said('removed')).toEqual(['removed'])
})

it('waits for the events of a removed component that is put back, and says so; other ports are free at once', async () => {
  const receiver = (name: string, handshakePort: number) =>
    componentFile(name, {
      ...{ subscriberEndpoint: 'https://shop.example/api/events', handshakePort: String(handshakePort) },
      ...{ scope: '/subscriptions/5f750a97-50d9-4e36-8081-c9ee4c0210d4', eventSubscriptionName: name },
      ...{ provisioning: 'none', deliveryAuthentication: 'none' },
    })
  const ports = { idle: await freePort(), busy: await freePort() }
  const app = await openDaprApp()
  const { promise: held, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => held)
  const busy = receiver('busy', ports.busy)
  const run = await openSidecar({ 'a.yaml': receiver('idle', ports.idle), 'b.yaml': busy }, { app: appAt(app.port) })
  await run.start()
  await eventually(() => expect(run.said('events go to')).toHaveLength(2))
  const delivery = fetch(`http://127.0.0.1:${ports.busy}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', 'aeg-event-type': 'Notification' },
    body: JSON.stringify({ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed' }),
  })
  await app.received('POST', 1)
  const heir = receiver('heir', ports.idle)
  run.write({ 'c.yaml': heir })
  await eventually(() => expect(run.said('listening')).toHaveLength(3))
  expect([run.names(), run.said('removed')]).toEqual([['heir'], []])
  run.write({ 'b.yaml': busy, 'c.yaml': heir })
  await eventually(() =>
    expect(run.said('waits for')).toEqual([
      'waits for the events under way of the removed component busy; no other change is taken over until then',
    ]),
  )
  answer(200)
  await eventually(() => expect(run.said('listening')).toHaveLength(4))
  expect([(await delivery).status, run.names()]).toEqual([200, ['busy', 'heir']])
})

it('names the file that a component has moved to, and opens nothing anew', async () => {
  const run = await openSidecar({ 'a.yaml': publisherFile('orders') })
  await run.start()
  run.write({ 'z.yaml': publisherFile('orders') })
  await eventually(() => expect(run.sidecar.observed.active().orders?.file).toBe('z.yaml'))
  expect([run.said('removed'), run.said('anew')]).toEqual([[], []])
})

it('is not ready without a component', async () => {
  const run = await openSidecar({})
  await run.start()
  expect(run.sidecar.observed.ready).toBe(false)
})

it('opens the gRPC API where it is asked for', async () => {
  const without = await openSidecar({})
  expect(await without.sidecar.listenGrpc()).toBeUndefined()
  const run = await openSidecar({}, { grpc: { host: '127.0.0.1', port: 0 } })
  expect(await run.sidecar.listenGrpc()).toBeGreaterThan(0)
})

it('tells of a component that receives, and of one that has no application to go to', async () => {
  const { emulator, fields } = await startQueue()
  const run = await openSidecar(
    { 'orders.yaml': componentFile('orders', fields), 'a.yaml': publisherFile('a') },
    { endpoints: emulator.endpoints },
  )
  await run.start()
  expect(run.said('there is no --app-port')).toEqual([
    'there is no --app-port: no events are received, and Event Grid keeps them',
  ])
  expect(run.said('bindings.azure.eventgrid v1: ')).toEqual([
    'bindings.azure.eventgrid v1: input and output',
    'bindings.azure.eventgrid v1: output',
  ])
  const { body } = await run.ask('/v1.0/metadata')
  expect(JSON.parse(body)).toEqual({
    id: 'shop',
    runtimeVersion: 'eventgrid-binding 1.2.3',
    components: [
      { name: 'a', type: 'bindings.azure.eventgrid', version: 'v1', capabilities: ['OUTPUT_BINDING'] },
      {
        name: 'orders',
        type: 'bindings.azure.eventgrid',
        version: 'v1',
        capabilities: ['INPUT_BINDING', 'OUTPUT_BINDING'],
      },
    ],
    extended: { daprRuntimeVersion: 'eventgrid-binding 1.2.3' },
    appConnectionProperties: {},
    actorRuntime: { runtimeStatus: 'DISABLED', hostReady: false },
  })
})

it('tells of component files that cannot be read, goes on meanwhile, and takes them over once they can', async () => {
  const first = { 'orders.yaml': publisherFile('orders') }
  const hung = Promise.withResolvers<typeof first>()
  let read = () => hung.promise
  const components = { read: () => read(), known: first, load: loadTexts }
  const run = await openSidecar(first, { components })
  const { observed } = run.sidecar
  await run.start()
  const fault = 'the component files could not be read in 10 s: a disk or a network mount may hang'
  await eventually(() => expect(run.said('could not be read')).toEqual([fault]))
  expect(observed.config()).toMatchObject({ successful: false, faults: [fault] })
  expect([run.names(), observed.ready]).toEqual([['orders'], true])
  read = async () => first
  hung.resolve(first)
  await eventually(() => expect(observed.config()).toMatchObject({ successful: true, faults: [] }))
  expect(run.said('valid again')).toHaveLength(1)
})
