/** A handler under fake timers: nothing waits for real time, and the test moves the time of emulator and binding. */
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished, vi } from 'vitest'

const order = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed', data: { article: 'lamp' } }

function fakeTimers(): void {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
}

it('takes an order at the second try, ten seconds later', async () => {
  fakeTimers()
  let articles = 0
  await using emulator = await EventGridEmulator.start()
  await using binding = new Binding({
    endpoints: emulator.endpoints,
    onEvent() {
      if (articles++ === 0) throw new Error('out of stock for now')
    },
  })
  await emulator.connect(binding, { topic: 'orders' })

  emulator.raise('orders', [order])
  await emulator.idle() // The first try is over. settled() would hang here: the time of the second try does not come by itself.
  vi.advanceTimersByTime(11_000) // Ten seconds, and up to a tenth more.
  await emulator.settled()
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([500, 200])
})

it('gives up a handler that takes too long', async () => {
  fakeTimers()
  const started = Promise.withResolvers<AbortSignal>()
  await using emulator = await EventGridEmulator.start()
  await using binding = new Binding({
    endpoints: emulator.endpoints,
    async onEvent({ signal }) {
      started.resolve(signal)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    },
  })
  await emulator.connect(binding, { topic: 'orders', metadata: { handlerTimeout: '5s' } })

  emulator.raise('orders', [order])
  expect((await started.promise).aborted).toBe(false)
  vi.advanceTimersByTime(5000)
  await emulator.idle()
  expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual([503])
})
