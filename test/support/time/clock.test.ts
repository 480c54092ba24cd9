import { expect, it, onTestFinished } from 'vitest'
import { createAlarm, pause, systemClock } from '../../../src/support/time/clock.ts'
import { createManualClock } from '../manual-clock.ts'

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

it('rings at the earliest moment that is set, though its timer fires early, and leaves no timer when it is stopped', () => {
  const { clock, advance, pending } = createManualClock()
  const rung: number[] = []
  // Node's timers count from the beginning of the turn in which they are set.
  const early = { ...clock, setTimer: (ms: number, callback: () => void) => clock.setTimer(ms - 1, callback) }
  const alarm = createAlarm(early, (time) => rung.push(time))
  for (const at of [30, 20, 40]) alarm.set(at)
  advance(100)
  expect(rung).toEqual([20])
  alarm.set(300)
  alarm.stop()
  expect(pending()).toBe(0)
})
