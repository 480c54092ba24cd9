/** Background work, work in sequence, pauses between retries, and a bounded map. */

/** Runs work that nobody awaits. @param failed gets the rejection of the work; an error that `failed` itself throws is ignored */
export function inBackground(work: Promise<unknown>, failed: (error: unknown) => void): void {
  work.catch(failed).catch(() => {})
}

/**
 * Makes a function that runs pieces of work in the order of its calls. The caller gets the result or the error of its own. Where the
 * signal aborts before its turn has come, the work is left out, and the caller gets the reason of the signal at once.
 */
export function createTurns() {
  let last: Promise<unknown> = Promise.resolve()
  return async function inTurn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const giveUp = () => reject(signal?.reason)
    signal?.addEventListener('abort', giveUp, { once: true })
    last = last.then(async () => {
      signal?.removeEventListener('abort', giveUp)
      try {
        signal?.throwIfAborted()
        resolve(await work())
      } catch (error) {
        reject(error)
      }
    })
    return promise
  }
}

/** Sets an entry as the newest of a map, and removes the oldest ones beyond `max`. */
export function keepNewest<K, V>(map: Map<K, V>, key: K, value: V, max: number): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= max) return
    map.delete(oldest)
  }
}

export interface BackOffOptions {
  /** Failed attempts so far, from 1. */
  readonly attempt: number
  /** Longest pause after the first failure, in milliseconds; it doubles with each further one. */
  readonly baseMs: number
  readonly maxMs: number
  /** At least 0 and less than 1. */
  readonly random: number
}

/** Milliseconds until the next attempt: exponential back-off with full jitter, so that replicas that start together come apart. */
export function backOff({ attempt, baseMs, maxMs, random }: BackOffOptions): number {
  return random * Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30))
}

/** The pace of one kind of request. */
export interface RetryPace {
  /** Longest pause after the first failure, in milliseconds; it doubles with each further one. */
  readonly baseMs: number
  readonly maxMs: number
  /** Longest pause that is taken because the answer asks for it (`Retry-After`), in milliseconds. */
  readonly maxAskedMs: number
}

/** An attempt that failed. */
export interface FailedTry {
  /** Failed attempts so far, from 1. */
  readonly attempt: number
  /** What the answer asks for, in milliseconds. @default 0 */
  readonly retryAfterMs?: number | undefined
  /** Until the deadline, in milliseconds. @default without end */
  readonly leftMs?: number | undefined
  /** At least 0 and less than 1. */
  readonly random: number
}

/** With less time left than this, in milliseconds, there is no further attempt. */
export const minLeftMs = 250

/**
 * Milliseconds until the next attempt; `undefined`: there is none before the deadline. The pause is what the answer asks for, and a
 * back-off on top of it, so that throttled replicas do not return at the same moment.
 */
export function retryPause(
  { attempt, retryAfterMs = 0, leftMs = Number.POSITIVE_INFINITY, random }: FailedTry,
  { baseMs, maxMs, maxAskedMs }: RetryPace,
): number | undefined {
  const pauseMs = Math.min(retryAfterMs, maxAskedMs) + backOff({ attempt, baseMs, maxMs, random })
  return leftMs < minLeftMs || pauseMs >= leftMs ? undefined : pauseMs
}
