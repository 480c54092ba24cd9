/** The pause before the next attempt at an event subscription. */
import type { Verdict } from '../../azure/refusals/resource-manager-refusal.ts'
import { backOff } from '../../support/time/back-off.ts'

/**
 * `timeout` gives up after `subscriptionTimeout`, and at once where waiting does not help. `forever` goes on, because
 * an operator may correct the cause while the sidecar runs.
 */
export type Patience = 'timeout' | 'forever'

/** What decides the pause after an attempt that failed. */
export interface AttemptFailure {
  readonly verdict: Verdict
  /** It ran out of time: the failure before it says more. */
  readonly ranOut: boolean
  /** What Azure asks for, in ms; 0 where it asks for nothing. */
  readonly retryAfterMs: number
}

/** With less time left than this there is no further attempt. */
export const minAttemptMs = 250

/** Only an operator can correct it: waiting alone does not help. */
export const isLasting = (verdict: Verdict): boolean => verdict !== 'passing' && verdict !== 'handshake'

interface Pace {
  readonly attempt: number
  readonly random: number
}

/** Milliseconds before the next attempt; `undefined`: there is no next attempt. */
export function decidePause(
  failed: AttemptFailure,
  { patience, left, ...pace }: Pace & { readonly patience: Patience; readonly left: number },
): number | undefined {
  const delay = decideRetryDelay({ ...failed, ...pace })
  if (patience === 'forever') return delay
  // Unless Azure asks for a longer pause, the time that is left is used for another attempt.
  const pauseMs = failed.retryAfterMs === 0 ? Math.min(delay, left / 2) : delay
  return isLasting(failed.verdict) || failed.ranOut || left < minAttemptMs || pauseMs >= left ? undefined : pauseMs
}

const baseMs = 1_000
const maxMs = 30_000
/** Shortest pause after a failure that only an operator can correct. */
const lastingMs = 30_000
/** Longest `Retry-After` that is honoured. */
const maxRetryAfterMs = 3_600_000

/**
 * The pause before the next attempt, in ms (pure): exponential back-off with full jitter up to 30 s, and 30 to 60 s where only
 * an operator can help. It is never shorter than Azure asks for, up to an hour.
 */
export function decideRetryDelay({
  verdict,
  retryAfterMs,
  attempt,
  random,
}: Pick<AttemptFailure, 'verdict' | 'retryAfterMs'> & Pace): number {
  const asked = Math.min(retryAfterMs, maxRetryAfterMs)
  if (isLasting(verdict)) return Math.max(asked, lastingMs) + random * lastingMs
  // Without jitter on top of it all replicas would return in the same second.
  return asked + backOff({ attempt, baseMs, maxMs, random })
}
