import { backOff } from '../support/back-off.ts'
import type { Verdict } from './judge-failure.ts'

export interface FailedTry {
  readonly verdict: Verdict
  readonly attempt: number
  /** What Azure asks for, in ms; 0 where it asks for nothing. */
  readonly retryAfterMs: number
  readonly random: number
  /** The time over which the replicas spread one attempt each, in ms. @default 0 */
  readonly spreadMs?: number
}

const baseMs = 1_000
const maxMs = 30_000
/** Shortest pause after a failure that only an operator can correct. */
const lastingMs = 30_000
/** Longest `Retry-After` that is honoured. */
const maxRetryAfterMs = 3_600_000

/**
 * The pause before the next attempt, in ms (pure): exponential back-off with full jitter up to 30 s, and 30 to 60 s where only
 * an operator can help. It is never shorter than Azure asks for.
 */
export function decideRetryDelay({ verdict, attempt, retryAfterMs, random, spreadMs = 0 }: FailedTry): number {
  const asked = Math.min(retryAfterMs, maxRetryAfterMs)
  // The pauses are half as long on average.
  const fleetMs = 2 * spreadMs
  if (verdict !== 'passing' && verdict !== 'handshake') {
    return Math.max(asked, lastingMs) + random * Math.max(lastingMs, fleetMs)
  }
  const jittered = backOff({ attempt, baseMs, maxMs: Math.max(maxMs, fleetMs), random })
  // Without jitter on top of it all replicas would return in the same second.
  return asked === 0 ? jittered : asked + Math.max(jittered, random * fleetMs)
}
