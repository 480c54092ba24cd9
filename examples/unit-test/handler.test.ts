/** A handler, tested by the real binding on an emulator in the same process: no Azure, no fixed port, no sleeping. */
import { Binding, type EventHandler } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it } from 'vitest'

const placed: unknown[] = []
/** What is to be tested. */
const onEvent: EventHandler = ({ cloudEvent }) => void placed.push(cloudEvent.data)

it('takes an order', async () => {
  await using emulator = await EventGridEmulator.start()
  await using binding = new Binding({ endpoints: emulator.endpoints, onEvent })
  // With handshakePort "0" the binding listens on a free port, which it tells once it does.
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const scope = emulator.topic('orders').id
  const subscriberEndpoint = 'https://orders.example.com/api/events'
  await binding.init({
    ...{ tenantId, subscriptionId, clientId, clientSecret },
    ...{ scope, subscriberEndpoint, handshakePort: '0' },
  })

  emulator.raise('orders', [{ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed', data: { order: 1 } }])
  await emulator.settled() // Delivered and acknowledged, at the first try or at a later one.
  expect(placed).toEqual([{ order: 1 }])
})
