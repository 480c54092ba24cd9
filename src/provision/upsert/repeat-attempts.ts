// Attempts until the subscription is provisioned or `subscriptionTimeout` is over: pauses (30 s, 30-60 s), TIMEOUT,
// ABORTED.
import { readFailure } from '../../azure/read-failure.ts'
import {
  explainFailure,
  type FailureContext,
  judgeFailure,
  type Verdict,
} from '../../azure/resource-manager-refusal.ts'
import { BindingError, inWords } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { EitherInput } from '../../metadata/typed/metadata.ts'
import { backOff } from '../../support/time/back-off.ts'
import { pause, type SteadyClock } from '../../support/time/clock.ts'

export type WriteAction = 'created' | 'patched' | 'replaced'

export interface UpsertOutcome {
  /** `notPermitted`: it may not be read or written here, and is used as it is. */
  readonly action: 'kept' | 'notPermitted' | WriteAction
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
}

/** One attempt that failed. Holds no secret. */
export interface FailedAttempt {
  readonly attempt: number
  readonly error: BindingError
  /** Pause before the next attempt, in ms; absent after the last attempt. */
  readonly retryInMs?: number
  /** It does not exist, and `provisioning` is `check`. */
  readonly isMissing: boolean
}

/** How an upsert treats failures. */
export interface Persistence {
  readonly signal: AbortSignal
  /**
   * `timeout` gives up after `subscriptionTimeout`, and at once where waiting does not help. `forever` goes on, because
   * an operator may correct the cause while the sidecar runs.
   */
  readonly patience: 'timeout' | 'forever'
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
}

export interface RepeatOptions<Outcome> extends Persistence {
  readonly input: Pick<EitherInput, 'eventSubscriptionName' | 'subscriptionTimeoutMs'>
  /** One attempt, which ends by the deadline (milliseconds of the clock's `elapsed`). */
  readonly attemptOnce: (deadline: number, attempt: number) => Promise<Outcome>
  readonly context: () => FailureContext
  readonly logger: Logger
  readonly clock: SteadyClock
  readonly random: () => number
}

/** No attempt starts with less time than this. */
const minAttemptMs = 250

/**
 * Repeats the attempts of an upsert until one succeeds.
 *
 * @throws BindingError by the last failure, TIMEOUT (its cause is the last failure) or ABORTED
 */
export async function repeatAttempts<Outcome>(options: RepeatOptions<Outcome>): Promise<Outcome> {
  const { input, attemptOnce, signal, logger, patience, onAttempt, clock, random } = options
  const { eventSubscriptionName: name, subscriptionTimeoutMs: timeoutMs } = input
  const started = clock.elapsed()
  let lastFailure: BindingError | undefined

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw aborted(name)
    try {
      return await attemptOnce((patience === 'timeout' ? started : clock.elapsed()) + timeoutMs, attempt)
    } catch (error) {
      if (signal.aborted) throw aborted(name)
      const left = started + timeoutMs - clock.elapsed()
      const failed = judgeAttempt(error, options.context(), { left, now: clock.now() })
      const retryInMs = decidePause(failed, { attempt, patience, left, random: random() })
      onAttempt?.({
        attempt,
        error: failed.error,
        isMissing: failed.isMissing,
        ...(retryInMs !== undefined && { retryInMs }),
      })
      if (retryInMs === undefined) {
        if (isLasting(failed.verdict)) throw failed.error
        const cause = failed.ranOut && lastFailure ? lastFailure : failed.error
        throw timedOut(cause, { name, attempts: attempt, elapsedMs: clock.elapsed() - started })
      }
      if (!failed.ranOut) lastFailure = failed.error
      logAttempt(logger, failed, { attempt, retryInMs: Math.round(retryInMs) })
      await pause(clock, retryInMs, signal)
    }
  }
}

interface Failed {
  readonly error: BindingError
  readonly verdict: Verdict
  /** It ran out of time: the failure before it says more. */
  readonly ranOut: boolean
  /** What Azure asks for, in ms; 0 where it asks for nothing. */
  readonly retryAfterMs: number
  readonly isMissing: boolean
}

/** Only an operator can correct it: waiting alone does not help. */
const isLasting = (verdict: Verdict): boolean => verdict !== 'passing' && verdict !== 'handshake'

/** @param time `left` until the end, in ms, and `now` in ms since 1970 */
function judgeAttempt(
  error: unknown,
  context: FailureContext,
  time: { readonly left: number; readonly now: number },
): Failed {
  if (error instanceof BindingError)
    return { error, verdict: 'rejected', ranOut: false, retryAfterMs: 0, isMissing: false }
  const failure = readFailure(error, time.now)
  const { kind, retryAfterMs = 0 } = failure
  const explained = explainFailure(failure, context)
  return {
    error: new BindingError(explained.code, explained),
    verdict: judgeFailure(failure),
    // A request without an answer when our own time ends says nothing about the network.
    ranOut: kind === 'deadline' || ((kind === 'network' || kind === 'token') && time.left < minAttemptMs),
    retryAfterMs,
    isMissing: kind === 'missing',
  }
}

interface Pace {
  readonly attempt: number
  readonly random: number
}

/** Milliseconds before the next attempt; `undefined`: there is no next attempt. */
function decidePause(
  failed: Failed,
  { patience, left, ...pace }: Pace & Pick<Persistence, 'patience'> & { readonly left: number },
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
 * an operator can help. It is never shorter than Azure asks for.
 */
export function decideRetryDelay({
  verdict,
  retryAfterMs,
  attempt,
  random,
}: Pick<Failed, 'verdict' | 'retryAfterMs'> & Pace): number {
  const asked = Math.min(retryAfterMs, maxRetryAfterMs)
  if (isLasting(verdict)) return Math.max(asked, lastingMs) + random * lastingMs
  // Without jitter on top of it all replicas would return in the same second.
  return asked + backOff({ attempt, baseMs, maxMs, random })
}

function logAttempt(
  logger: Logger,
  { error, verdict }: Failed,
  fields: { readonly attempt: number; readonly retryInMs: number },
): void {
  // TIMEOUT sums up all retryable attempts, not a single one.
  if (verdict === 'passing') logger.warn(inWords(error), fields)
  else logger[isLasting(verdict) ? 'error' : 'warn'](error.message, { ...fields, code: error.code })
}

const aborted = (name: string) =>
  new BindingError('ABORTED', { what: `the set-up of the event subscription ${name} was aborted` })

/** A failed handshake keeps its code, because that is what the user can correct. */
function timedOut(
  cause: BindingError,
  { name, attempts, elapsedMs }: { readonly name: string; readonly attempts: number; readonly elapsedMs: number },
): BindingError {
  const tries = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  const summary = `gave up after ${tries} in ${Math.round(elapsedMs / 1_000)} s; ${inWords(cause)}`
  const details = { ...cause.details, attempts }
  if (cause.code === 'HANDSHAKE_FAILED') return new BindingError('HANDSHAKE_FAILED', { what: summary, details })
  const what = `the event subscription ${name} could not be set up: ${summary}`
  return new BindingError('TIMEOUT', { what, cause, details })
}
