import { createPlacedList, type Placed } from '../support/placed-list.ts'
import type { Timers } from '../support/timers.ts'

/** Something that ends at a time, by `now`. */
export interface Expiring extends Placed {
  readonly expiresAt: number
}

/** Tells what has not been removed when its time is over. */
export interface Deadlines<T extends Expiring> {
  add(item: T): void
  remove(item: T): void
  /** Lets the timer go as soon as nothing is left. */
  stop(): void
}

/**
 * One timer for all: a timer for each delivery would be made and thrown away thousands of times a second, and nearly all end in time.
 * The timer is set for the first one, and on firing for the earliest of the rest.
 */
export function createDeadlines<T extends Expiring>(
  timers: Timers,
  now: () => number,
  expire: (item: T) => void,
): Deadlines<T> {
  const open = createPlacedList<T>()
  let timer: Disposable | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let stopped = false

  function disarm(): void {
    timer?.[Symbol.dispose]()
    timer = undefined
    timerAt = Number.POSITIVE_INFINITY
  }

  function arm(at: number): void {
    disarm()
    timerAt = at
    timer = timers.setTimeout(sweep, Math.max(at - now(), 0), undefined)
  }

  function sweep(): void {
    disarm()
    const time = now()
    let next = Number.POSITIVE_INFINITY
    for (const item of open.members) {
      if (item.expiresAt > time) next = Math.min(next, item.expiresAt)
      // Another that expired may have taken it out.
      else if (open.remove(item)) expire(item)
    }
    if (next < timerAt) arm(next)
  }

  return {
    add(item) {
      open.add(item)
      if (item.expiresAt < timerAt) arm(item.expiresAt)
    },
    remove(item) {
      open.remove(item)
      if (stopped && open.size === 0) disarm()
    },
    stop() {
      stopped = true
      if (open.size === 0) disarm()
    },
  }
}
