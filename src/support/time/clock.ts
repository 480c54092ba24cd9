// Time source and timers, long ones too; pause that a signal ends.

/** Cancels a timer; has no effect once it has fired. */
export type CancelTimer = () => void

/** Time: the machine's, or that of a test. */
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
      // Both at once: a test that fakes them later could not clear this timer, which would keep its process alive.
      const { setTimeout, clearTimeout } = globalThis
      const due = performance.now() + ms
      let timer: NodeJS.Timeout
      const arm = (left: number) => {
        timer =
          left > maxTimeoutMs
            ? setTimeout(() => arm(due - performance.now()), maxTimeoutMs)
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

/** Waits for `work`, but no longer than `ms`. Resolves with whether it has ended, and rejects as it does. */
export async function within(clock: Pick<Clock, 'setTimer'>, ms: number, work: Promise<unknown>): Promise<boolean> {
  const ended = new AbortController()
  try {
    return await Promise.race([work.then(() => true), pause(clock, ms, ended.signal).then(() => false)])
  } finally {
    ended.abort()
  }
}

/**
 * Runs work that gets a signal of its own, which aborts with `signal` or after so many milliseconds. Leaves no timer and no listener.
 * `AbortSignal.timeout` would keep its timer after the work, and thousands of them would wake the process.
 */
export async function withLimit<T>(
  { clock, ms, signal }: { readonly clock: Pick<Clock, 'setTimer'>; readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const end = () => limit.abort()
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const cancel = clock.setTimer(ms, end)
  try {
    return await work(limit.signal)
  } finally {
    cancel()
    signal.removeEventListener('abort', end)
  }
}
