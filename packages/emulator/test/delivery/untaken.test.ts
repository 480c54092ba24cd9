import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { requestLines } from '../../src/cli/record-lines.ts'
import { createUntaken } from '../../src/delivery/untaken.ts'
import type { AcceptedEvent } from '../../src/model/events/accepted-event.ts'
import { eventOf } from '../../src/model/events/event-text.ts'
import { destinationOf, type EventSubscription } from '../../src/model/resources/event-subscription.ts'
import { createNamespaceStore } from '../../src/model/resources/namespace.ts'
import { createStore } from '../../src/model/resources/store.ts'
import { startSubscriber } from '../subscriber.ts'

const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg'
const provider = `${group}/providers`
const hub = {
  endpointType: 'EventHub',
  properties: { resourceId: `${provider}/Microsoft.EventHub/namespaces/hubs/eventhubs/orders` },
}
const bus = {
  endpointType: 'ServiceBusQueue',
  properties: { resourceId: `${provider}/Microsoft.ServiceBus/namespaces/bus/queues/orders` },
}
const queue = {
  endpointType: 'StorageQueue',
  properties: { resourceId: `${provider}/Microsoft.Storage/storageAccounts/letters`, queueName: 'orders' },
} as const
const parcels = {
  endpointType: 'NamespaceTopic',
  properties: { resourceId: `${provider}/Microsoft.EventGrid/namespaces/shop/topics/parcels` },
}
const webhook = { endpointType: 'WebHook', properties: { endpointUrl: 'https://shop.example.com/hook' } } as const

/** Publishes an event, and returns what terminal and page say of it. */
async function publishTo(
  destination: object,
  { handshake = 200, filter = {}, namespaces = false }: { handshake?: number; filter?: object; namespaces?: boolean },
) {
  const subscriber = await startSubscriber()
  subscriber.onHandshake(() => ({ status: handshake }))
  const emulator = await startEmulator({
    ingress: [{ from: 'https://shop.example.com/', to: subscriber.url }],
    ...(namespaces && { namespaces: [{ name: 'shop', topics: [{ name: 'parcels' }] }] }),
    eventSubscriptions: [
      { name: 'audit', properties: { destination, filter, eventDeliverySchema: 'CloudEventSchemaV1_0' } },
    ],
  })
  await emulator.idle()
  const { httpEndpoint, key } = emulator.topic()
  const body = JSON.stringify({ specversion: '1.0', id: 'a', source: '/shop', type: 'order.placed' })
  const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
  expect((await fetch(httpEndpoint, { method: 'POST', headers, body })).status).toBe(200)
  await emulator.idle()
  const record = emulator.records.requests.last
  const lines = record ? requestLines(record, false) : []
  const page = Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json())
  return { terminal: lines.map((line) => line.map(({ text }) => text).join('')), fates: page.events[0].fates }
}

it.each([
  { what: 'an event hub', destination: hub, because: /no connection string of the Event Hubs namespace/ },
  {
    what: 'a Service Bus queue',
    destination: bus,
    because: /no connection string of the Service Bus namespace/,
  },
  { what: 'a storage queue without an account', destination: queue, because: /no storage account to deliver to/ },
  { what: 'a namespace topic that is not there', destination: parcels, because: /its last change failed/ },
  { what: 'a webhook that has not consented', destination: webhook, because: /the manual validation is missing/ },
  {
    what: 'a webhook that refused the handshake',
    destination: webhook,
    handshake: 403,
    because: /its last change failed/,
  },
])('an event that $what matches and does not get says which and why', async ({ destination, handshake, because }) => {
  const { terminal, fates } = await publishTo(destination, { ...(handshake && { handshake }) })
  expect(terminal).toEqual([expect.stringMatching(/order\.placed a {2}audit matches, but does not get it: /)])
  expect(terminal[0]).toMatch(because)
  expect(fates).toMatchObject([{ name: 'audit', state: 'unserved', reason: expect.stringMatching(because) }])
})

it('an event that no filter matches is told as such, whatever the event subscription delivers to', async () => {
  const filter = { includedEventTypes: ['order.paid'] }
  for (const destination of [hub, webhook]) {
    const { terminal, fates } = await publishTo(destination, { filter })
    expect(terminal).toEqual([expect.stringMatching(/audit does not match: the event has the type order\.placed$/)])
    expect(fates).toEqual([])
  }
})

it('an event that a namespace topic takes is told as forwarded', async () => {
  const { terminal, fates } = await publishTo(parcels, { namespaces: true })
  expect(terminal).toEqual([])
  expect(fates).toMatchObject([{ name: 'audit', state: 'forwarded' }])
})

it.each([
  { state: 'Creating', because: 'its endpoint has not consented yet' },
  { state: 'AwaitingManualAction', because: 'its endpoint has not consented: the manual validation is missing' },
  { state: 'Failed', because: 'its last change failed, so that it gets no events' },
  { state: 'Canceled', because: 'its last change was canceled, so that it gets no events' },
  { state: 'Deleting', because: undefined },
  { state: 'Succeeded', because: 'there is no account' },
  { state: 'Updating', because: 'there is no account', inForce: queue },
  { state: 'Updating', because: undefined, inForce: webhook },
] as const)('an event subscription that is $state does not get what it matches because $because', (given) => {
  const store = createStore()
  const { topics } = createNamespaceStore()
  const eventDeliverySchema = 'CloudEventSchemaV1_0'
  store.subscriptions.put({
    ...{ id: '/s/audit', scope: '/s', name: 'audit', createdAt: 0, provisioningState: given.state },
    properties: { destination: queue, eventDeliverySchema, filter: { includedEventTypes: ['wanted'] } },
    ...('inForce' in given && { inForce: { destination: given.inForce, eventDeliverySchema } }),
  })
  const undelivered = ({ properties }: EventSubscription) =>
    destinationOf(properties)?.endpointType === 'StorageQueue' ? 'there is no account' : undefined
  const untaken = createUntaken({ store, namespaces: { topics }, undelivered })
  const events = (['wanted', 'other'] as const).map(
    (type): AcceptedEvent => ({ schema: eventDeliverySchema, body: eventOf({ specversion: '1.0', type }) }),
  )
  const gridEvent: AcceptedEvent = { schema: 'EventGridSchema', body: eventOf({ eventType: 'wanted' }) }
  const of = (...all: readonly AcceptedEvent[]) =>
    untaken([{ sources: ['/nothing', '/s'], events: all }])
      .filter(({ matches }) => matches)
      .map(({ event, because }) => [event.body.value.type, because])
  // By the settings in force there is no filter.
  const types = 'inForce' in given ? ['wanted', 'other'] : ['wanted']
  expect(of(...events)).toEqual(given.because ? types.map((type) => [type, given.because]) : [])
  expect(of(gridEvent)).toHaveLength(given.because ? 1 : 0)
  expect(of()).toEqual([])
})
