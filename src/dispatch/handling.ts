/** How the handler calls of the last two minutes ended, and how many failed in a row: what health judges the application by. */
import { createRecentCounts, type RecentCounts } from '../support/time/recent-counts.ts'
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
