import { AsyncResource } from 'node:async_hooks'
import type { SteadyClock } from '../../src/support/time/clock.ts'

/** Time that passes when the test says so. */
export function createManualClock(start = Date.parse('2026-03-11T08:00:00Z')) {
  let now = start
  let elapsed = 0
  const timers = new Set<{ readonly at: number; run(): void }>()
  let waiters: { matches: (delayMs: number) => boolean; resolve: (delayMs: number) => void }[] = []
  const delays: number[] = []
  const clock: SteadyClock = {
    now: () => now,
    elapsed: () => elapsed,
    setTimer(delayMs, callback) {
      // As Node's timers do.
      const timer = { at: elapsed + delayMs, run: AsyncResource.bind(callback) }
      timers.add(timer)
      delays.push(delayMs)
      waiters = waiters.filter(({ matches, resolve }) => {
        if (!matches(delayMs)) return true
        resolve(delayMs)
        return false
      })
      return () => void timers.delete(timer)
    },
  }
  const passTo = (moment: number) => {
    const ms = Math.max(0, moment - elapsed)
    now += ms
    elapsed += ms
  }
  return {
    clock,
    now: clock.now,
    /** Sets the clock, as somebody or a time server does: no time passes. */
    setForward(byMs: number) {
      now += byMs
    },
    /** Lets time pass. Timers that are set meanwhile run too, each at its time. */
    advance(byMs: number) {
      const end = elapsed + byMs
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)
        if (!next) break
        timers.delete(next)
        passTo(next.at)
        next.run()
      }
      passTo(end)
    },
    /** Resolves when somebody begins to wait for such a time. */
    waits: (matches: (delayMs: number) => boolean) =>
      new Promise<number>((resolve) => {
        waiters.push({ matches, resolve })
      }),
    delays,
    /** Timers that wait. */
    pending: () => timers.size,
  }
}
