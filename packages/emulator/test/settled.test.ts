import { expect, it } from 'vitest'
import { storageAccountId } from '../../../test/support/azure-ids.ts'
import type { Fault } from '../src/index.ts'
import { openEventGrid, publicUrl } from './event-grid.ts'

const order = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed', data: {} }

/** An Event Grid with the event subscription `billing`. */
async function openShop() {
  const grid = await openEventGrid()
  const properties = { resourceId: storageAccountId, blobContainerName: 'events' }
  await grid.subscribe({ deadLetterDestination: { endpointType: 'StorageBlob', properties } }, { name: 'billing' })
  return grid
}

const failed: readonly (Omit<Fault, 'route'> & { readonly says: string })[] = [
  { status: 503, says: '2 events, next try in 30 s, last answer 503' },
  { drop: true, says: '2 events, next try in 10 s, last answer none (SocketError: A fault closed the connection.)' },
  { delayMs: 60_000, says: '2 events, 2 awaiting an answer' },
  { status: 400, says: '2 events given up, next dead-letter in 300 s (deadLetterDelay), last answer 400' },
]

it.each(failed)('settled({ timeout }) rejects with what is pending: $says', async ({ says, ...fault }) => {
  const { emulator } = await openShop()
  emulator.failNext({ route: 'delivery', times: 2, ...fault })
  emulator.raise('orders', [order, { ...order, id: 'two' }])
  await emulator.idle()
  await expect(emulator.settled({ timeout: 1 })).rejects.toMatchObject({
    message: `events are still pending after 1 ms:\n- event subscription billing of orders: ${says}`,
  })
})

it('settled({ timeout }) resolves when the event is delivered in time, also after one that gave up', async () => {
  const { clock, emulator } = await openShop()
  emulator.failNext({ route: 'delivery', status: 503 })
  emulator.raise('orders', [order])
  await emulator.idle()
  await expect(emulator.settled({ timeout: 0 })).rejects.toThrow('1 event, next try in 30 s')
  const settled = emulator.settled({ timeout: 600_000 })
  await clock.advance(30_000)
  await settled
  await emulator.settled({ timeout: 0 })
})

it('settled() refuses an unknown option and a time that is none', async () => {
  const { emulator } = await openShop()
  const untyped = JSON.parse('{"timout": 5}')
  await expect(emulator.settled(untyped)).rejects.toThrow('there is no "timout"; did you mean timeout?')
  await expect(emulator.settled({ timeout: -1 })).rejects.toThrow(RangeError)
})

it('has a manual clock wait for the time-outs of validation events that a subscriber never answers', async () => {
  const topic = { inputSchema: 'EventGridSchema' } as const
  const { clock, emulator, subscriber } = await openEventGrid({ topic, answerTimeout: 500 })
  subscriber.onHandshake(() => undefined)
  emulator.reconfigure({
    ingress: () => subscriber.url,
    topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }],
    eventSubscriptions: [{ name: 'billing', endpoint: publicUrl }],
  })
  await clock.advance(5_000)
  expect(subscriber.requests).toHaveLength(2)
  expect(emulator.eventSubscriptions()).toMatchObject([{ provisioningState: 'Failed' }])
})
