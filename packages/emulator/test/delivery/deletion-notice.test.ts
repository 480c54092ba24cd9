/** What a web hook is told when its event subscription is deleted, as a receiver that Microsoft's SDK reads with. */
import { EventGridDeserializer } from '@azure/eventgrid'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { destinationIds } from '../../../../test/support/azure-ids.ts'
import { type EventGridOptions, openEventGrid } from '../event-grid.ts'

type Schema = 'EventGridSchema' | 'CloudEventSchemaV1_0' | 'CustomInputSchema'

/** An event grid with the event subscription `app` of a topic. */
async function openApp(
  eventDeliverySchema: Schema,
  settings: object = {},
  inputSchema: 'EventGridSchema' | 'CloudEventSchemaV1_0' | 'CustomEventSchema' = 'EventGridSchema',
  options: EventGridOptions = {},
) {
  const grid = await openEventGrid({ ...options, topic: { inputSchema } })
  const id = await grid.subscribe({ eventDeliverySchema, ...settings }, { name: 'app' })
  const remove = async () => {
    expect((await sendArm(grid.emulator, id, { method: 'DELETE' })).status).toBe(202)
    await grid.emulator.idle()
  }
  return { ...grid, id, remove }
}

describe('the notice of a deleted event subscription', () => {
  it.each<{ schema: Schema; input?: 'CustomEventSchema'; type: string }>([
    { schema: 'CloudEventSchemaV1_0', type: 'application/cloudevents+json; charset=utf-8' },
    { schema: 'EventGridSchema', type: 'application/json; charset=utf-8' },
    { schema: 'CustomInputSchema', input: 'CustomEventSchema', type: 'application/json; charset=utf-8' },
  ])('comes to a web hook of $schema', async ({ schema, input, type }) => {
    const { id, remove, subscriber, records } = await openApp(schema, {}, input)
    await remove()
    const [notice, ...more] = subscriber.deliveries()
    expect(more).toEqual([])
    expect(notice?.headers).toMatchObject({
      'content-type': type,
      'aeg-event-type': 'SubscriptionDeletion',
      'aeg-subscription-name': 'APP',
      'aeg-delivery-count': '0',
    })
    const reader = new EventGridDeserializer()
    const topic = expect.stringMatching(/\/providers\/microsoft\.eventgrid\/topics\/orders$/)
    const data = { eventSubscriptionId: id }
    if (schema === 'CloudEventSchemaV1_0') {
      expect(await reader.deserializeCloudEvents(notice?.body ?? '')).toMatchObject([
        { type: 'Microsoft.EventGrid.SubscriptionDeletedEvent', source: topic, data },
      ])
      expect(JSON.parse(notice?.body ?? '')).toMatchObject({ specversion: '1.0' })
    } else {
      expect(await reader.deserializeEventGridEvents(notice?.body ?? '')).toMatchObject([
        { eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent', topic, subject: '', data, dataVersion: '1' },
      ])
    }
    expect(records.deliveries.all()).toMatchObject([
      { subscriptionName: 'app', outcome: 'delivered', eventTypes: ['Microsoft.EventGrid.SubscriptionDeletedEvent'] },
    ])
  })

  it('is sent once, whatever is answered, and is no event of the topic', async () => {
    const deadLetterDestination = {
      endpointType: 'StorageBlob',
      properties: {
        resourceId: '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop',
        blobContainerName: 'dead',
      },
    }
    const { clock, emulator, remove, subscriber, records } = await openApp('EventGridSchema', { deadLetterDestination })
    subscriber.answer({ status: 500 })
    await remove()
    await clock.advance(86_400_000)
    expect(subscriber.deliveries()).toHaveLength(1)
    expect(records.deliveries.all()).toMatchObject([{ status: 500, outcome: 'dropped' }])
    expect(records.deadLetters.length).toBe(0)
    expect(emulator.events().events).toEqual([])
    expect(emulator.figures()).toMatchObject({ failed: 0, delivered: 0 })
  })

  it('comes at the expiration time, and when the source is deleted', async () => {
    const grid = await openEventGrid()
    const expirationTimeUtc = new Date(grid.clock.now() + 60_000).toISOString()
    await grid.subscribe({ expirationTimeUtc }, { name: 'short' })
    await grid.subscribe({}, { name: 'long' })
    await grid.clock.advance(60_000)
    const names = () => grid.subscriber.deliveries().map(({ headers }) => headers['aeg-subscription-name'])
    expect(names()).toEqual(['SHORT'])
    grid.emulator.removeTopic('orders')
    await grid.emulator.idle()
    expect(names()).toEqual(['SHORT', 'LONG'])
  })

  it('comes from code too, but not where the configuration or a reset removes the event subscription', async () => {
    const grid = await openEventGrid()
    await grid.subscribe({}, { name: 'one' })
    await grid.subscribe({}, { name: 'two' })
    grid.emulator.removeEventSubscription('orders', 'one')
    await grid.emulator.idle()
    await grid.emulator.reset({ resources: true })
    await grid.emulator.idle()
    const names = grid.subscriber.deliveries().map(({ headers }) => headers['aeg-subscription-name'])
    expect(names).toEqual(['ONE'])
  })

  it('comes to no endpoint that never consented, and to no other destination', async () => {
    const grid = await openEventGrid()
    const hub = { endpointType: 'EventHub', properties: { resourceId: destinationIds.EventHub } }
    const path = `${grid.topic.id}/providers/Microsoft.EventGrid/eventSubscriptions`
    const put = (name: string, destination: object) =>
      sendArm(grid.emulator, `${path}/${name}`, {
        method: 'PUT',
        body: JSON.stringify({ properties: { destination } }),
      })
    grid.subscriber.onHandshake(() => ({ status: 500 }))
    await put('hub', hub)
    await put('shy', { endpointType: 'WebHook', properties: { endpointUrl: 'https://subscriber.example/api/events' } })
    await grid.emulator.idle()
    for (const name of ['hub', 'shy']) await sendArm(grid.emulator, `${path}/${name}`, { method: 'DELETE' })
    await grid.emulator.idle()
    expect(grid.subscriber.deliveries()).toEqual([])
    expect(grid.records.deliveries.length).toBe(0)
  })

  it('leaves no trace where a reset comes while it is under way', async () => {
    const grid = await openApp('EventGridSchema')
    grid.subscriber.answer(undefined)
    expect((await sendArm(grid.emulator, grid.id, { method: 'DELETE' })).status).toBe(202)
    await grid.subscriber.received(1)
    await grid.emulator.reset()
    await grid.emulator.close()
    expect(grid.records.deliveries.length).toBe(0)
  })
})
