import type { CancelTimer, Clock } from '../support/clock.ts'
import { createPlacedList, type Placed } from '../support/placed-list.ts'

/** An item with a deadline, by `now`. */
export interface Expiring extends Placed {
  readonly expiresAt: number
}

/**
 * Calls `expire` for items still present at their deadline. One timer for all items: thousands of deliveries begin and end each second, and
 * nearly all end in time. The timer is set for the first item; when it fires it is set for the earliest of the rest.
 */
export function createDeadlines<T extends Expiring>(
  clock: Pick<Clock, 'setTimer'>,
  now: () => number,
  expire: (item: T) => void,
) {
  const open = createPlacedList<T>()
  let cancel: CancelTimer | undefined
  let timerAt = Number.POSITIVE_INFINITY
  let stopped = false

  function clear(): void {
    cancel?.()
    cancel = undefined
    timerAt = Number.POSITIVE_INFINITY
  }

  function setFor(at: number): void {
    clear()
    timerAt = at
    cancel = clock.setTimer(Math.max(at - now(), 0), sweep)
  }

  function sweep(): void {
    clear()
    const time = now()
    let next = Number.POSITIVE_INFINITY
    for (const item of open.members) {
      if (item.expiresAt > time) next = Math.min(next, item.expiresAt)
      // False where another item that expired has removed this one.
      else if (open.remove(item)) expire(item)
    }
    if (next < timerAt) setFor(next)
  }

  return {
    add(item: T): void {
      open.add(item)
      if (item.expiresAt < timerAt) setFor(item.expiresAt)
    },
    remove(item: T): void {
      open.remove(item)
      if (stopped && open.size === 0) clear()
    },
    /** Clears the timer as soon as no item is left. */
    stop(): void {
      stopped = true
      if (open.size === 0) clear()
    },
  }
}
