import { describe, expect, it } from 'vitest'
import { cloudEvent, gridEvent, openDelivered, openEventGrid, publicUrl, publish } from '../event-grid.ts'

describe('a delivery', () => {
  it('carries a CloudEvent as one object, with the headers of the captures', async () => {
    const { request } = await openDelivered()
    expect(request?.method).toBe('POST')
    expect(request?.url).toBe('/api/events?code=s3cret')
    expect(JSON.parse(request?.body ?? '')).toEqual(cloudEvent())
    expect(request?.headers).toMatchObject({
      host: 'subscriber.example',
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'accept-encoding': 'gzip, deflate',
      connection: expect.stringMatching(/^(keep-alive|close)$/),
      'aeg-subscription-name': 'SUB1',
      'aeg-delivery-count': '0',
      'aeg-event-type': 'Notification',
      'aeg-metadata-version': '1',
      'aeg-data-version': '',
      origin: 'eventgrid.azure.net',
    })
    for (const name of ['aeg-output-event-id', 'webhook-request-origin', 'webhook-request-rate', 'authorization']) {
      expect(request?.headers).not.toHaveProperty(name)
    }
  })

  it('carries an Event Grid event in an array, without an origin', async () => {
    const inputSchema = 'EventGridSchema'
    const settings = { eventDeliverySchema: inputSchema } as const
    const { grid, request } = await openDelivered({ topic: { inputSchema } }, settings, [gridEvent()])
    expect(JSON.parse(request?.body ?? '')).toEqual([{ ...gridEvent(), topic: grid.topic.id, metadataVersion: '1' }])
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'aeg-data-version': '1.0',
      'aeg-metadata-version': '1',
    })
    expect(request?.headers).not.toHaveProperty('origin')
  })

  it('goes to each subscription that wants the event, and to no other', async () => {
    const grid = await openEventGrid()
    await grid.subscribe({ filter: { includedEventTypes: ['Order.Placed'] } }, { name: 'wants' })
    await grid.subscribe({ filter: { includedEventTypes: ['Other'] } }, { name: 'declines' })
    await grid.subscribe({}, { name: 'everything' })
    await publish(grid, [cloudEvent()])
    await grid.emulator.idle()
    const names = grid.subscriber.deliveries().map(({ headers }) => headers['aeg-subscription-name'])
    expect(names.toSorted()).toEqual(['EVERYTHING', 'WANTS'])
  })

  it('carries static and dynamic delivery attributes, and a secret one is not recorded', async () => {
    const deliveryAttributeMappings = [
      { name: 'X-Static', type: 'Static', properties: { value: 'fixed' } },
      { name: 'X-Secret', type: 'Static', properties: { value: 'hush', isSecret: true } },
      { name: 'X-Amount', type: 'Dynamic', properties: { sourceField: 'data.amount' } },
      { name: 'X-Gone', type: 'Dynamic', properties: { sourceField: 'data.gone' } },
    ]
    const { request, record } = await openDelivered({}, { webhook: { deliveryAttributeMappings } })
    expect(request?.headers).toMatchObject({ 'x-static': 'fixed', 'x-secret': 'hush', 'x-amount': '5' })
    expect(request?.headers).not.toHaveProperty('x-gone')
    const shown = { 'X-Static': 'fixed', 'X-Secret': '(redacted)', 'X-Amount': '5', 'aeg-event-type': 'Notification' }
    expect(record?.headers).toMatchObject(shown)
    expect(JSON.stringify(record)).not.toContain('hush')
  })

  it('is recorded without its secrets', async () => {
    const azureActiveDirectoryTenantId = '11111111-1111-4111-8111-111111111111'
    const entra = { azureActiveDirectoryTenantId, azureActiveDirectoryApplicationIdOrUri: 'app' }
    const { record } = await openDelivered({}, { webhook: entra })
    expect(record).toMatchObject({
      subscriptionName: 'Sub1',
      url: 'https://subscriber.example/api/events?(redacted)',
      headers: { authorization: '(redacted)' },
      eventIds: ['e1'],
      deliveryCount: 0,
      status: 200,
      outcome: 'delivered',
    })
    expect(JSON.stringify(record)).not.toContain(new URL(publicUrl).search)
  })

  it('is recorded with the beginning of a long body, and with id and type of each event', async () => {
    const events = [cloudEvent({ data: 'x'.repeat(20_000) }), cloudEvent({ id: 'e2', type: 'Other' })]
    const { grid, request, record } = await openDelivered({}, { webhook: { maxEventsPerBatch: 10 } }, events)
    expect(record).toMatchObject({
      eventIds: ['e1', 'e2'],
      eventTypes: ['Order.Placed', 'Other'],
      at: grid.clock.now(),
    })
    expect(record?.body).toHaveLength(16_384)
    expect(request?.body.startsWith(record?.body ?? '')).toBe(true)
    expect(record?.durationMs).toBeGreaterThan(0)
  })

  it('is recorded with a short body whole, and with what the subscriber answered without its secrets', async () => {
    const grid = await openEventGrid()
    await grid.subscribe()
    grid.subscriber.answer({ status: 200, headers: { 'set-cookie': 'a=1' }, body: 'code was s3cret' })
    await publish(grid, [cloudEvent()])
    await grid.emulator.idle()
    expect(grid.records.deliveries.last).toMatchObject({
      body: JSON.stringify(cloudEvent()),
      responseHeaders: { 'set-cookie': '(redacted)' },
      responseBody: 'code was (redacted)',
    })
    expect(grid.records.deliveries.last).not.toHaveProperty('error')
  })
})

describe('batching', () => {
  it('bundles what is there, never more than maxEventsPerBatch', async () => {
    const events = Array.from({ length: 10 }, (_, index) => cloudEvent({ id: `e${index}` }))
    const { grid, request } = await openDelivered({}, { webhook: { maxEventsPerBatch: 4 } }, events)
    const sizes = grid.subscriber.deliveries().map(({ body }) => JSON.parse(body).length)
    expect(sizes.toSorted()).toEqual([2, 4, 4])
    expect(request?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8')
  })

  it('keeps to the preferred size, but sends a larger event alone', async () => {
    const sizes = [300, 300, 300, 5000, 300]
    const events = sizes.map((size, index) => cloudEvent({ id: `e${index}`, data: 'x'.repeat(size) }))
    const batching = { maxEventsPerBatch: 100, preferredBatchSizeInKilobytes: 1 }
    const { grid } = await openDelivered({}, { webhook: batching }, events)
    const ids = grid.records.deliveries.all().map(({ eventIds }) => eventIds.join())
    expect(ids.toSorted()).toEqual(['e0,e1', 'e2', 'e3', 'e4'])
  })

  it('delivers all or none of a bundle', async () => {
    const grid = await openEventGrid()
    await grid.subscribe({ webhook: { maxEventsPerBatch: 10 } })
    grid.subscriber.answer({ status: 500 })
    await publish(grid, [cloudEvent({ id: 'a' }), cloudEvent({ id: 'b' })])
    await grid.clock.advance(10_000)
    const requests = grid.subscriber.deliveries()
    expect(requests.map(({ body }) => JSON.parse(body).length)).toEqual([2, 2])
    expect(requests[1]?.headers['aeg-delivery-count']).toBe('1')
  })
})
