/** Repeats attempts until one succeeds, nothing can help any more, or `subscriptionTimeout` is over. */
import { readFailure } from '../../azure/read-failure.ts'
import { explainFailure, type FailureContext, verdictOf } from '../../azure/resource-manager-refusal.ts'
import { BindingError, inWords } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { EitherInput } from '../../metadata/typed/metadata.ts'
import { pause, type SteadyClock } from '../../support/time/clock.ts'
import { type AttemptFailure, decidePause, isLasting, minAttemptMs, type Patience } from './retry-pause.ts'

export type WriteAction = 'created' | 'patched' | 'replaced'

export interface UpsertOutcome {
  /** `notPermitted`: it may not be read or written here, and is used as it is. */
  readonly action: 'kept' | 'notPermitted' | WriteAction
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
  /** That it was written though the endpoint could not be asked: a sentence. */
  readonly unreached?: string
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
  readonly patience: Patience
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. */
  readonly random: () => number
}

export interface RepeatOptions<Outcome> extends Persistence {
  readonly input: Pick<EitherInput, 'eventSubscriptionName' | 'subscriptionTimeoutMs'>
  /** One attempt, which ends by the deadline (milliseconds of the clock's `elapsed`). */
  readonly attemptOnce: (deadline: number, attempt: number) => Promise<Outcome>
  readonly context: () => FailureContext
}

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
      const failed = readAttempt(error, options.context(), { left, now: clock.now() })
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

interface Failed extends AttemptFailure {
  readonly error: BindingError
  readonly isMissing: boolean
}

/** @param time `left` until the end, in ms, and `now` in ms since 1970 */
function readAttempt(
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
    verdict: verdictOf(failure),
    // A request without an answer when our own time ends says nothing about the network.
    ranOut: kind === 'deadline' || ((kind === 'network' || kind === 'token') && time.left < minAttemptMs),
    retryAfterMs,
    isMissing: kind === 'missing',
  }
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
