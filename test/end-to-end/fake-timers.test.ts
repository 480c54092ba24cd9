// Binding and emulator work while a test fakes timers and dates: only what waits for a time waits for the test.
import { mock } from 'node:test'
import { expect, it, onTestFinished, vi } from 'vitest'
import { EventGridEmulator, ManualClock } from '../../packages/emulator/src/index.ts'
import { Binding } from '../../src/index.ts'

const event = { specversion: '1.0', id: '1', source: '/shop', type: 'order.placed', data: { order: 1 } }
const namespaces = [{ name: 'shop', topics: [{ name: 'queue', eventSubscriptions: [{ name: 'app' }] }] }]

const fakes = [
  { fake: 'vi.useFakeTimers()', enable: () => vi.useFakeTimers() },
  { fake: 'vi.useFakeTimers() in 2040', enable: () => vi.useFakeTimers({ now: Date.UTC(2040) }) },
  { fake: 'mock.timers.enable(), in 1970', enable: () => mock.timers.enable() },
].map(({ fake, enable }) => ({
  fake,
  enable() {
    enable()
    onTestFinished(() => {
      vi.useRealTimers()
      mock.timers.reset()
    })
  },
}))

it.each(fakes.flatMap((row) => [true, false].map((first) => ({ ...row, first }))))(
  'publishes, delivers, receives and closes with $fake, faked before the start: $first',
  async ({ enable, first }) => {
    if (first) enable()
    const emulator = await EventGridEmulator.start({ namespaces })
    const handled: string[] = []
    const open = (side: string) =>
      new Binding({
        endpoints: emulator.endpoints,
        onEvent: ({ cloudEvent }) => void handled.push(`${side} ${cloudEvent.id}`),
      })
    const [push, pull] = [open('push'), open('pull')]
    await emulator.connect(push, { topic: 'orders' })
    const { id, endpoint, key, namespaceEndpoint } = emulator.namespaceTopic('queue')
    await pull.init({
      ...{ deliveryMode: 'pull', namespaceTopic: id, namespaceEndpoint, namespaceKey: key },
      ...{ eventSubscriptionName: 'app', topicEndpoint: endpoint, accessKey: key },
    })
    if (!first) enable()
    for (const round of ['1', '2']) {
      for (const binding of [push, pull]) await binding.invoke('create', { ...event, id: round })
      await emulator.settled()
    }
    expect(handled.toSorted()).toEqual(['pull 1', 'pull 2', 'push 1', 'push 2'])
    for (const each of [push, pull, emulator]) await each.close()
  },
)

it.each(fakes)('waits for a handler in settled, in advance and in close, with $fake', async ({ enable }) => {
  enable()
  const clock = new ManualClock()
  const emulator = await EventGridEmulator.start({ clock })
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const onEvent = () => {
    begun.resolve()
    return end.promise
  }
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent })
  await emulator.connect(binding, { topic: 'orders' })
  emulator.raise('orders', [event])
  await begun.promise
  await expect(emulator.settled({ timeout: 20 })).rejects.toThrow(/still pending after 20 ms/)
  const advancing = clock.advance(60_000)
  const closing = binding.close()
  end.resolve()
  await Promise.all([closing, advancing])
  await emulator.settled()
  expect(emulator.records.deliveries.all().map(({ outcome }) => outcome)).toEqual(['delivered'])
  await emulator.close()
})
