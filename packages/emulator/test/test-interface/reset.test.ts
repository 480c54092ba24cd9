import { createServer, type ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { credentialOf, send } from '../../../../test/support/azure-clients.ts'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { listen } from '../../../../test/support/listen.ts'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ManualClock } from '../../src/index.ts'
import { startSlowEndpoint, startSubscriber } from '../subscriber.ts'
import { callAt, callNamespace, openInterface, orders } from './open-interface.ts'

const shop = (url: string) => ({
  ingress: [{ from: 'https://shop.example.com/', to: `${url}/` }],
  eventSubscriptions: [{ name: 'billing', topic: 'orders', endpoint: 'https://shop.example.com/billing' }],
})

/** The same, with a container for dead letters. */
function shopWithLetters(url: string) {
  const properties = { resourceId: storageAccountId, blobContainerName: 'events' }
  const deadLetterDestination = { endpointType: 'StorageBlob', properties }
  const { ingress, eventSubscriptions } = shop(url)
  const withLetters = eventSubscriptions.map((one) => ({ ...one, properties: { deadLetterDestination } }))
  return { ingress, eventSubscriptions: withLetters }
}

it('forgets events, records and faults, twice as well as once; topics and event subscriptions stay', async () => {
  const subscriber = await startSubscriber()
  const { call, emulator } = await openInterface(shop(subscriber.url))
  await emulator.idle()
  for (const round of ['1', '2']) {
    subscriber.answer({ status: 503 })
    emulator.failNext({ route: 'topic', status: 500 })
    emulator.raise('orders', orders(round))
    await emulator.idle()
    expect(emulator.pending).toBe(1)
    expect((await call('POST', '/emulator/reset')).status).toBe(204)
    expect((await call('POST', '/emulator/reset', {})).status).toBe(204)
    expect(emulator.pending).toBe(0)
    expect((await call('GET', '/emulator/events')).body).toEqual({ events: [], leftOut: 0 })
    expect(emulator.figures()).toMatchObject({ published: 0, delivered: 0, failed: 0 })
    expect(emulator.records.deliveries.length + emulator.records.requests.length).toBe(0)
    const { httpEndpoint, key } = emulator.topic('orders')
    const publish = await fetch(httpEndpoint, {
      method: 'POST',
      headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(orders('after')),
    })
    expect(publish.status).toBe(200)
    expect((await call('POST', '/emulator/settle')).body).toEqual({ settled: true })
    const [event] = (await call('GET', '/emulator/events')).body.events
    expect([event.id, event.subscriptions[0].state]).toEqual(['after', 'delivered'])
  }
})

it('fills the buckets of throttling', async () => {
  const { emulator, call } = await openInterface({
    ...{ clock: new ManualClock(), throttling: true, clients: [{ roles: [{ role: 'Reader' }] }] },
  })
  const { id, httpEndpoint, key } = emulator.topic()
  const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
  const read = () => send(emulator, `${id}?api-version=2025-02-15`, { headers: { authorization: `Bearer ${token}` } })
  const body = JSON.stringify(orders(...Array.from({ length: 5000 }, (_, index) => `${index}`)))
  const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' }
  const publish = () => fetch(httpEndpoint, { method: 'POST', headers, body })
  const statuses = async () => [(await read()).status, (await publish()).status]
  expect(await statuses()).toEqual([200, 200])
  await Promise.all(Array.from({ length: 249 }, read))
  expect(await statuses()).toEqual([429, 429])
  await call('POST', '/emulator/reset')
  expect(await statuses()).toEqual([200, 200])
})

it('leaves no trace of a delivery that is under way', async () => {
  const first = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => {
    if (request.method !== 'OPTIONS') return first.resolve(response)
    response.setHeader('webhook-allowed-origin', request.headers['webhook-request-origin'] ?? '').end()
  })
  const { call, emulator } = await openInterface(shop(`http://127.0.0.1:${await listen(server)}`))
  await emulator.idle()
  emulator.raise('orders', orders('1'))
  const delivery = await first.promise
  const settled = call('POST', '/emulator/settle', { timeout: '1m' })
  await call('POST', '/emulator/reset')
  expect((await settled).status).toBe(200)
  delivery.end()
  await emulator.idle()
  expect(emulator.records.deliveries.length).toBe(0)
  expect((await call('GET', '/emulator/events')).body.events).toEqual([])
  expect(emulator.figures().delivered).toBe(0)
})

it.each([
  ['delayed before it is sent', { route: 'delivery', delayMs: 60_000 }],
  ['given up, and waits to be written', { route: 'delivery', status: 400 }],
] as const)('forgets an event that is %s', async (_what, fault) => {
  const subscriber = await startSubscriber()
  const clock = new ManualClock()
  const { call, emulator } = await openInterface({ clock, ...shopWithLetters(subscriber.url) })
  await emulator.idle()
  emulator.failNext(fault)
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  expect(emulator.pending).toBe(1)
  await call('POST', '/emulator/reset')
  expect(emulator.pending).toBe(0)
  await emulator.advance(3_600_000)
  expect(subscriber.deliveries()).toEqual([])
  expect((await call('GET', '/emulator/dead-letters')).body).toEqual({ deadLetters: [] })
  expect(emulator.records.deliveries.length).toBe(0)
})

it('forgets a dead letter while it is written', async () => {
  const subscriber = await startSubscriber()
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const write = async () => {
    begun.resolve()
    await end.promise
  }
  const letters = { deadLetterDelay: 0, deadLetterStore: { write } }
  const { call, emulator } = await openInterface({ ...shopWithLetters(subscriber.url), ...letters })
  await emulator.idle()
  subscriber.answer({ status: 400 })
  emulator.raise('orders', orders('1'))
  await begun.promise
  await call('POST', '/emulator/reset')
  end.resolve()
  await emulator.idle()
  expect([emulator.pending, emulator.records.deadLetters.length]).toEqual([0, 0])
  expect((await call('GET', '/emulator/events')).body.events).toEqual([])
})

it('empties the queues of receivers, whose tokens are lost, and leaves them waiting', async () => {
  const { call, emulator } = await openInterface({
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'all' }] }] }],
  })
  const { key, endpoint, namespaceEndpoint } = emulator.namespaceTopic('orders')
  const post = callNamespace(emulator, key)
  const of = `${namespaceEndpoint}/topics/orders/eventsubscriptions/all`
  await post(endpoint, orders('1')[0])
  const { value } = await post(`${of}:receive`)
  await post(endpoint, orders('2')[0])
  await call('POST', '/emulator/reset')
  const waiting = post(`${of}:receive`)
  expect([...emulator.queues().values()]).toEqual([{ available: 0, locked: 0, delayed: 0 }])
  const lost = await post(`${of}:acknowledge`, { lockTokens: [value[0]?.brokerProperties.lockToken] })
  expect(lost.failedLockTokens).toHaveLength(1)
  await call('POST', '/emulator/reset')
  await post(endpoint, orders('3')[0])
  expect((await waiting).value.map(({ event }) => event.id)).toEqual(['3'])
})

it('forgets what a state file has of events', async () => {
  const subscriber = await startSubscriber()
  const state = `${temporaryFolder()}/state`
  const { call, emulator } = await openInterface({ ...shop(subscriber.url), state })
  await emulator.idle()
  subscriber.answer({ status: 503 })
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  await call('POST', '/emulator/reset')
  await emulator.close()
  const again = await openInterface({ ...shop(subscriber.url), state })
  expect(again.emulator.pending).toBe(0)
})

it('with resources, brings back what was declared and removes the rest, twice', async () => {
  const subscriber = await startSubscriber()
  const { call, emulator } = await openInterface({
    ...shop(subscriber.url),
    topics: [{ name: 'orders', keys: ['Zmlyc3Q=', 'c2Vjb25k'] }],
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'all' }] }] }],
  })
  await emulator.idle()
  const declared = [emulator.roles(), emulator.eventSubscriptions().map(({ name }) => name)]
  for (const round of [1, 2]) {
    emulator.addTopic({ name: `made-${round}` })
    emulator.removeTopic('orders')
    emulator.removeRoles(emulator.clientId)
    emulator.assignRole(emulator.clientId, 'Owner')
    emulator.unregisterProvider()
    await emulator.idle()
    expect(emulator.eventSubscriptions()).toEqual([])
    expect((await call('POST', '/emulator/reset', { resources: true })).status).toBe(204)
    expect(emulator.topics().map(({ name, key }) => [name, key])).toEqual([['orders', 'Zmlyc3Q=']])
    expect([emulator.roles(), emulator.eventSubscriptions().map(({ name }) => name)]).toEqual(declared)
    expect([...emulator.queues().keys()]).toHaveLength(1)
    // Its handshake is over: what is published now is delivered.
    emulator.raise('orders', orders(`${round}`))
    expect((await call('POST', '/emulator/settle')).status).toBe(200)
    const events = subscriber.deliveries().filter(({ headers }) => headers['aeg-event-type'] === 'Notification')
    expect(events).toHaveLength(round)
  }
})

it('answers a reset with resources when the handshakes are over, however slow the endpoint is', async () => {
  quickenTime()
  const { call, emulator } = await openInterface(shop(await startSlowEndpoint()))
  await emulator.idle()
  emulator.removeTopic('orders')
  await emulator.idle()
  expect((await call('POST', '/emulator/reset', { resources: true })).status).toBe(204)
  emulator.raise('orders', orders('1'))
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
  expect(emulator.events().events[0]?.subscriptions[0]).toMatchObject({ state: 'delivered' })
})

it('answers many resets and waits at once', async () => {
  const subscriber = await startSubscriber()
  const { call, emulator } = await openInterface({ ...shop(subscriber.url), retrySchedule: [20] })
  await emulator.idle()
  subscriber.answerTo('/billing', { status: 503 })
  emulator.raise('orders', orders('1', '2'))
  const waits = Array.from({ length: 8 }, () => call('POST', '/emulator/settle', { timeout: '1m' }))
  const reads = Array.from({ length: 8 }, () => call('GET', '/emulator/events'))
  const resets = [false, true, false, true].map((resources) => call('POST', '/emulator/reset', { resources }))
  const statuses = (await Promise.all([...waits, ...reads, ...resets])).map(({ status }) => status)
  expect(statuses).toEqual([...waits.map(() => 200), ...reads.map(() => 200), ...resets.map(() => 204)])
})

it('says when a wait is over what is pending, by event subscription', async () => {
  const subscriber = await startSubscriber()
  const { call, emulator } = await openInterface(shop(subscriber.url))
  await emulator.idle()
  subscriber.answer({ status: 503 })
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  const { status, body } = await call('POST', '/emulator/settle', { timeout: '1ms' })
  expect([status, body.pending]).toEqual([
    408,
    [
      {
        ...{ subscription: 'billing', topic: 'orders', subscriptionId: expect.stringMatching(/billing$/) },
        detail: expect.stringMatching(/^1 event, next try in \d+ s, last answer 503$/),
      },
    ],
  ])
  expect(body.detail).toContain('events are still pending after 1 ms')
})

it('is closed while a wait goes on', async () => {
  const subscriber = await startSubscriber()
  const { emulator } = await openInterface(shop(subscriber.url))
  await emulator.idle()
  subscriber.answer({ status: 503 })
  emulator.raise('orders', orders('1'))
  await emulator.idle()
  const wait = callAt(emulator.proxy, 'POST', '/emulator/settle', { timeout: '10m' }).then(
    ({ status }) => status,
    () => 'closed',
  )
  await callAt(emulator.proxy, 'GET', '/emulator/dead-letters')
  await emulator.close()
  expect(['closed', 200]).toContain(await wait)
})
