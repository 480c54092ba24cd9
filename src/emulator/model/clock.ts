import { type CancelTimer, type Clock, createClock } from '../../support/clock.ts'

export type { CancelTimer, Clock }

/** The machine's clock. Its timers do not keep the process alive: the emulator's servers do. */
export const realClock: Clock = createClock({ keepsAlive: false })

interface Timer {
  readonly due: number
  readonly callback: () => void
}

/**
 * A clock that stands still until {@link ManualClock.advance} moves it, so that a day of retries runs in a second.
 * Given to the emulator as its `clock`.
 */
export class ManualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()
  readonly #settlers = new Set<() => Promise<void>>()

  /** @param start where the clock stands first, in milliseconds since 1970. @default the present */
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
   * Has `advance` wait, after each timer, until `settled` resolves: what a timer began must end before time goes
   * on. Returns the way to undo it.
   */
  settleWith(settled: () => Promise<void>): () => void {
    this.#settlers.add(settled)
    return () => void this.#settlers.delete(settled)
  }

  /**
   * Moves the clock by `ms`, firing every timer on the way in the order of its time, also those that are set meanwhile.
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

  /** How many timers wait. */
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
