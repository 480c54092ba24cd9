import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { startProcess } from '../../../../test/support/command.ts'
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

it('waits for thousands of events', async () => {
  const { call, emulator } = await openHook()
  const waiting = call('POST', '/emulator/wait', { topic: 'orders', count: 5000, timeout: '1m' })
  for (let count = 0; count < 5; count++)
    emulator.raise('orders', orders(...Array.from({ length: 1000 }, (_, index) => `${count} ${index}`)))
  const { status, body } = await waiting
  expect([status, body.events.length]).toEqual([200, 5000])
})

it('says when the time is over how many came, and which', async () => {
  const { call, emulator } = await openHook()
  emulator.raise('orders', orders('1'))
  expect(await call('POST', '/emulator/wait', { count: 2, timeout: '100ms' })).toMatchObject({
    status: 408,
    body: { detail: 'after 100ms 1 of 2 such events are there', events: [{ id: '1' }] },
  })
})

it('a wait is refused once the topic of its query is gone', async () => {
  const { call, emulator } = await openInterface()
  emulator.addTopic({ name: 'parcels' })
  const waiting = call('POST', '/emulator/wait', { topic: 'parcels', timeout: '1m' })
  await setTimeout(200)
  await emulator.reset({ resources: true })
  expect(await waiting).toMatchObject({ status: 400, body: { detail: expect.stringContaining('no topic "parcels"') } })
})

it('a wait keeps no process alive whose emulator is closed', async () => {
  const program = `
    const { EventGridEmulator } = await import(process.argv[1])
    const emulator = await EventGridEmulator.start()
    fetch(new URL('/emulator/wait', emulator.proxy), { method: 'POST', body: '{ "timeout": "10m" }' }).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 500))
    await emulator.close()`
  const entry = resolve(import.meta.dirname, '../../src/index.ts')
  const { ended, lines } = startProcess(process.execPath, ['--input-type=module', '--eval', program, entry])
  expect([await ended, lines]).toEqual([0, []])
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
