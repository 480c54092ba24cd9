import type { Timers } from '../../src/support/timers.ts'

/** Time that passes only when told to. */
export function createManualClock(start = Date.UTC(2026, 10, 21)) {
  let time = start
  const due = new Set<{ readonly at: number; run(): void }>()
  const timers: Timers = {
    setTimeout(callback, milliseconds, argument) {
      const timer = { at: time + milliseconds, run: () => callback(argument) }
      due.add(timer)
      return { [Symbol.dispose]: () => void due.delete(timer) }
    },
  }
  return {
    now: () => time,
    timers,
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
