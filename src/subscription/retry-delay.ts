import { backOff } from '../support/back-off.ts'
import type { Verdict } from './judge-failure.ts'

/** What {@link decideRetryDelay} decides from. */
export interface FailedTry {
  readonly verdict: Verdict
  /** Which attempt failed, from 1. */
  readonly attempt: number
  /** What Azure asks for, in ms; 0 where it asks for nothing. */
  readonly retryAfterMs: number
  /** At least 0 and less than 1. */
  readonly random: number
}

const firstMs = 1_000
const longestMs = 30_000
/** What an operator has to put right is looked at twice a minute at most. */
const lastingMs = 30_000
/** Longest `Retry-After` that is believed. */
const longestAskedMs = 3_600_000

/**
 * How long to wait before the next attempt, in ms: exponential with full jitter up to 30 s, so that replicas that start
 * together come apart; at least what Azure asks for; and 30 to 60 s where only an operator can help.
 */
export function decideRetryDelay({ verdict, attempt, retryAfterMs, random }: FailedTry): number {
  const asked = Math.min(retryAfterMs, longestAskedMs)
  if (verdict !== 'passing' && verdict !== 'handshake') return Math.max(asked, lastingMs * (1 + random))
  const jittered = backOff({ attempt, baseMs: firstMs, maxMs: longestMs, random })
  // Jitter on top of what was asked for, or all the replicas would come back in the same second.
  return asked === 0 ? jittered : asked + random * firstMs
}
