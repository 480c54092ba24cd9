// `ManualClock` for tests: `advance`, timers that move only by hand.
import { type CancelTimer, type Clock, createClock } from '../../../support/time/clock.ts'

export type { CancelTimer, Clock }

/** The machine's clock. Its timers do not keep the process alive: the emulator's servers do. */
export const realClock: Clock = createClock({ keepsAlive: false })

interface Timer {
  readonly due: number
  readonly callback: () => void
}

/**
 * A clock that moves only when {@link ManualClock.advance} is called, so that a day of retries runs in a second.
 * Pass it to the emulator as its `clock`.
 */
export class ManualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()
  readonly #settlers = new Set<() => Promise<unknown>>()

  /** @param start the clock's first time, in milliseconds since 1970. @default the present */
  constructor(start: number = Date.now()) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  setTimer(ms: number, callback: () => void): CancelTimer {
    const timer = { due: this.#now + Math.max(ms, 0), callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
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
   * Moves the clock by `ms` and fires all timers due meanwhile in the order of their time, new ones too.
   */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    await this.#settle()
    for (let timer = this.#nextUntil(target); timer; timer = this.#nextUntil(target)) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.due)
      timer.callback()
      await this.#settle()
    }
    this.#now = Math.max(this.#now, target)
  }

  /** Number of timers that are set. */
  get waiting(): number {
    return this.#timers.size
  }

  /** When the next timer is due, in milliseconds since 1970. */
  get nextTimer(): number | undefined {
    return this.#nextUntil(Number.POSITIVE_INFINITY)?.due
  }

  #nextUntil(limit: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers) if (timer.due <= limit && (!next || timer.due < next.due)) next = timer
    return next
  }

  async #settle(): Promise<void> {
    for (const settled of this.#settlers) await settled()
  }
}
