/** How many deliveries in a row the application failed. */

/** Deliveries in a row that the application failed or did not answer in time; the times in epoch milliseconds. */
export interface FailureStreak {
  readonly count: number
  readonly since: number
  readonly lastAt: number
}

/** Counts them: a success ends the row, time alone does not. @param now epoch milliseconds */
export function createFailureStreak(now: () => number) {
  let streak: FailureStreak | undefined
  return {
    /** `undefined` where the last one succeeded, or there was none. */
    current: () => streak,
    failed(): void {
      const at = now()
      streak = { count: (streak?.count ?? 0) + 1, since: streak?.since ?? at, lastAt: at }
    },
    succeeded(): void {
      streak = undefined
    },
  }
}
