import { backOff } from '../support/back-off.ts'
export interface RetryDelayOptions {
  readonly attempt: number
  readonly retryAfterMs: number | undefined
  readonly retryBaseMs: number
  readonly retryCapMs: number
  readonly retryAfterCapMs: number
  /** From 0 up to 1, without 1. */
  readonly random: () => number
}

/**
 * Milliseconds until the next attempt (pure): `Retry-After` up to its cap, plus exponential back-off with full
 * jitter, so that throttled replicas do not return at the same moment.
 */
export function retryDelay(options: RetryDelayOptions): number {
  const { attempt, retryAfterMs = 0, retryBaseMs, retryCapMs, retryAfterCapMs, random } = options
  const jitter = backOff({ attempt, baseMs: retryBaseMs, maxMs: retryCapMs, random: random() })
  return Math.min(retryAfterMs, retryAfterCapMs) + Math.floor(jitter)
}
