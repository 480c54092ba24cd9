import { expect, it, onTestFinished } from 'vitest'
import { pause, systemClock } from '../../../src/support/time/clock.ts'

it('fires a timer once its time is over', async () => {
  const began = systemClock.elapsed()
  await new Promise<void>((resolve) => systemClock.setTimer(5, resolve))
  expect(systemClock.elapsed() - began).toBeGreaterThanOrEqual(4)
})

it('does not fire a timer of years at once', async () => {
  let fired = false
  const cancel = systemClock.setTimer(2 ** 40, () => {
    fired = true
  })
  onTestFinished(cancel)
  await new Promise<void>((resolve) => systemClock.setTimer(5, resolve))
  expect(fired).toBe(false)
})

it('ends a pause at once when its signal aborts', async () => {
  const stop = new AbortController()
  const paused = pause(systemClock, 2 ** 30, stop.signal)
  stop.abort()
  await paused
  await pause(systemClock, 2 ** 30, stop.signal)
})
