// `ManualClock` for tests: `advance`, timers that move only by hand.
import { inspect } from 'node:util'
import { type CancelTimer, type Clock, createClock } from '../../../../../src/support/time/clock.ts'
import { DueQueue } from './due-queue.ts'

export type { CancelTimer, Clock }

/** The machine's clock. Its timers do not keep the process alive: the emulator's servers do. */
export const realClock: Clock = createClock({ keepsAlive: false })

/** The pause before something is done again: never twice in one advance of a manual clock, however far that goes. In milliseconds. */
export const pauseBeforeNext = (clock: Clock, ms: number): number =>
  clock instanceof ManualClock ? clock.advancing + ms : ms

/** Milliseconds as they must be given: a whole number from 0. Throws a TypeError for what is no number, else a RangeError. */
export function wholeMs(what: string, ms: number): number {
  const given = inspect(ms).slice(0, 50)
  if (typeof ms !== 'number')
    throw new TypeError(`${what} must be a number of milliseconds, such as 10_000, not ${given}`)
  if (Number.isSafeInteger(ms) && ms >= 0) return ms
  throw new RangeError(`${what} must be a whole number of milliseconds, not ${given}`)
}

interface Timer {
  readonly due: number
  readonly callback: () => void
}

/** Cancelled timers that the queue may hold beside as many as are set. */
const cancelledRoom = 1_000

/**
 * A clock that moves only when {@link ManualClock.advance} is called, so that a day of retries runs in a second.
 * Pass it to the emulator as its `clock`.
 */
export class ManualClock implements Clock {
  #now: number
  /** The end of the advance under way. */
  #target = 0
  /** The timers that are set, in the order in which they were. */
  readonly #timers = new Set<Timer>()
  /** The same by their time. Holds cancelled ones too, which `#next` leaves out. */
  #queue = new DueQueue<Timer>()
  readonly #settlers = new Set<() => Promise<unknown>>()

  /** @param start the clock's first time, in milliseconds since 1970; anything else is an error. @default the present */
  constructor(start: number = Date.now()) {
    this.#now = wholeMs('the start of a ManualClock', start)
  }

  now(): number {
    return this.#now
  }

  setTimer(ms: number, callback: () => void): CancelTimer {
    const timer = { due: this.#now + Math.max(ms, 0), callback }
    this.#timers.add(timer)
    this.#queue.add(timer.due, timer)
    return () => {
      this.#timers.delete(timer)
      if (this.#queue.size > 2 * this.#timers.size + cancelledRoom) this.#dropCancelled()
    }
  }

  /**
   * Makes `advance` wait after each timer until `settled` resolves: the work that a timer starts must end before time
   * moves on. Returns a function that removes it.
   */
  settleWith(settled: () => Promise<unknown>): () => void {
    this.#settlers.add(settled)
    return () => void this.#settlers.delete(settled)
  }

  /**
   * Moves the clock by `ms` and fires all timers due meanwhile in the order of their time, new ones too. Rejects with a TypeError for what
   * is no number, and with a RangeError for a negative number or one with a fraction.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#now + wholeMs('what advance takes', ms)
    this.#target = target
    await this.#settle()
    for (let timer = this.#next(); timer && timer.due <= target; timer = this.#next()) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.due)
      timer.callback()
      await this.#settle()
    }
    this.#now = Math.max(this.#now, target)
  }

  /** What is left of the advance under way, in milliseconds; 0 where none is. */
  get advancing(): number {
    return Math.max(this.#target - this.#now, 0)
  }

  /** Number of timers that are set. */
  get waiting(): number {
    return this.#timers.size
  }

  /** When the next timer is due, in milliseconds since 1970. */
  get nextTimer(): number | undefined {
    return this.#next()?.due
  }

  #next(): Timer | undefined {
    for (let first = this.#queue.first; first; first = this.#queue.first) {
      if (this.#timers.has(first)) return first
      this.#queue.take(first.due)
    }
    return undefined
  }

  #dropCancelled(): void {
    this.#queue = new DueQueue()
    for (const timer of this.#timers) this.#queue.add(timer.due, timer)
  }

  async #settle(): Promise<void> {
    for (const settled of this.#settlers) await settled()
  }
}
