import { expect, it } from 'vitest'
import { deliverBrackets } from '../../../support/bracket-event.ts'
import { type AppCall, openDaprApp } from '../../../support/dapr-app.ts'
import { freePort } from '../../../support/free-port.ts'
import { healthChecked, openHostWorld } from '../open-host.ts'

const dataOf = (calls: readonly AppCall[]) => calls.map(({ body }) => JSON.parse(body).data)
const create = (data: unknown, metadata = {}) => ({ operation: 'create', data, metadata })

it('says that an application is slow to say whether it takes events, not that it cannot be reached', async () => {
  const world = await openHostWorld()
  const { promise: asked, resolve: answer } = Promise.withResolvers<boolean>()
  const app = await openDaprApp({ subscribed: () => asked })
  const host = world.start(['--app-port', String(app.port)])
  await host.line(
    / warn {2}the application does not answer in 3 s whether it takes events at \/orders\. .*component=orders/,
  )
  answer(true)
  await host.takesEvents('orders')
  expect(host.lines.join('\n')).not.toContain('be reached')
})

it('posts an event to the path of the component, as Dapr does, and none of the credential', async () => {
  const world = await openHostWorld()
  // As good as none.
  world.write('orders.yaml', { fields: { route: '' } })
  const app = await openDaprApp()
  const host = world.start(['--app-port', String(app.port)], { APP_API_TOKEN: 'for-the-application' })
  await host.takesEvents('orders')
  const { status, headers, body } = await host.invoke('orders', create({ order: 1 }, { type: 'order.placed' }))
  await world.emulator.settled()
  const posts = await app.received('POST', 1)
  expect({ status, body, count: headers.get('metadata.count') }).toEqual({ status: 200, body: '', count: '1' })
  expect(JSON.parse(headers.get('metadata.ids') ?? '')).toEqual([JSON.parse(posts[0]?.body ?? '').id])
  expect(posts.map(({ path }) => path)).toEqual(['/orders'])
  expect(JSON.parse(posts[0]?.body ?? '')).toMatchObject({
    type: 'order.placed',
    data: { order: 1 },
    specversion: '1.0',
  })
  expect(posts[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'aeg-delivery-count': '0',
    'dapr-api-token': 'for-the-application',
  })
  expect(Object.keys(posts[0]?.headers ?? {})).not.toContain('x-eventgrid-binding-token')
})

it('has an event delivered again that the application answers 500 or 101, cuts off, or leaves unanswered', async () => {
  const world = await openHostWorld()
  world.write('orders.yaml', { fields: { handlerTimeout: '300ms' } })
  const app = await openDaprApp()
  app.answerWith((_call, index) => ([500, 'upgrade', 'drop', 'hang'] as const)[index] ?? 200)
  const host = world.start(['--app-port', String(app.port)])
  await host.takesEvents('orders')
  await host.invoke('orders', create('once'))
  await world.emulator.settled()
  expect(dataOf(await app.received('POST', 5))).toEqual(Array(5).fill('once'))
  expect(world.emulator.figures()).toMatchObject({ delivered: 1, deadLettered: 0 })
})

it('gets by with a heap of 128 MB for ten events under way that would take 280 MB when parsed', async () => {
  const world = await openHostWorld()
  world.write('orders.yaml', { fields: { deliveryAuthentication: 'none' } })
  const app = await openDaprApp()
  const { promise, resolve: answer } = Promise.withResolvers<number>()
  app.answerWith(() => promise)
  const host = world.start(['--app-port', String(app.port)], { NODE_OPTIONS: '--max-old-space-size=128' })
  await host.takesEvents('orders')
  const port = await host.port('orders')
  const statuses = deliverBrackets(port ?? '')
  await app.received('POST', 10)
  answer(200)
  expect(await statuses).toEqual(Array(10).fill(200))
})

it('loses nothing while the application is not up yet, and nothing that it died with', async () => {
  const world = await openHostWorld()
  const port = await freePort()
  const host = world.start(['--app-port', String(port)])
  await host.line(
    new RegExp(
      ` warn {2}.* not there yet: nothing listens on 127\\.0\\.0\\.1:${port} \\(--app-address, --app-port\\); .* keeps them$`,
    ),
  )
  await host.line(/ info {2}the event subscription .* is provisioned.* component=orders/)
  expect([await host.get('/v1.0/healthz'), await host.get('/v1.0/healthz/outbound')]).toMatchObject([
    { status: 500, body: JSON.stringify({ errorCode: 'ERR_HEALTH_NOT_READY', message: 'dapr is not ready: [app]' }) },
    { status: 204, body: '' },
  ])
  await host.invoke('orders', create('early'))
  await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)

  const first = await openDaprApp({ port })
  first.answerWith(() => 'hang')
  await first.received('POST', 1)
  expect((await host.get('/v1.0/healthz')).status).toBe(204)
  await first.close()
  const second = await openDaprApp({ port })
  await world.emulator.settled()
  expect(dataOf(await second.received('POST', 1))).toEqual(['early'])
  expect(world.emulator.figures()).toMatchObject({ delivered: 1, deadLettered: 0 })
})

it('says once that the application is gone and once that it is back, and answers 503 in between', async () => {
  const world = await openHostWorld()
  const port = await freePort()
  const first = await openDaprApp({ port })
  const host = world.start(['--app-port', String(port)])
  await host.takesEvents('orders')
  await host.invoke('orders', create('before'))
  await world.emulator.settled()
  await first.close()
  await host.invoke('orders', create('meanwhile'))
  await host.line(/ warn {2}the application is gone: nothing listens on 127\.0\.0\.1:\d+ .*; .*Event Grid keeps them$/)
  await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)
  expect((await host.get('/v1.0/healthz')).status).toBe(204)

  const second = await openDaprApp({ port })
  await host.line(/ info {2}the application is back on port/)
  await world.emulator.settled()
  expect(dataOf(await second.received('POST', 1))).toEqual(['meanwhile'])
  expect(host.lines.flatMap((line) => / the application is (\w+)/.exec(line)?.[1] ?? [])).toEqual([
    'up',
    'gone',
    'back',
  ])
  const failed = world.emulator.records.deliveries.all().filter(({ status }) => status === 500)
  expect(failed).toHaveLength(1)
})

it.each(['output, INPUT', '["output","input"]'])(
  'asks for nothing and posts to the route where the component says direction %s and route',
  async (direction) => {
    const world = await openHostWorld()
    world.write('orders.yaml', { fields: { Direction: direction, ROUTE: '/from/event grid' } })
    const app = await openDaprApp({ subscribed: () => false })
    const host = world.start(['--app-port', String(app.port)])
    await host.takesEvents('orders')
    await host.invoke('orders', create(null))
    await world.emulator.settled()
    expect(app.calls.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /from/event%20grid'])
  },
)

it('answers 503 while the application says that it is unwell, or that it does not subscribe', async () => {
  const world = await openHostWorld()
  let wanted = false
  const app = await openDaprApp({ subscribed: () => wanted })
  const host = world.start(['--app-port', String(app.port), ...healthChecked(2)])
  const refused = 'the application answers OPTIONS /orders with 404, .* direction: input into the component'
  const meanwhile = 'Until then deliveries get 503, and Event Grid sends them again'
  await host.line(new RegExp(` warn {2}${refused}\\. ${meanwhile} component=orders$`))
  wanted = true
  await host.takesEvents('orders')
  app.feel(false)
  await host.line(/ warn {2}the application is unhealthy/)
  await host.invoke('orders', create('patience'))
  await world.emulator.records.deliveries.waitFor(({ status }) => status === 503)
  expect((await app.received('POST', 0)).length).toBe(0)
  app.feel(true)
  await world.emulator.settled()
  expect(dataOf(await app.received('POST', 1))).toEqual(['patience'])
})

it('says once that the application takes no events, and hands it none while it is unwell, whatever it answers', async () => {
  const world = await openHostWorld()
  let wanted: boolean | Promise<boolean> = false
  const app = await openDaprApp({ subscribed: () => wanted })
  const host = world.start(['--app-port', String(app.port), ...healthChecked(1)])
  await app.received('OPTIONS', 2)
  const { promise, resolve: answer } = Promise.withResolvers<boolean>()
  wanted = promise
  await app.received('OPTIONS', 3)
  app.feel(false)
  await host.line(/ warn {2}the application is unhealthy/)
  answer(true)
  // As long as it takes to ask again, were it asked.
  await app.received('GET', (await app.received('GET', 0)).length + 25)
  expect(await app.received('OPTIONS', 0)).toHaveLength(3)
  expect(host.lines.join('\n')).not.toContain('events go to the application')
  app.feel(true)
  await host.takesEvents('orders')
  expect(host.lines.filter((line) => line.includes('the application answers OPTIONS'))).toHaveLength(1)
})

it('ends though the application takes no events', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp({ subscribed: () => false })
  const host = world.start(['--app-port', String(app.port)])
  await app.received('OPTIONS', 1)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})

it('says of a component without an output that it does not publish', async () => {
  const world = await openHostWorld()
  world.write('orders.yaml', { fields: { topicEndpoint: undefined, accessKey: undefined } })
  const host = world.start()
  expect(await host.invoke('orders', { operation: 'create' })).toMatchObject({
    status: 500,
    body: expect.stringContaining('SIDE_NOT_CONFIGURED'),
  })
})
