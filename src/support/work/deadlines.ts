// One shared timer for many items with a deadline each.
import type { CancelTimer, Clock } from '../time/clock.ts'
import { countOf, createPlacedList, membersOf, type Placed, type PlacedList, place, unplace } from './placed-list.ts'

/** An item with a deadline, by `now`. */
export interface Expiring extends Placed {
  readonly expiresAt: number
}

export interface DeadlinesOptions<T extends Expiring> {
  readonly clock: Pick<Clock, 'setTimer'>
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Called for items still present at their deadline. */
  readonly expire: (item: T) => void
}

/**
 * The deadlines of all items, with one timer: thousands of items come and go each second, and nearly all are
 * removed before their deadline. The timer is set for the first item. When it fires, it is set for the earliest of the rest.
 */
export interface Deadlines<T extends Expiring> {
  readonly options: DeadlinesOptions<T>
  readonly open: PlacedList<T>
  cancel: CancelTimer | undefined
  /** When the timer fires; infinite without one. */
  timerAt: number
  stopped: boolean
}

export function createDeadlines<T extends Expiring>(options: DeadlinesOptions<T>): Deadlines<T> {
  return { options, open: createPlacedList(), cancel: undefined, timerAt: Number.POSITIVE_INFINITY, stopped: false }
}

/** Adds an item that is in no list yet. `expire` may add it again. */
export function addDeadline<T extends Expiring>(deadlines: Deadlines<T>, item: T): void {
  place(deadlines.open, item)
  if (item.expiresAt < deadlines.timerAt) setFor(deadlines, item.expiresAt)
}

export function removeDeadline<T extends Expiring>(deadlines: Deadlines<T>, item: T): void {
  unplace(deadlines.open, item)
  if (deadlines.stopped) clearIfEmpty(deadlines)
}

/** Clears the timer as soon as no item is left. */
export function stopDeadlines<T extends Expiring>(deadlines: Deadlines<T>): void {
  deadlines.stopped = true
  clearIfEmpty(deadlines)
}

function clearIfEmpty<T extends Expiring>(deadlines: Deadlines<T>): void {
  if (countOf(deadlines.open) === 0) clear(deadlines)
}

function clear<T extends Expiring>(deadlines: Deadlines<T>): void {
  deadlines.cancel?.()
  deadlines.cancel = undefined
  deadlines.timerAt = Number.POSITIVE_INFINITY
}

function setFor<T extends Expiring>(deadlines: Deadlines<T>, at: number): void {
  const { clock, now } = deadlines.options
  clear(deadlines)
  deadlines.timerAt = at
  deadlines.cancel = clock.setTimer(Math.max(at - now(), 0), () => sweep(deadlines))
}

function sweep<T extends Expiring>(deadlines: Deadlines<T>): void {
  const { now, expire } = deadlines.options
  clear(deadlines)
  const time = now()
  let next = Number.POSITIVE_INFINITY
  for (const item of membersOf(deadlines.open)) {
    if (item.expiresAt > time) next = Math.min(next, item.expiresAt)
    // False where another item that expired has removed this one.
    else if (unplace(deadlines.open, item)) expire(item)
  }
  if (next < deadlines.timerAt) setFor(deadlines, next)
}
