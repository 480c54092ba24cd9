import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { deliverBrackets } from '../../../support/bracket-event.ts'
import { type AppCall, openDaprApp } from '../../../support/dapr-app.ts'
import { healthChecked, openHostWorld } from '../open-host.ts'

const dataOf = (calls: readonly AppCall[]) => calls.map(({ body }) => JSON.parse(body).data)
const create = (data: unknown, metadata = {}) => ({ operation: 'create', data, metadata })

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

/** The image's flags. */
const imageFlags = '--max-old-space-size=96 --max-semi-space-size=1'

// Linux tells the most memory that a process has taken.
it.runIf(existsSync('/proc/self/status'))(
  'stays within 256 MB with 100 events of 1 MB at once, and handles them all',
  async () => {
    const world = await openHostWorld()
    world.write('orders.yaml', { fields: { deliveryAuthentication: 'none' } })
    const app = await openDaprApp()
    app.answerWith(() => new Promise((resolve) => setTimeout(resolve, 1_000, 200)))
    const host = world.start(['--app-port', String(app.port)], { NODE_OPTIONS: imageFlags })
    await host.takesEvents('orders')
    const port = await host.port('orders')
    const data = 'x'.repeat(1_000_000)
    const deliver = async (id: number): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': 'ORDERS' },
        body: JSON.stringify({ specversion: '1.0', id: String(id), source: '/shop', type: 'order.placed', data }),
      })
      await answer.body?.cancel()
      // As Event Grid does: what was put off comes again.
      if (answer.status !== 200) await deliver(id)
    }
    await Promise.all(Array.from({ length: 100 }, (_, id) => deliver(id)))
    const [, peak] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${host.process.pid}/status`, 'utf8')) ?? []
    expect(Number(peak)).toBeLessThan(256 * 1_024)
    const posted = app.calls.filter(({ method }) => method === 'POST')
    expect(new Set(posted.map(({ body }) => JSON.parse(body).id)).size).toBe(100)
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
  await host.line(/ the event subscription .* is provisioned/)
  const isPutOff = async (id: string) => {
    await host.invoke('orders', create(id, { id }))
    const { deliveries } = world.emulator.records
    await deliveries.waitFor(({ status, eventIds }) => status === 503 && eventIds.includes(id))
  }
  await isPutOff('first')
  expect(await app.received('POST', 0)).toEqual([])
  wanted = true
  await app.received('POST', 1)
  app.feel(false)
  await host.line(/ warn {2}the application is unhealthy/)
  await isPutOff('second')
  expect(dataOf(await app.received('POST', 0))).toEqual(['first'])
  app.feel(true)
  await world.emulator.settled()
  expect(dataOf(await app.received('POST', 2))).toEqual(['first', 'second'])
})

it('ends though the application takes no events', async () => {
  const world = await openHostWorld()
  const app = await openDaprApp({ subscribed: () => false })
  const host = world.start(['--app-port', String(app.port)])
  await app.received('OPTIONS', 1)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})
