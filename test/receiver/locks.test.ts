import { expect, it } from 'vitest'
import { Binding } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { openPull, order } from '../support/open-pull.ts'

/** Shorter than the shortest lock: what was handled within it was not locked for nobody. */
const shorterThanLock = 20_000

it('after an update the event that is published next is handled at once', async () => {
  const { binding, byKey, events, publish } = await openPull()
  await binding.init(byKey)
  for (let round = 1; round <= 3; round++) {
    await binding.update({ ...byKey, maxConcurrency: String(10 + round) })
    const publishedAt = performance.now()
    await publish(order(`round-${round}`))
    await eventually(() => expect(events).toHaveLength(round))
    expect(performance.now() - publishedAt).toBeLessThan(shorterThanLock)
  }
  const closedAt = performance.now()
  await binding.close()
  // The requests of former receivers end with it.
  expect(performance.now() - closedAt).toBeLessThan(shorterThanLock)
})

it('a close leaves no event locked that is published meanwhile', async () => {
  const { binding, byKey, events, publish, emulator } = await openPull()
  await binding.init(byKey)
  await publish(order('first'))
  await eventually(() => expect(events).toHaveLength(1))
  const closing = binding.close()
  for (let index = 0; index < 20; index++) await publish(order(`meanwhile-${index}`))
  await closing
  const publishedAt = performance.now()
  const ids = new Set(events.map(({ cloudEvent }) => cloudEvent.id))
  const next = new Binding({
    endpoints: emulator.endpoints,
    onEvent: ({ cloudEvent }) => void ids.add(cloudEvent.id),
  })
  await next.init(byKey)
  await eventually(() => expect(ids.size).toBe(21))
  await next.close()
  expect(performance.now() - publishedAt).toBeLessThan(shorterThanLock)
})
