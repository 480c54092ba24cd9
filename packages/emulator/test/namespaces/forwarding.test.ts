import { expect, it } from 'vitest'
import { openQueue, order, queue } from './open-queue.ts'

/** A queue, and event subscriptions of the custom topic `orders` that forward to its namespace topic. */
async function openForwarding(...all: readonly { readonly name: string; readonly properties?: object }[]) {
  const opened = await openQueue()
  const { emulator, topic } = opened
  const destination = { endpointType: 'NamespaceTopic', properties: { resourceId: topic.id } }
  const eventDeliverySchema = 'CloudEventSchemaV1_0'
  emulator.reconfigure({
    ...queue(),
    topics: [{ name: 'orders' }, { name: 'parcels' }],
    eventSubscriptions: all.map(({ name, properties }) => ({
      ...{ name, topic: 'orders' },
      properties: { destination, eventDeliverySchema, ...properties },
    })),
  })
  await emulator.idle()
  const fates = () =>
    emulator
      .events()
      .events.map(({ topic: of, id, subscriptions }) => [
        of,
        id,
        ...subscriptions.map(({ name, state }) => `${name} ${state}`),
      ])
  return { ...opened, fates }
}

it('forwards the events that a filter wants, each time, and to a topic that is there', async () => {
  const filter = { includedEventTypes: ['order.placed'] }
  const { emulator, receive, fates } = await openForwarding({ name: 'forward', properties: { filter } })
  for (const id of ['1', '2'])
    emulator.raise('orders', [
      { ...order, id },
      { ...order, id: `${id} paid`, type: 'order.paid' },
    ])
  emulator.raise('parcels', [{ ...order, id: '3' }])
  expect((await receive()).map(({ event }) => Object(event).id)).toEqual(['1', '2'])
  expect(fates().filter(([topic]) => topic !== 'shop/orders')).toEqual([
    ['orders', '1', 'app pending', 'forward delivered'],
    ['orders', '1 paid', 'forward unmatched'],
    ['orders', '2', 'app pending', 'forward delivered'],
    ['orders', '2 paid', 'forward unmatched'],
    ['parcels', '3'],
  ])
})

it('forwards an event once for each event subscription', async () => {
  const { emulator, receive } = await openForwarding({ name: 'one' }, { name: 'two' })
  emulator.raise('orders', [order])
  expect(await receive()).toHaveLength(2)
})

it('forwards an Event Grid event as a CloudEvent, and nothing once the namespace topic has gone', async () => {
  const { emulator, topic, receive } = await openForwarding({ name: 'forward' })
  emulator.addTopic({ name: 'orders', inputSchema: 'EventGridSchema' })
  const event = {
    id: '1',
    subject: 's',
    eventType: 'order.placed',
    dataVersion: '1',
    data: {},
    eventTime: '2026-01-05T00:00:00Z',
  }
  emulator.raise('orders', [event])
  expect(await receive()).toMatchObject([
    { event: { specversion: '1.0', id: '1', type: 'order.placed', subject: 's' } },
  ])
  expect(topic.name).toBe('orders')
})
