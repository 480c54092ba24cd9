/** A pause that doubles at each attempt, by chance up to its full length. */

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
