/** Repeats attempts until one succeeds, nothing can help any more, or `subscriptionTimeout` is over. */
import { readFailure } from '../../azure/read-failure.ts'
import { explainFailure, type FailureContext, verdictOf } from '../../azure/refusals/resource-manager-refusal.ts'
import { BindingError, inWords } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { pause } from '../../support/time/clock.ts'
import { readHostname } from '../arm/namespace-hostname.ts'
import { readSubscription } from '../arm/read-subscription.ts'
import type { SubscriptionProperties } from '../decide/subscription-properties.ts'
import type { WantedSubscription } from '../decide/wanted-subscription.ts'
import { withSecretsOf } from './failure-context.ts'
import type { Asked, ProvisionHow, ProvisionTarget } from './provision-target.ts'
import { type AttemptFailure, decidePause, isLasting, minAttemptMs } from './retry-pause.ts'

/**
 * Repeats the work until it succeeds. After it the host name of the namespace is asked for.
 *
 * @param without the outcome where events are received without the right that is missing
 * @throws BindingError by the last failure, TIMEOUT (its cause is the last failure) or ABORTED
 */
export async function repeatAttempts<Outcome>(
  { arm, input, wanted, worksWithout, host, onFound, context: contextOf }: ProvisionTarget,
  { signal, logger, patience, onAttempt, onWait, clock, random }: ProvisionHow,
  work: (asked: Asked, attempt: number) => Promise<Outcome>,
  without?: () => Outcome,
): Promise<Outcome> {
  const { eventSubscriptionName: name, subscriptionTimeoutMs: timeoutMs } = input
  const started = clock.elapsed()
  const seen = new Map<WantedSubscription, SubscriptionProperties>()
  let askedId = wanted[0]?.place.sourceId ?? ''
  const context = () => withSecretsOf(contextOf(askedId), [...seen.values()])
  let lastFailure: BindingError | undefined
  let waitsFor: string | undefined
  const waits = (why: string) => {
    if (why !== waitsFor) logger.info(why, { eventSubscription: name })
    waitsFor = why
    onWait?.(why)
  }

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw aborted(name, lastFailure, waitsFor)
    try {
      const deadline = (patience === 'timeout' ? started : clock.elapsed()) + timeoutMs
      const limits = { signal, deadline }
      const read: Asked['read'] = async (one, detail) => {
        askedId = one.place.sourceId
        const existing = await readSubscription(arm, one.place, limits, detail)
        if (existing) {
          seen.set(one, existing)
          onFound?.(existing)
        }
        return existing
      }
      const outcome = await work({ limits, read, waits }, attempt)
      if (host) {
        askedId = host.namespaceId
        host.take(await readHostname(arm, host.namespaceId, limits))
      }
      return outcome
    } catch (error) {
      const left = started + timeoutMs - clock.elapsed()
      const failed = readAttempt(error, context(), { left, now: clock.now() })
      if (worksWithout && without && failed.verdict === 'permission') {
        const { what, fix } = failed.error
        logger.warn(
          `events are received from the event subscription ${name} as it is: ${what}; to have it updated, ${fix}`,
        )
        return without()
      }
      if (signal.aborted) throw aborted(name, lastFailure, waitsFor)
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

/** Names what was waited for, and the last failure. */
function aborted(name: string, last: BindingError | undefined, waitsFor: string | undefined): BindingError {
  const what = `the set-up of the event subscription ${name} was aborted`
  if (last) return new BindingError('ABORTED', { what: `${what}; the last failure: ${inWords(last)}`, cause: last })
  return new BindingError('ABORTED', { what: waitsFor === undefined ? what : `${what}; it waited: ${waitsFor}` })
}

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
