import { describe, expect, it } from 'vitest'
import { cloudEvent, gridEvent, openEventGrid, publicUrl, publish } from '../event-grid.ts'

describe('a delivery', () => {
  it('carries a CloudEvent as one object, with the headers of the captures', async () => {
    const grid = await openEventGrid()
    grid.subscribe()
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    const [request] = grid.subscriber.deliveries()
    expect(request?.method).toBe('POST')
    expect(request?.url).toBe('/api/events?code=s3cret')
    expect(JSON.parse(request?.body ?? '')).toEqual(cloudEvent())
    expect(request?.headers).toMatchObject({
      host: 'subscriber.example',
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'aeg-subscription-name': 'SUB1',
      'aeg-delivery-count': '0',
      'aeg-event-type': 'Notification',
      'aeg-metadata-version': '1',
      'aeg-data-version': '',
      origin: 'eventgrid.azure.net',
    })
    expect(request?.headers).not.toHaveProperty('webhook-request-origin')
    expect(request?.headers).not.toHaveProperty('authorization')
  })

  it('carries an Event Grid event in an array, without an origin', async () => {
    const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
    grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
    await publish(grid, [gridEvent()])
    await grid.engine.idle()
    const [request] = grid.subscriber.deliveries()
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
    grid.subscribe({ filter: { includedEventTypes: ['Order.Placed'] } }, { name: 'wants' })
    grid.subscribe({ filter: { includedEventTypes: ['Other'] } }, { name: 'declines' })
    grid.subscribe({}, { name: 'everything' })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    const names = grid.subscriber.deliveries().map(({ headers }) => headers['aeg-subscription-name'])
    expect(names.toSorted()).toEqual(['EVERYTHING', 'WANTS'])
  })

  it('carries static and dynamic delivery attributes', async () => {
    const grid = await openEventGrid()
    grid.subscribe({
      webhook: {
        deliveryAttributeMappings: [
          { name: 'X-Static', type: 'Static', properties: { value: 'fixed' } },
          { name: 'X-Secret', type: 'Static', properties: { value: 'hush', isSecret: true } },
          { name: 'X-Amount', type: 'Dynamic', properties: { sourceField: 'data.amount' } },
          { name: 'X-Type', type: 'Dynamic', properties: { sourceField: 'type' } },
          { name: 'X-Object', type: 'Dynamic', properties: { sourceField: 'data' } },
          { name: 'X-Gone', type: 'Dynamic', properties: { sourceField: 'data.gone' } },
          { name: 'X-Long', type: 'Dynamic', properties: { sourceField: 'data.long' } },
          { name: 'X-Lines', type: 'Dynamic', properties: { sourceField: 'data.lines' } },
        ],
      },
    })
    await publish(grid, [cloudEvent({ data: { amount: 5, long: 'x'.repeat(4097), lines: 'a\r\nb' } })])
    await grid.engine.idle()
    const { headers } = grid.subscriber.deliveries()[0] ?? {}
    expect(headers).toMatchObject({
      'x-static': 'fixed',
      'x-secret': 'hush',
      'x-amount': '5',
      'x-type': 'Order.Placed',
    })
    for (const name of ['x-object', 'x-gone', 'x-long', 'x-lines']) expect(headers).not.toHaveProperty(name)
  })

  it('is recorded without its secrets', async () => {
    const grid = await openEventGrid()
    grid.subscribe({
      webhook: {
        azureActiveDirectoryTenantId: '11111111-1111-4111-8111-111111111111',
        azureActiveDirectoryApplicationIdOrUri: 'app',
        deliveryAttributeMappings: [
          { name: 'X-Secret', type: 'Static', properties: { value: 'hush', isSecret: true } },
        ],
      },
    })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    expect(grid.records.deliveries.last).toMatchObject({
      subscriptionName: 'Sub1',
      url: 'https://subscriber.example/api/events?(redacted)',
      headers: { 'X-Secret': '(redacted)', authorization: '(redacted)' },
      eventIds: ['e1'],
      deliveryCount: 0,
      status: 200,
      outcome: 'delivered',
    })
    expect(JSON.stringify(grid.records.deliveries.all())).not.toContain('hush')
    expect(JSON.stringify(grid.records.deliveries.all())).not.toContain(new URL(publicUrl).search)
  })

  it('bears a signed token where the subscription is secured by Entra', async () => {
    const grid = await openEventGrid()
    const tenantId = '11111111-1111-4111-8111-111111111111'
    grid.subscribe({
      webhook: { azureActiveDirectoryTenantId: tenantId, azureActiveDirectoryApplicationIdOrUri: 'api://orders' },
    })
    await publish(grid, [cloudEvent()])
    await grid.engine.idle()
    const [, token] = /^Bearer (\S+)$/.exec(grid.subscriber.deliveries()[0]?.headers.authorization ?? '') ?? []
    const verdict = await grid.tokens.verifyToken(token, { audience: 'api://orders' })
    expect(verdict).toMatchObject({ token: { tenantId, clientId: '4962773b-9cdb-44cf-a8bf-237846a00ab7' } })
  })
})

describe('batching', () => {
  it('bundles what is there, never more than maxEventsPerBatch', async () => {
    const grid = await openEventGrid()
    grid.subscribe({ webhook: { maxEventsPerBatch: 4 } })
    await publish(
      grid,
      Array.from({ length: 10 }, (_, index) => cloudEvent({ id: `e${index}` })),
    )
    await grid.engine.idle()
    const requests = grid.subscriber.deliveries()
    expect(requests.map(({ body }) => JSON.parse(body).length).toSorted()).toEqual([2, 4, 4])
    expect(requests[0]?.headers['content-type']).toBe('application/cloudevents-batch+json; charset=utf-8')
  })

  it('keeps to the preferred size, but sends a larger event alone', async () => {
    const grid = await openEventGrid()
    grid.subscribe({ webhook: { maxEventsPerBatch: 100, preferredBatchSizeInKilobytes: 1 } })
    const sizes = [300, 300, 300, 5000, 300]
    await publish(
      grid,
      sizes.map((size, index) => cloudEvent({ id: `e${index}`, data: 'x'.repeat(size) })),
    )
    await grid.engine.idle()
    const ids = grid.records.deliveries.all().map(({ eventIds }) => eventIds.join())
    expect(ids.toSorted()).toEqual(['e0,e1', 'e2', 'e3', 'e4'])
  })

  it('delivers all or none of a bundle', async () => {
    const grid = await openEventGrid()
    grid.subscribe({ webhook: { maxEventsPerBatch: 10 } })
    grid.subscriber.answer({ status: 500 })
    await publish(grid, [cloudEvent({ id: 'a' }), cloudEvent({ id: 'b' })])
    await grid.clock.advance(10_000)
    const requests = grid.subscriber.deliveries()
    expect(requests.map(({ body }) => JSON.parse(body).length)).toEqual([2, 2])
    expect(requests[1]?.headers['aeg-delivery-count']).toBe('1')
  })
})
