import type { SteadyClock } from '../../src/support/time/clock.ts'

/** Time that passes when the test says so. */
export function createManualClock(start = Date.parse('2026-03-11T08:00:00Z')) {
  let now = start
  let elapsed = 0
  let timers: { at: number; run: () => void }[] = []
  let waiters: { matches: (delayMs: number) => boolean; resolve: (delayMs: number) => void }[] = []
  const delays: number[] = []
  const clock: SteadyClock = {
    now: () => now,
    elapsed: () => elapsed,
    setTimer(delayMs, run) {
      const timer = { at: elapsed + delayMs, run }
      timers.push(timer)
      delays.push(delayMs)
      waiters = waiters.filter(({ matches, resolve }) => {
        if (!matches(delayMs)) return true
        resolve(delayMs)
        return false
      })
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  }
  return {
    clock,
    /** Sets the clock, as somebody or a time server does: no time passes. */
    setForward(byMs: number) {
      now += byMs
    },
    /** Lets time pass. */
    advance(byMs: number) {
      now += byMs
      elapsed += byMs
      const due = timers.filter(({ at }) => at <= elapsed)
      timers = timers.filter(({ at }) => at > elapsed)
      for (const { run } of due) run()
    },
    /** Resolves when somebody begins to wait for such a time. */
    waits: (matches: (delayMs: number) => boolean) =>
      new Promise<number>((resolve) => {
        waiters.push({ matches, resolve })
      }),
    delays,
    pending: () => timers.length,
  }
}
