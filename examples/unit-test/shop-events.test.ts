/** How a handler of several kinds of event is tested: the emulator raises Azure's events, `create` publishes the shop's. */
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished } from 'vitest'
import { type Shop, shopEvents } from './shop-events.ts'

async function openShop() {
  const shop: Shop = { pictures: new Set(), orders: new Map() }
  const emulator = await EventGridEmulator.start()
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent: shopEvents(shop) })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  await emulator.connect(binding, { topic: 'orders' })
  const publish = (type: string, data: unknown) => binding.invoke('create', data, { metadata: { type } })
  return { ...shop, emulator, publish }
}

it('keeps the orders that were placed and not cancelled', async () => {
  const { emulator, publish, orders } = await openShop()
  await publish('order.placed', { order: 'one', article: 'lamp' })
  await publish('order.placed', { order: 'two', article: 'chair' })
  await emulator.settled()
  await publish('order.cancelled', { order: 'one', article: 'lamp' })
  await emulator.settled()
  expect([...orders]).toEqual([['two', 'chair']])
})

it('notes the pictures among new blobs', async () => {
  const { emulator, publish, pictures } = await openShop()
  await publish('Microsoft.Storage.BlobCreated', { contentType: 'image/png', url: 'https://shop.example.com/lamp.png' })
  await publish('Microsoft.Storage.BlobCreated', {
    contentType: 'text/plain',
    url: 'https://shop.example.com/lamp.txt',
  })
  await emulator.settled()
  expect([...pictures]).toEqual(['https://shop.example.com/lamp.png'])
})

it('never asks again for an order without an article', async () => {
  const { emulator, publish } = await openShop()
  await publish('order.placed', { order: 'three' })
  await emulator.settled()
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([400])
})
