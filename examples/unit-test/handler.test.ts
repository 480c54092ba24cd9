/** A handler, tested by the real binding on an emulator in the same process: no Azure, no fixed port, no sleeping. */
import { Binding, type EventHandler } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it } from 'vitest'

const placed: unknown[] = []
/** The handler under test. */
const onEvent: EventHandler = ({ cloudEvent }) => void placed.push(cloudEvent.data)

it('takes an order', async () => {
  await using emulator = await EventGridEmulator.start()
  await using binding = new Binding({ endpoints: emulator.endpoints, onEvent })
  await emulator.connect(binding, { topic: 'orders' })

  emulator.raise('orders', [{ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed', data: { order: 1 } }])
  await emulator.settled() // Delivered and acknowledged, at the first attempt or a later one.
  expect(placed).toEqual([{ order: 1 }])
})
