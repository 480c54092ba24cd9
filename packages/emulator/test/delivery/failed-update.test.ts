import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'

const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg'
const provider = `${group}/providers`
const webhook = (endpointUrl: string) => ({ endpointType: 'WebHook', properties: { endpointUrl } })
const eventHub = {
  endpointType: 'EventHub',
  properties: { resourceId: `${provider}/Microsoft.EventHub/namespaces/hubs/eventhubs/orders` },
}
const storageQueue = {
  endpointType: 'StorageQueue',
  properties: { resourceId: `${provider}/Microsoft.Storage/storageAccounts/letters`, queueName: 'orders' },
}
const namespaceTopic = {
  endpointType: 'NamespaceTopic',
  properties: { resourceId: `${provider}/Microsoft.EventGrid/namespaces/shop/topics/gone` },
}

/** An emulator whose event subscription `audit` has an event that waits for its second try. */
async function openWaiting(options: EventGridEmulatorOptions = {}) {
  const subscriber = await startSubscriber()
  const clock = new ManualClock()
  const given = {
    clock,
    random: () => 0,
    ingress: [{ from: 'https://subscriber.example/', to: subscriber.url }],
    clients: [{ roles: [{ role: 'EventGrid Contributor' }] }],
    ...options,
  }
  const emulator = await startEmulator(given)
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/audit?api-version=2025-02-15`
  const begin = async (destination: object) => {
    const body = JSON.stringify({ properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' } })
    expect((await sendArm(emulator, path, { method: 'PUT', body })).status).toBe(201)
  }
  const put = async (destination: object) => {
    await begin(destination)
    await emulator.idle()
  }
  const raise = (id: string) => emulator.raise('orders', [{ specversion: '1.0', id, source: '/shop', type: 'order' }])
  await put(webhook('https://subscriber.example/first'))
  subscriber.answer({ status: 503 })
  raise('a')
  await emulator.idle()
  expect(emulator.pending).toBe(1)
  const state = () => emulator.eventSubscriptions()[0]?.provisioningState
  return { clock, emulator, given, begin, put, raise, state, subscriber }
}

describe('an update that fails keeps the events that wait, which are delivered by the settings before', () => {
  it.each([
    { name: 'its webhook refuses the handshake', destination: webhook('https://subscriber.example/refuses') },
    { name: 'Azure fails, from a webhook to an event hub', destination: eventHub, fault: true },
    { name: 'Azure fails, from a webhook to a storage queue', destination: storageQueue, fault: true },
    { name: 'its namespace topic does not exist', destination: namespaceTopic },
  ])('because $name', async ({ destination, fault }) => {
    const { clock, emulator, put, state, subscriber } = await openWaiting()
    subscriber.onHandshake(() => ({ status: 403 }))
    if (fault) emulator.failNext({ route: 'operation', code: 'Internal error' })
    await put(destination)
    expect(state()).toBe('Failed')
    expect(emulator.pending).toBe(1)
    await clock.advance(60_000)
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/first', '/first'])
    expect(emulator.pending).toBe(0)
  })

  it('also after a restart', async () => {
    const state = join(temporaryFolder(), 'state.db')
    const { clock, emulator, given, put, subscriber } = await openWaiting({ state })
    emulator.failNext({ route: 'operation', code: 'Internal error' })
    await put(eventHub)
    await emulator.close()
    const second = await startEmulator(given)
    expect(second.pending).toBe(1)
    await clock.advance(60_000)
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/first', '/first'])
  })

  it('and the second failure in a row changes nothing of it', async () => {
    const { clock, emulator, put, subscriber } = await openWaiting()
    emulator.failNext({ route: 'operation', code: 'Internal error', times: 2 })
    await put(eventHub)
    await put(storageQueue)
    await clock.advance(60_000)
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/first', '/first'])
  })
})

it('an update has new events delivered by the settings before while it runs, and nothing once it failed', async () => {
  const { clock, emulator, begin, raise, state, subscriber } = await openWaiting({ answerTimeout: 3_000 })
  subscriber.onHandshake(() => undefined)
  await begin(webhook('https://subscriber.example/silent'))
  raise('b')
  await subscriber.received(2)
  expect(state()).toBe('Updating')
  await clock.advance(60_000)
  expect(state()).toBe('Failed')
  raise('c')
  await emulator.idle()
  expect(subscriber.deliveries().map(({ url, body }) => [url, JSON.parse(body).id])).toEqual([
    ['/first', 'a'],
    ['/first', 'b'],
    ['/first', 'a'],
  ])
})

it('an update to a destination that the emulator does not deliver to drops what waits, and the page says so', async () => {
  const { emulator, put, state } = await openWaiting()
  await put(eventHub)
  expect(state()).toBe('Succeeded')
  expect(emulator.pending).toBe(0)
  const page = Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json())
  expect(page.events[0].fates).toMatchObject([{ state: 'forgotten', reason: expect.stringContaining('Event Hubs') }])
})

it('an update from a webhook to a namespace topic forwards nothing before it succeeded', async () => {
  const namespaces = [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'app' }] }] }]
  const { emulator, put, raise, subscriber } = await openWaiting({ namespaces })
  const parcels = { ...namespaceTopic, properties: { resourceId: emulator.namespaceTopic().id } }
  emulator.failNext({ route: 'operation', code: 'Internal error' })
  await put(parcels)
  raise('b')
  await emulator.idle()
  expect([...emulator.queues().values()]).toMatchObject([{ available: 0 }])
  await put(parcels)
  raise('c')
  await emulator.idle()
  expect([...emulator.queues().values()]).toMatchObject([{ available: 1 }])
  expect(subscriber.deliveries()).toHaveLength(1)
})

it('says Failed of the event subscription too where its operation fails for whatever reason', async () => {
  const { emulator, put, state } = await openWaiting()
  emulator.failNext({
    route: 'operation',
    matches() {
      throw new Error('a fault of the test')
    },
  })
  await put(webhook('https://subscriber.example/second'))
  expect(state()).toBe('Failed')
})
