/** What became of the deliveries and handler calls of the last two minutes: what health judges by. */
import type { EventOutcome } from './delivery.ts'

export interface Handling {
  /** Calls of the last two minutes. Bad ones failed, or did not end in time. */
  readonly recent: RecentCounts
  /** The last calls that were bad, with no good one since, however long ago. */
  readonly badInARow: number
}

/** @param elapsed milliseconds of a monotonic clock */
export function createHandling(elapsed: () => number) {
  const recent = createRecentCounts(elapsed)
  let badInARow = 0
  return {
    current: (): Handling => ({ recent: recent.current(), badInARow }),
    ended(outcome: EventOutcome): void {
      // No handler was called.
      if (outcome === 'invalid' || outcome === 'notTried') return
      const isBad = outcome === 'threw' || outcome === 'timedOut'
      recent.add(isBad)
      badInARow = isBad ? badInARow + 1 : 0
    },
  }
}

export interface RecentCounts {
  readonly total: number
  readonly bad: number
}

const windowSeconds = 120

/** @param elapsed milliseconds of a monotonic clock */
export function createRecentCounts(elapsed: () => number) {
  /** By second, the oldest first. */
  const seconds: { readonly second: number; total: number; bad: number }[] = []

  function present(): number {
    const second = Math.floor(elapsed() / 1_000)
    while (seconds[0] !== undefined && seconds[0].second <= second - windowSeconds) seconds.shift()
    return second
  }

  return {
    current(): RecentCounts {
      present()
      let [total, bad] = [0, 0]
      for (const one of seconds) {
        total += one.total
        bad += one.bad
      }
      return { total, bad }
    },
    add(isBad: boolean): void {
      const second = present()
      const last = seconds.at(-1)
      const bad = isBad ? 1 : 0
      if (last?.second !== second) seconds.push({ second, total: 1, bad })
      else {
        last.total++
        last.bad += bad
      }
    },
  }
}
