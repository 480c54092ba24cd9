import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { bracketEvent } from '../support/bracket-event.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { openListener } from './open-listener.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

it('keeps the bytes alone of events that wait or are handled, and hands each over whole', async () => {
  const end = Promise.withResolvers<void>()
  const handled: unknown[] = []
  // No delivery waits too long, however long the parsing of the others takes.
  const { clock } = createManualClock()
  const { listener, deliver, events } = await openListener({
    clock,
    input: { maxConcurrency: 2 },
    handler({ data, cloudEvent }) {
      handled.push(cloudEvent.id, data.length, Array.isArray(cloudEvent.data))
      // The listener of these tests keeps what it was given.
      events.length = 0
      return end.promise
    },
  })
  const body = bracketEvent('1')
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const answers = Array.from({ length: 6 }, () => deliver(body))
  await vi.waitFor(() => expect(listener.status()).toMatchObject({ running: 2, waiting: 4 }), { timeout: 60_000 })
  // What the test before this one left may die only now.
  const grown = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed - before
  }
  await expect.poll(grown).toBeLessThan(20_000_000)
  end.resolve()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(6).fill(200))
  expect(handled).toEqual(Array(6).fill(['1', body.length, true]).flat())
}, 120_000)
