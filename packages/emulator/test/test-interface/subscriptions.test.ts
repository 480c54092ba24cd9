// Event subscriptions that a test makes and removes by the interface, without Entra and Resource Manager.
import { expect, it } from 'vitest'
import { functionId } from '../../../../test/support/azure-ids.ts'
import { ManualClock } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'
import { openInterface, orders } from './open-interface.ts'

const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.EventGrid'
const path = '/emulator/subscriptions'

it('makes one whose webhook is a local URL, delivers to it what its filter matches, and removes it', async () => {
  const { call, emulator } = await openInterface({ topics: [{ name: 'orders' }, { name: 'returns' }] })
  const subscriber = await startSubscriber()
  const filter = { advancedFilters: [{ operatorType: 'NumberGreaterThan', key: 'data.amount', value: 10 }] }
  const body = {
    name: 'audit',
    topic: 'returns',
    endpoint: `${subscriber.url}/hook?code=s3cret`,
    properties: { filter },
  }
  const made = await call('POST', path, body)
  expect(made).toMatchObject({ status: 200, body: { name: 'audit', state: 'Succeeded', handshake: { status: 200 } } })
  expect(JSON.stringify(made.body)).not.toContain('s3cret')
  expect((await call('GET', path)).body).toEqual({ subscriptions: [made.body] })
  const [plain, dear] = orders('1', '2')
  emulator.raise('returns', [plain, { ...dear, data: { amount: 11 } }])
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
  expect(subscriber.deliveries().map(({ url, body }) => [url, JSON.parse(body).id])).toEqual([
    ['/hook?code=s3cret', '2'],
  ])
  const { body: told } = await call('GET', '/emulator/events')
  expect(told.events[0].subscriptions).toMatchObject([
    { name: 'audit', state: 'unmatched', reason: 'the event has no key data.amount' },
  ])
  expect((await call('DELETE', `${path}?name=audit&topic=returns`)).status).toBe(204)
  expect((await call('GET', path)).body).toEqual({ subscriptions: [] })
  expect((await call('DELETE', `${path}?name=audit&topic=returns`)).status).toBe(404)
})

it('replaces the one with that name, and takes what Resource Manager takes, at the first topic', async () => {
  const { call, emulator } = await openInterface()
  const [first, second] = [await startSubscriber(), await startSubscriber()]
  for (const { url } of [first, second]) {
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://shop.example.com/hook' } }
    emulator.setIngress([{ from: 'https://shop.example.com/', to: url }])
    const properties = { destination, retryPolicy: { maxDeliveryAttempts: 2 } }
    expect((await call('POST', path, { name: 'audit', properties })).body).toMatchObject({
      retry: '2 tries within 1440 min',
    })
  }
  emulator.raise('orders', orders('1'))
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
  expect([first, second].map((one) => one.deliveries().length)).toEqual([0, 1])
})

it('answers 409 with the reason where the endpoint has not consented, and asks again', async () => {
  const { call, emulator } = await openInterface({ clock: new ManualClock() })
  const subscriber = await startSubscriber()
  subscriber.onHandshake(() => ({ status: 503 }))
  const body = { name: 'audit', endpoint: subscriber.url }
  const refused = await call('POST', path, body)
  expect(refused.status).toBe(409)
  expect(refused.body.detail).toMatch(/^event subscription audit is there, but gets no events: .*ServiceUnavailable/)
  await expect(emulator.addEventSubscription(body)).rejects.toMatchObject({
    name: 'UnservedError',
    subscription: { name: 'audit', provisioningState: 'Failed' },
  })
  subscriber.onHandshake(() => ({ status: 200 }))
  expect((await call('POST', path, body)).body.detail).toContain('lacks the header WebHook-Allowed-Origin')
  expect((await call('GET', path)).body.subscriptions).toMatchObject([{ state: 'AwaitingManualAction' }])
  const properties = {
    destination: {
      endpointType: 'NamespaceTopic',
      properties: { resourceId: emulator.topic().id.replace('/topics/orders', '/namespaces/gone/topics/gone') },
    },
  }
  expect((await call('POST', path, { name: 'moved', properties })).body.detail).toContain(
    'Destination endpoint not found',
  )
})

it.each([
  { body: {}, says: /name/ },
  { body: { name: 'audit' }, says: /needs an endpoint/ },
  { body: { name: 'a', endpoint: 'http://127.0.0.1:3000/' }, says: /Invalid event subscription name/ },
  { body: { name: 'audit', topic: 'order', endpoint: 'http://127.0.0.1:3000/' }, says: /topic .*orders/ },
  { body: { name: 'audit', endpoint: 'ftp://127.0.0.1/' }, says: /endpoint must be an https URL/ },
  { body: { name: 'audit', endpoint: 'http://[::1]:3000/' }, says: /endpoint must be an https URL/ },
  { body: { name: 'audit', endpoint: 'http://127.0.0.1:3000/', properties: { filter: { a: 1 } } }, says: /filter/ },
  { body: { name: 'audit', endpont: 'http://127.0.0.1:3000/' }, says: /endpont is not a field; did you mean endpoint/ },
  {
    body: { name: 'audit', scope: '/subscriptions/1/resourceGroups/rg', endpoint: 'http://127.0.0.1:3000/' },
    says: /scope names a subscription that is not there/,
  },
  {
    body: { name: 'audit', scope: `${group}/topics/oders`, endpoint: 'http://127.0.0.1:3000/' },
    says: /there is no .*topics\/oders"; did you mean orders/,
  },
  {
    body: {
      ...{ name: 'audit', endpoint: 'http://127.0.0.1:3000/' },
      properties: { destination: { endpointType: 'AzureFunction', properties: { resourceId: functionId } } },
    },
    says: /endpoint is that of a webhook: leave it out beside a destination of the type AzureFunction/,
  },
])('refuses $body with what is wrong, and makes nothing', async ({ body, says }) => {
  const { call } = await openInterface()
  const refused = await call('POST', path, body)
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringMatching(says)])
  expect((await call('GET', path)).body).toEqual({ subscriptions: [] })
})

it('says of a namespace topic that its event subscriptions are queues, and of an unknown topic that it is not there', async () => {
  const { call, emulator } = await openInterface({ namespaces: [{ name: 'shop', topics: [{ name: 'parcels' }] }] })
  const scope = emulator.namespaceTopic('parcels').id
  const refused = await call('POST', path, { name: 'audit', scope, endpoint: 'http://127.0.0.1:3000/' })
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining('are queues')])
  expect((await call('DELETE', `${path}?name=audit&topic=gone`)).status).toBe(404)
  expect((await call('DELETE', `${path}?topic=orders`)).status).toBe(400)
})

it('tells of a Queue event subscription, too, why an event does not match', async () => {
  const properties = { filtersConfiguration: { includedEventTypes: ['order.paid'] } }
  const { call, emulator } = await openInterface({
    namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'app', properties }] }] }],
  })
  const [event] = orders('1')
  expect(
    (await call('POST', '/emulator/topics/shop%2Fparcels/publish', { events: JSON.stringify(event) })).status,
  ).toBe(200)
  expect(emulator.events().events[0]?.subscriptions).toMatchObject([
    { name: 'app', state: 'unmatched', reason: 'the event has the type order.placed' },
  ])
  expect(emulator.records.requests.last?.publish).toMatchObject({
    unmatched: [{ subscriptionName: 'app', because: 'the event has the type order.placed' }],
  })
})
