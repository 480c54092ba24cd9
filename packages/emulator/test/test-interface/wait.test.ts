import { expect, it } from 'vitest'
import { startSubscriber } from '../subscriber.ts'
import { openInterface, orders } from './open-interface.ts'

async function openHook() {
  const subscriber = await startSubscriber()
  const opened = await openInterface({
    retrySchedule: [50],
    ingress: [{ from: 'https://shop.example.com/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        name: 'billing',
        topic: 'orders',
        endpoint: 'https://shop.example.com/',
        properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
      },
    ],
  })
  await opened.emulator.idle()
  return { ...opened, subscriber }
}

it('waits for events that are not published yet, by type, number and fate', async () => {
  const { call, emulator, subscriber } = await openHook()
  subscriber.answer({ status: 503 })
  const body = { type: 'order.placed', count: 2, fate: 'delivered', timeout: '1m' }
  const waiting = call('POST', '/emulator/wait', body)
  emulator.raise('orders', [{ ...orders('0')[0], type: 'order.paid' }, ...orders('1', '2')])
  const { status, body: answer } = await waiting
  expect(status).toBe(200)
  expect(answer.events.map(({ id }: { readonly id: string }) => id)).toEqual(['1', '2'])
  expect((await call('POST', '/emulator/wait', body)).status).toBe(200)
})

it('says when the time is over how many came, and which', async () => {
  const { call, emulator } = await openHook()
  emulator.raise('orders', orders('1'))
  expect(await call('POST', '/emulator/wait', { count: 2, timeout: '100ms' })).toMatchObject({
    status: 408,
    body: { detail: 'after 100ms 1 of 2 such events are there', events: [{ id: '1' }] },
  })
})

it('a wait for nothing pending is 409 where events went nowhere, as their event subscription was not served', async () => {
  const { call, emulator, subscriber } = await openHook()
  subscriber.onHandshake(() => ({ status: 404 }))
  emulator.reconfigure({
    ingress: [{ from: 'https://shop.example.com/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        name: 'late',
        topic: 'orders',
        endpoint: 'https://shop.example.com/late',
        properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
      },
    ],
  })
  await emulator.idle()
  emulator.raise('orders', orders('1'))
  expect(await call('POST', '/emulator/settle')).toMatchObject({
    status: 409,
    body: {
      detail: 'events were not delivered to late: its last change failed, so that it gets no events',
      unserved: [{ subscription: 'late', events: 1 }],
    },
  })
  expect((await call('POST', '/emulator/reset')).status).toBe(204)
  expect((await call('POST', '/emulator/settle')).status).toBe(200)
})
