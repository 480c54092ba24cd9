/** Functions as destinations: a server in the place of the Functions host sees what the host's Event Grid extension would see. */
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { functionId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'

const slotId = functionId.replace('/functions/', '/slots/canary/functions/')
const order = { specversion: '1.0', id: 'e1', source: '/shop', type: 'Order.Placed', data: { total: 1.5 } }
const gridOrder = {
  ...{ id: 'e1', subject: 'orders/1', eventType: 'Order.Placed', eventTime: '2026-01-01T00:00:00Z', dataVersion: '2' },
  data: { total: 1.5 },
}

/** An emulator, a server in the place of the Functions host, and an event subscription whose destination is a function. */
async function openFunction(
  {
    properties = {},
    settings = {},
    ...options
  }: { properties?: object; settings?: object } & Omit<EventGridEmulatorOptions, 'functions'> = {},
  functions: (url: string) => EventGridEmulatorOptions['functions'] = (url) => url,
  resourceId = functionId,
) {
  const host = await startSubscriber()
  const clock = new ManualClock()
  const mapped = functions(host.url)
  const emulator = await startEmulator({ clock, ...options, ...(mapped !== undefined && { functions: mapped }) })
  const destination = { endpointType: 'AzureFunction', properties: { resourceId, ...properties } }
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/app`
  const body = JSON.stringify({ properties: { destination, ...settings } })
  const made = await sendArm(emulator, path, { method: 'PUT', body })
  await emulator.idle()
  return { emulator, clock, host, made, path }
}

const cloud = { eventDeliverySchema: 'CloudEventSchemaV1_0' }

describe('a function', () => {
  it('gets a CloudEvent at the Event Grid endpoint of its host, without a handshake', async () => {
    const { emulator, host, made, path } = await openFunction({ settings: cloud })
    expect(made.status).toBe(201)
    expect((await sendArm(emulator, path)).body).toMatchObject({ properties: { provisioningState: 'Succeeded' } })
    expect(host.requests).toEqual([])
    emulator.raise('orders', [order])
    await emulator.settled()
    expect(host.requests).toMatchObject([
      {
        method: 'POST',
        url: '/runtime/webhooks/EventGrid?functionName=handle',
        headers: {
          'aeg-event-type': 'Notification',
          'aeg-subscription-name': 'APP',
          'aeg-delivery-count': '0',
          'content-type': 'application/cloudevents+json; charset=utf-8',
        },
      },
    ])
    expect(JSON.parse(host.requests[0]?.body ?? '')).toEqual(order)
    expect(emulator.records.deliveries.all()).toMatchObject([
      { subscriptionName: 'app', url: functionId, outcome: 'delivered', status: 200 },
    ])
    expect(emulator.records.warnings.length).toBe(0)
    expect(emulator.records.handshakes.length).toBe(0)
  })

  it('gets Event Grid events as a list, and its delivery attributes as headers', async () => {
    const deliveryAttributeMappings = [
      { name: 'x-kind', type: 'Dynamic', properties: { sourceField: 'eventType' } },
      { name: 'x-key', type: 'Static', properties: { value: 'hush', isSecret: true } },
    ]
    const topics = [{ name: 'orders', inputSchema: 'EventGridSchema' as const }]
    const { emulator, host } = await openFunction({ topics, properties: { deliveryAttributeMappings } })
    emulator.raise('orders', [gridOrder])
    await emulator.settled()
    expect(host.requests[0]?.headers).toMatchObject({
      'x-kind': 'Order.Placed',
      'x-key': 'hush',
      'aeg-data-version': '2',
    })
    expect(JSON.parse(host.requests[0]?.body ?? '')).toMatchObject([gridOrder])
    expect(JSON.stringify(emulator.records.deliveries.all())).not.toContain('hush')
  })

  it('gets batches', async () => {
    const { emulator, host } = await openFunction({ settings: cloud, properties: { maxEventsPerBatch: 2 } })
    emulator.raise(
      'orders',
      ['1', '2', '3'].map((id) => ({ ...order, id })),
    )
    await emulator.settled()
    expect(host.requests.map(({ body }) => JSON.parse(body).map(({ id }: typeof order) => id))).toEqual([
      ['1', '2'],
      ['3'],
    ])
    expect(host.requests[0]?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8')
  })

  it('that fails is tried again, and then dead-lettered', async () => {
    const { emulator, clock, host } = await openFunction({
      settings: {
        ...cloud,
        retryPolicy: { maxDeliveryAttempts: 2 },
        deadLetterDestination: {
          endpointType: 'StorageBlob',
          properties: {
            resourceId: functionId.replace(/Microsoft.Web.*/, 'Microsoft.Storage/storageAccounts/shop'),
            blobContainerName: 'dead',
          },
        },
      },
    })
    host.answer({ status: 500, body: 'Exception while executing function: handle' }, { status: 404 })
    emulator.raise('orders', [order])
    await emulator.idle()
    await clock.advance(10_000)
    await emulator.idle()
    expect(emulator.records.deliveries.all()).toMatchObject([
      { status: 500, outcome: 'retry', responseBody: 'Exception while executing function: handle' },
      { status: 404, outcome: 'dead-lettered', deliveryCount: 1 },
    ])
    await clock.advance(300_000)
    await emulator.settled()
    expect(emulator.records.deadLetters.last).toMatchObject({ events: [{ id: 'e1', lastdeliveryoutcome: 'NotFound' }] })
  })
})

it('whose host is not there is tried again, and the record says where nothing listens', async () => {
  const away = 'http://127.0.0.1:1'
  const { emulator } = await openFunction({ settings: cloud }, () => away)
  emulator.raise('orders', [order])
  await emulator.idle()
  expect(emulator.records.deliveries.last).toMatchObject({
    outcome: 'retry',
    error: expect.stringMatching(/nothing listens at http:\/\/127\.0\.0\.1:1$/),
  })
})

describe('the host of a function', () => {
  const other = 'http://127.0.0.1:1'
  const app = functionId.replace(/\/functions\/.*/, '')
  it.each<{
    what: string
    functions: (url: string) => EventGridEmulatorOptions['functions']
    id?: string
    path: string
  }>([
    { what: 'one for all', functions: (url) => `${url}/`, path: '?functionName=handle' },
    {
      what: 'one for all, with a system key',
      functions: (url) => `${url}?code=a%2Fb`,
      path: '?functionName=handle&code=a%2Fb',
    },
    {
      what: 'that of the function, in another letter case',
      functions: (url) => [
        { resourceId: `${functionId}2`, url: other },
        { resourceId: functionId.toUpperCase(), url: `${url}/?code=k` },
        { resourceId: functionId, url: other },
      ],
      path: '?functionName=handle&code=k',
    },
    {
      what: 'that of the function app',
      functions: (url) => [
        { resourceId: app.slice(0, -1), url: other },
        { resourceId: `${app}/`, url },
      ],
      path: '?functionName=handle',
    },
    {
      what: 'one for all others',
      functions: (url) => [{ resourceId: slotId, url: other }, { url }],
      path: '?functionName=handle',
    },
    {
      what: 'that of the slot',
      functions: (url) => [
        { resourceId: functionId, url: other },
        { resourceId: slotId, url },
      ],
      id: slotId,
      path: '?functionName=handle',
    },
  ])('is $what', async ({ functions, id, path }) => {
    const { emulator, host } = await openFunction({ settings: cloud }, functions, id)
    emulator.raise('orders', [order])
    await emulator.settled()
    expect(host.requests.map(({ url }) => url)).toEqual([`/runtime/webhooks/EventGrid${path}`])
    expect(JSON.stringify(emulator.records.deliveries.all())).not.toMatch(/code=/)
  })

  it.each<{ what: string; functions: EventGridEmulatorOptions['functions'] }>([
    { what: 'no host at all', functions: undefined },
    { what: 'no host of this function', functions: [{ resourceId: slotId, url: other }] },
  ])('is missing where there is $what: a warning says how to give one', async ({ functions }) => {
    const { emulator, made } = await openFunction({ settings: cloud }, () => functions)
    expect(made.status).toBe(201)
    const says = `no host of the function ${functionId}: give functions`
    expect(emulator.records.warnings.all()).toMatchObject([
      { subscriptionName: 'app', message: expect.stringContaining(says) },
    ])
    emulator.raise('orders', [order])
    await emulator.settled()
    expect(emulator.records.deliveries.length).toBe(0)
    expect(JSON.stringify(emulator.events())).toContain(says)
  })

  it.each([
    'http://127.0.0.1:7071/runtime/webhooks/EventGrid',
    'localhost:7071',
    [{ resourceId: 'shop', url: 'http://127.0.0.1:7071' }],
    [{ resourceId: functionId, url: 'http://127.0.0.1:7071/api' }],
    [{ resourceId: functionId }],
  ])('is no %j', async (functions) => {
    // What the types do not let through.
    const options = JSON.parse(JSON.stringify({ functions }))
    await expect(startEmulator(options)).rejects.toThrow(/^functions/)
  })
})
