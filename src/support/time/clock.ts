/**
 * Time: timers of any length, one timer for many moments, limits of waiting (`within` for work that takes no signal, `withLimit` for the
 * rest), the watch over a state, and durations.
 */
import { isDeepStrictEqual } from 'node:util'

/** Cancels a timer. Does nothing once the timer has fired. */
export type CancelTimer = () => void

/** Time: of the machine, or of a test. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number
  /** Calls back once, `ms` milliseconds from now; never synchronously, not even for 0. */
  setTimer(ms: number, callback: () => void): CancelTimer
}

/** A clock that measures durations as well. */
export interface SteadyClock extends Clock {
  /** Milliseconds since an arbitrary moment. Setting the machine's time does not change it. */
  elapsed(): number
}

// setTimeout takes a signed 32-bit number and fires at once for more.
const maxTimeoutMs = 2 ** 31 - 1

/** @param options.keepsAlive whether a timer keeps the process alive */
export function createClock({ keepsAlive }: { readonly keepsAlive: boolean }): SteadyClock {
  return {
    now: () => Date.now(),
    elapsed: () => performance.now(),
    setTimer(ms, callback) {
      // Read both functions now. If a test replaced them later, its `clearTimeout` could not clear this timer: the process would not end.
      const { setTimeout, clearTimeout } = globalThis
      let timer: NodeJS.Timeout
      const arm = (left: number) => {
        timer =
          left > maxTimeoutMs
            ? setTimeout(() => arm(left - maxTimeoutMs), maxTimeoutMs)
            : setTimeout(callback, Math.max(left, 0))
        if (!keepsAlive) timer.unref()
      }
      arm(ms)
      return () => clearTimeout(timer)
    },
  }
}

/** The machine's clock. Its timers keep the process alive. */
export const systemClock: SteadyClock = createClock({ keepsAlive: true })

/**
 * Uses one timer for many deadlines: a timer for each deadline would cost more than the work that it watches.
 *
 * @param ring called at the earliest moment that is set, with the time. Later moments are forgotten, and have to be set again.
 */
export function createAlarm(clock: Omit<SteadyClock, 'now'>, ring: (time: number) => void) {
  let next: { readonly at: number; readonly cancel: CancelTimer } | undefined
  const stop = () => {
    next?.cancel()
    next = undefined
  }
  return {
    stop,
    /** @param at by `elapsed` */
    set(at: number): void {
      if (next && next.at <= at) return
      stop()
      const cancel = clock.setTimer(Math.max(at - clock.elapsed(), 0), () => {
        next = undefined
        // A timer may fire slightly before its time. The callback then gets the time that was set.
        ring(Math.max(at, clock.elapsed()))
      })
      next = { at, cancel }
    },
  }
}

/** Resolves after a time, or as soon as the signal aborts. Never rejects. */
export function pause(clock: Pick<Clock, 'setTimer'>, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.setTimer(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

/** Waits for `work`, but no longer than `ms` or until the signal aborts. Resolves with whether it has ended, and rejects as it does. */
export async function within(clock: Pick<Clock, 'setTimer'>, ms: number, work: Promise<unknown>, signal?: AbortSignal) {
  const ended = new AbortController()
  const over = signal ? AbortSignal.any([signal, ended.signal]) : ended.signal
  try {
    return await Promise.race([work.then(() => true), pause(clock, ms, over).then(() => false)])
  } finally {
    // With a reason: without one an error with its stack is made, which takes longer than all else here.
    ended.abort(true)
  }
}

export interface TimeLimit {
  /** @default the machine's */
  readonly clock?: Pick<Clock, 'setTimer'>
  readonly ms: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs work that gets a signal of its own, which aborts as `signal` does, or with a TimeoutError after so many milliseconds. Leaves no
 * timer and no listener. `AbortSignal.timeout` would keep its timer after the work, and thousands of them would wake the process.
 */
export async function withLimit<T>(
  { clock = systemClock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const end = () => limit.abort(signal?.reason)
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  const late = () => limit.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const cancel = clock.setTimer(ms, late)
  try {
    return await work(limit.signal)
  } finally {
    cancel()
    signal?.removeEventListener('abort', end)
  }
}

/** Longest time of a read before the log and the health tell of it, in milliseconds. */
export const lateReadMs = 10_000

export interface WatchOptions<State> {
  /** Reads what is watched. A rejection counts as no change. */
  readonly read: () => Promise<State>
  readonly known: State
  /** Called with a new state, and with the same one after `late`. The next poll waits until it has resolved. */
  readonly changed: (state: State) => Promise<void>
  /** Called once for each read that takes longer than `lateReadMs`. The watch goes on when that read ends. */
  readonly late: () => void
  /** Milliseconds between two polls. @default 250 */
  readonly intervalMs?: number
}

/**
 * Polls, and calls back when the state has changed and two polls in a row have read the same: a file that is being
 * written is empty for a moment, which must not remove its components. Returns a function that stops the watch and
 * resolves when a running callback has ended.
 */
export function watchState<State>({ read, changed, late, intervalMs = 250, ...options }: WatchOptions<State>) {
  const stopping = new AbortController()
  const { signal } = stopping

  async function watch(): Promise<void> {
    let known: State | undefined = options.known
    let seen: State | undefined = known
    for (;;) {
      await pause(systemClock, intervalMs, signal)
      if (signal.aborted) return
      const reading = read().catch(() => undefined)
      if (!(await within(systemClock, lateReadMs, reading, signal)) && !signal.aborted) {
        late()
        known = undefined
      }
      const state = await reading
      if (signal.aborted) return
      if (state === undefined) continue
      const isSettled = isDeepStrictEqual(state, seen)
      seen = state
      if (!isSettled || isDeepStrictEqual(state, known)) continue
      known = state
      await changed(state)
    }
  }

  const ended = watch()
  return (): Promise<void> => {
    stopping.abort()
    return ended
  }
}

/** The timers as they were when this module was loaded. Tests replace timers later: vitest those of `globalThis`, node:test all. */
export const realTimers = {
  setImmediate,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  now: Date.now,
  /** As `AbortSignal.timeout`. */
  abortAfter: AbortSignal.timeout,
} as const

const part = (unit: string) => `(?:(\\d+(?:[.,]\\d+)?)${unit})?`
const duration = new RegExp(`^P${part('W')}${part('D')}(?:T${part('H')}${part('M')}${part('S')})?$`, 'i')

/** The seconds of a duration of weeks, days, hours, minutes and seconds (ISO 8601); `undefined` for any other text. */
export function durationSeconds(text: string): number | undefined {
  const parts = duration.exec(text)
  if (!parts || /[PT]$/i.test(text)) return undefined
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((count = '0') => Number(count.replace(',', '.')))
  return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds
}

/** A duration for people: `5 ms`, `60 s`, `10 min`, `3 h`. */
export function durationWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}
