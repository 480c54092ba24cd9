/** Counts of the last two minutes: how many there were, and how many of them were bad. */

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
