import { expect, it } from 'vitest'
import { ManualClock } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'
import { callNamespace, openInterface, orders } from './open-interface.ts'

/** Two event subscriptions of `orders`: `billing` takes all, `returns` returned ones. A third topic has none. */
async function openShop() {
  const subscriber = await startSubscriber()
  const clock = new ManualClock(1_700_000_000_000)
  const opened = await openInterface({
    ...{ clock, retrySchedule: [1000], random: () => 0 },
    topics: [{ name: 'orders' }, { name: 'parcels' }],
    ingress: [{ from: 'https://shop.example.com/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        ...{ name: 'billing', topic: 'orders', endpoint: 'https://shop.example.com/billing' },
        properties: { retryPolicy: { maxDeliveryAttempts: 2 } },
      },
      {
        ...{ name: 'returns', topic: 'orders', endpoint: 'https://shop.example.com/returns' },
        properties: { filter: { includedEventTypes: ['order.returned'] } },
      },
    ],
  })
  await opened.emulator.idle()
  return { ...opened, subscriber, clock }
}

it('says of an event what became of it at each event subscription, with each attempt', async () => {
  const { call, emulator, subscriber } = await openShop()
  subscriber.answer({ status: 503 }, { status: 200 })
  await call('POST', '/emulator/topics/orders/raise', orders('1'))
  await emulator.idle()
  const pending = await call('GET', '/emulator/events')
  const at = 1_700_000_000_000
  const attempt = { at, status: 503, outcome: 'retry', durationMs: expect.any(Number), nextTryAt: at + 1000 }
  expect(pending.body).toEqual({
    leftOut: 0,
    events: [
      {
        ...{ key: expect.any(Number), at, topic: 'orders', topicId: emulator.topic('orders').id },
        ...{ id: '1', type: 'order.placed', subject: 'orders/1', schema: 'CloudEventSchemaV1_0' },
        ...{ event: orders('1')[0], body: JSON.stringify(orders('1')[0]), furtherSubscriptions: 0 },
        subscriptions: [
          {
            ...{ name: 'billing', id: expect.stringMatching(/orders.*\/eventSubscriptions\/billing$/) },
            ...{ state: 'pending', tries: 1, nextTryAt: at + 1000, attempts: [attempt] },
          },
          {
            ...{ name: 'returns', id: expect.stringMatching(/orders.*\/eventSubscriptions\/returns$/) },
            ...{ state: 'unmatched', tries: 0, attempts: [], reason: 'the event has the type order.placed' },
          },
        ],
      },
    ],
  })
  await emulator.advance(1000)
  const [event] = (await call('GET', '/emulator/events')).body.events
  expect(event.subscriptions[0]).toMatchObject({
    ...{ state: 'delivered', tries: 2 },
    attempts: [attempt, { at: at + 1000, status: 200, outcome: 'delivered' }],
  })
})

it('shows different fates of one event, and why it was dropped', async () => {
  const { call, emulator, subscriber } = await openShop()
  subscriber.answerTo('/billing', { status: 400 })
  emulator.raise('orders', [{ ...orders('1')[0], type: 'order.returned' }])
  await emulator.idle()
  const { events } = (await call('GET', '/emulator/events?type=order.returned')).body
  const fates = events[0].subscriptions.map((one: Record<string, unknown>) => [one.name, one.state, one.reason])
  expect(fates).toEqual([
    ['billing', 'dropped', 'UndeliverableDueToClientError'],
    ['returns', 'delivered', undefined],
  ])
  const { deadLetters } = (await call('GET', '/emulator/dead-letters')).body
  expect(deadLetters).toEqual([
    {
      ...{ at: 1_700_000_000_000, subscription: 'billing', reason: 'UndeliverableDueToClientError' },
      subscriptionId: expect.stringMatching(/billing$/),
      event: expect.objectContaining({ id: '1', deliveryattempts: 1, lasthttpstatuscode: 400 }),
    },
  ])
})

it('says that an event subscription which came later, or was deleted, was not there', async () => {
  const { call, emulator } = await openShop()
  emulator.raise('parcels', orders('1'))
  emulator.reconfigure({
    topics: [{ name: 'orders' }, { name: 'parcels' }],
    eventSubscriptions: [{ name: 'late', topic: 'parcels', endpoint: 'https://shop.example.com/late' }],
  })
  const { events } = (await call('GET', '/emulator/events?topic=parcels')).body
  expect(events.map((one: { subscriptions: unknown }) => one.subscriptions)).toEqual([[]])
})

it('says why an event that matches is not served', async () => {
  const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.EventHub/namespaces/n/eventhubs/hub'
  const { call, emulator } = await openInterface({
    eventSubscriptions: [
      {
        ...{ name: 'hub', topic: 'orders' },
        properties: { destination: { endpointType: 'EventHub', properties: { resourceId: source } } },
      },
    ],
  })
  emulator.raise('orders', orders('1'))
  const { events } = (await call('GET', '/emulator/events')).body
  const reason = expect.stringContaining('Event Hubs')
  expect(events[0].subscriptions).toMatchObject([{ name: 'hub', state: 'unserved', reason }])
})

it('follows an event of a namespace topic from its receiver to its end', async () => {
  const { call, emulator } = await openInterface({
    namespaces: [
      {
        name: 'shop',
        topics: [
          {
            name: 'orders',
            eventSubscriptions: [
              { name: 'all' },
              { name: 'returned', properties: { filtersConfiguration: { includedEventTypes: ['order.returned'] } } },
            ],
          },
        ],
      },
    ],
  })
  const { endpoint, key, namespaceEndpoint } = emulator.namespaceTopic('orders')
  const post = callNamespace(emulator, key)
  await post(endpoint, orders('1')[0])
  const states = async () => {
    const { events } = (await call('GET', '/emulator/events?topic=shop/orders')).body
    return events[0].subscriptions.map((one: Record<string, unknown>) => `${one.name} ${one.state} ${one.tries}`)
  }
  expect(await states()).toEqual(['all pending 0', 'returned unmatched 0'])
  const of = `${namespaceEndpoint}/topics/orders/eventsubscriptions/all`
  const { value } = await post(`${of}:receive`)
  expect(await states()).toEqual(['all pending 1', 'returned unmatched 0'])
  await post(`${of}:acknowledge`, { lockTokens: [value[0]?.brokerProperties.lockToken] })
  expect(await states()).toEqual(['all delivered 1', 'returned unmatched 0'])
})

it('raises events as services do, and finds them by the name of the system topic', async () => {
  const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
  const { call } = await openInterface({ systemTopics: [{ name: 'uploads', source }] })
  const event = { eventType: 'Microsoft.Storage.BlobCreated', subject: '/blobServices/default/containers/a', data: {} }
  expect((await call('POST', '/emulator/topics/uploads/raise', event)).body).toEqual({ raised: 1 })
  expect((await call('POST', `/emulator/topics/${encodeURIComponent(source)}/raise`, [event, event])).body).toEqual({
    raised: 2,
  })
  for (const topic of ['uploads', 'photos', source]) {
    const { events } = (await call('GET', `/emulator/events?topic=${encodeURIComponent(topic)}`)).body
    expect([topic, events.length, events[0].topicId]).toEqual([topic, 3, source])
  }
})

it('chooses by topic, type and subject, and gives the newest of many, oldest first', async () => {
  const { call, emulator } = await openShop()
  emulator.raise('orders', orders('1', '2', '3'))
  emulator.raise('parcels', orders('4'))
  const ids = async (query: string) =>
    (await call('GET', `/emulator/events${query}`)).body.events.map((one: { id: string }) => one.id)
  expect(await ids('')).toEqual(['1', '2', '3', '4'])
  expect(await ids('?limit=2')).toEqual(['3', '4'])
  expect(await ids('?topic=ORDERS&limit=2')).toEqual(['2', '3'])
  expect(await ids(`?topic=${encodeURIComponent(emulator.topic('parcels').id)}`)).toEqual(['4'])
  expect(await ids('?subject=orders/2')).toEqual(['2'])
  expect(await ids('?type=order.returned')).toEqual([])
})

it('keeps thousands of events, a long one as it was sent, while the state lists 300 of them', async () => {
  const { call, emulator } = await openShop()
  emulator.raise('parcels', orders(...Array.from({ length: 2000 }, (_, index) => `${index}`)))
  const long = { ...orders('long')[0], data: 'x'.repeat(100_000) }
  emulator.raise('parcels', [long])
  const { events, leftOut } = (await call('GET', '/emulator/events')).body
  expect([events.length, leftOut, events[0].id]).toEqual([2001, 0, '0'])
  expect(events.at(-1)).toMatchObject({ event: long, body: JSON.stringify(long) })
  const { body: state } = await call('GET', '/emulator/state')
  expect([state.events.length, state.limit, state.leftOut.events, state.events[0].id]).toEqual([300, 300, 1701, 'long'])
})

it('delivers a long event once more', async () => {
  const { call, emulator, subscriber } = await openShop()
  emulator.raise('orders', [{ ...orders('long')[0], data: 'x'.repeat(100_000) }])
  await emulator.idle()
  const { events } = (await call('GET', '/emulator/events')).body
  expect((await call('POST', `/emulator/events/${events[0].key}/redeliver`)).status).toBe(204)
  await emulator.idle()
  expect(subscriber.deliveries()).toHaveLength(2)
})

it('keeps the digits of numbers in the body', async () => {
  const { call, emulator } = await openShop()
  const text = '{"specversion":"1.0","id":"1","source":"/s","type":"t","data":9007199254740993}'
  await fetch(emulator.topic('orders').httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': emulator.topic('orders').key, 'content-type': 'application/cloudevents+json' },
    body: text,
  })
  expect((await call('GET', '/emulator/events')).body.events[0].body).toContain('"data":9007199254740993')
})
