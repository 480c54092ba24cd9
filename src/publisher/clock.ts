/** Time as a publisher sees it; a test passes its own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of any beginning, of a clock that nobody sets: what is only measured is measured by it. */
  elapsed(): number
  /** Runs something once, later. Returns what calls it off. */
  after(delayMs: number, run: () => void): () => void
}

/** The time of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Resolves after a time, or at once when the signal aborts. Never rejects. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = clock.after(delayMs, end)
    signal.addEventListener('abort', end, { once: true })
  })
}
