import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../../src/support/time/clock.ts'

/** A clock that a test advances. */
export function createManualClock(start = Date.UTC(2026, 10, 21)) {
  let time = start
  const due = new Set<{ readonly at: number; run(): void }>()
  const clock: Clock = {
    now: () => time,
    setTimer(milliseconds, callback) {
      // As Node's timers do.
      const timer = { at: time + milliseconds, run: AsyncResource.bind(callback) }
      due.add(timer)
      return () => void due.delete(timer)
    },
  }
  return {
    now: () => time,
    clock,
    /** Timers that wait. */
    pending: () => due.size,
    advance(milliseconds: number) {
      const end = time + milliseconds
      for (;;) {
        const [next] = [...due].filter((timer) => timer.at <= end).sort((one, other) => one.at - other.at)
        if (!next) break
        due.delete(next)
        time = Math.max(time, next.at)
        next.run()
      }
      time = end
    },
  }
}
