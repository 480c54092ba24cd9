/** Repeats attempts until one succeeds, nothing can help any more, or `subscriptionTimeout` is over. */
import { readFailure } from '../azure/read-failure.ts'
import { explainFailure, type FailureContext, mayPass } from '../azure/refusals/resource-manager-refusal.ts'
import { BindingError, inWords } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { EitherInput } from '../metadata/typed/metadata.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
import { type FailedTry, minLeftMs, retryPause } from '../support/work/work.ts'
import { type Arm, type CallLimits, readHostname } from './arm.ts'
import { type Detail, readSubscription } from './arm-subscription.ts'
import type { WantedSubscription } from './decide.ts'
import { withSecretsOf } from './failure-context.ts'
import type { AskedEndpoint } from './handshake.ts'
import { isActive, type SubscriptionProperties } from './values.ts'

/**
 * Repeats the work until it succeeds.
 *
 * @param without the outcome where events are received without the right that is missing
 * @throws BindingError by the last failure, TIMEOUT (its cause is the last failure) or ABORTED
 */
export async function repeatAttempts<Outcome>(
  { arm, input, wanted, receivesWithoutRights, host, onFound, context: contextOf }: ProvisionTarget,
  { signal, logger, patience, onAttempt, onWait, clock, random }: ProvisionTask,
  work: (attempt: Attempt, count: number) => Promise<Outcome>,
  without?: Outcome,
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
      const read: Attempt['read'] = async (subscription, detail) => {
        askedId = subscription.place.sourceId
        const existing = await readSubscription(arm, subscription.place, limits, detail)
        if (existing) {
          seen.set(subscription, existing)
          onFound?.(existing)
        }
        return existing
      }
      const readHost = async () => {
        if (!host) return
        askedId = host.namespaceId
        host.onHostname(await readHostname(arm, host.namespaceId, limits))
      }
      return await work({ limits, read, readHost, waits }, attempt)
    } catch (error) {
      const left = started + timeoutMs - clock.elapsed()
      const failed = readAttempt(error, context(), { left, now: clock.now() })
      if (receivesWithoutRights && without !== undefined && failed.error.code === 'PERMISSION_DENIED') {
        const { what, fix } = failed.error
        logger.warn(
          `events are received from the event subscription ${name} as it is: ${what}; to have it updated, ${fix}`,
        )
        return without
      }
      if (signal.aborted) throw aborted(name, lastFailure, waitsFor)
      const retryInMs = pauseAfter(failed, { attempt, patience, leftMs: left, random: random() })
      onAttempt?.({
        attempt,
        error: failed.error,
        isMissing: failed.isMissing,
        ...(retryInMs !== undefined && { retryInMs }),
      })
      if (retryInMs === undefined) {
        if (!failed.passes) throw failed.error
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
  /** Whether another attempt may succeed by itself. */
  readonly passes: boolean
  /** The attempt ran out of time: the failure before it says more. */
  readonly ranOut: boolean
  /** The pause that Azure asks for, in ms; 0 where Azure asks for none. */
  readonly retryAfterMs: number
  readonly isMissing: boolean
}

/** @param time `left` until the end, in ms, and `now` in ms since 1970 */
function readAttempt(
  error: unknown,
  context: FailureContext,
  time: { readonly left: number; readonly now: number },
): Failed {
  if (error instanceof BindingError) return { error, passes: false, ranOut: false, retryAfterMs: 0, isMissing: false }
  const failure = readFailure(error, time.now)
  const { kind, retryAfterMs = 0 } = failure
  const explained = explainFailure(failure, context)
  return {
    error: new BindingError(explained.code, explained),
    passes: mayPass(failure),
    // A request without an answer when our own time ends says nothing about the network.
    ranOut: kind === 'deadline' || ((kind === 'network' || kind === 'token') && time.left < minLeftMs),
    retryAfterMs,
    isMissing: kind === 'missing',
  }
}

function logAttempt(
  logger: Logger,
  { error, passes }: Failed,
  fields: { readonly attempt: number; readonly retryInMs: number },
): void {
  // TIMEOUT sums up all retryable attempts, not a single one.
  if (error.code === 'TIMEOUT') logger.warn(inWords(error), fields)
  else logger[passes ? 'warn' : 'error'](error.message, { ...fields, code: error.code })
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

/** What one side needs in Azure. */
export interface ProvisionTarget {
  readonly arm: Arm
  readonly input: Pick<EitherInput, 'eventSubscriptionName' | 'subscriptionTimeoutMs'>
  /** In the order in which they are brought about. */
  readonly wanted: readonly WantedSubscription[]
  /** Receives each event subscription that was read. */
  readonly onFound?: (existing: SubscriptionProperties) => void
  /** What explanations name, by the resource that was asked about. */
  readonly context: (sourceId: string) => FailureContext
  /** The endpoint of a web hook, which has to consent before a write; absent for pull, which has no handshake. */
  readonly endpoint?: AskedEndpoint
  /** Events are received without any right at Azure Resource Manager, too. */
  readonly receivesWithoutRights: boolean
  /** The namespace whose host name is wanted, and who hears of that name. */
  readonly host?: { readonly namespaceId: string; readonly onHostname: (hostname: string) => void } | undefined
}

/** What a read of the event subscription shows. */
export interface SubscriptionLook {
  readonly exists: boolean
  /** Whether the event subscription delivers to this endpoint. */
  readonly delivers: boolean
  /** Whether the event subscription delivers here without our credential. */
  readonly lacksCredential: boolean
}

/** How the event subscriptions are brought about, and who hears of each step. */
export interface ProvisionTask {
  readonly signal: AbortSignal
  readonly patience: Patience
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Called after each read of the event subscription. */
  readonly onLook?: ((look: SubscriptionLook) => void) | undefined
  /** Called after each question to the endpoint: whether another replica is known to answer there. */
  readonly onAnswer?: ((isServed: boolean) => void) | undefined
  /** Called while a write waits, with what the endpoint answered: a sentence without a secret. */
  readonly onWait?: ((why: string) => void) | undefined
}

/** An attempt: its limits, and its reads, which remember the resource that was asked for and the secrets of what was read. */
export interface Attempt {
  readonly limits: CallLimits
  read(wanted: WantedSubscription, detail?: Detail): Promise<SubscriptionProperties | undefined>
  /** Asks for the host name of the namespace, where that is wanted. */
  readHost(): Promise<void>
  /** Takes down what a write waits for: a sentence without a secret. */
  waits(why: string): void
}

/** One attempt that failed. Holds no secret. */
export interface FailedAttempt {
  readonly attempt: number
  readonly error: BindingError
  /** Pause before the next attempt, in ms; absent after the last attempt. */
  readonly retryInMs?: number
  /** The event subscription does not exist, and `provisioning` is `check`. */
  readonly isMissing: boolean
}

/** Whether the event subscription delivers where it should, with any credential. */
export const isDelivering = (existing: SubscriptionProperties, wanted: WantedSubscription): boolean =>
  isActive(existing) && wanted.awayFrom(existing) === undefined

/**
 * `timeout` gives up after `subscriptionTimeout`, and at once where waiting does not help. `forever` goes on, because
 * an operator may correct the cause while the sidecar runs.
 */
export type Patience = 'timeout' | 'forever'

/** Pauses between attempts, in ms. Resource Manager may ask for up to an hour. */
const pace = { baseMs: 1_000, maxMs: 30_000, maxAskedMs: 3_600_000 }

/** Shortest pause after a failure that only an operator can correct, in ms; by chance up to twice as long. */
const lastingMs = 30_000

/** Milliseconds before the next attempt; `undefined`: there is no next attempt. */
function pauseAfter(
  { passes, ranOut, retryAfterMs }: Failed,
  { patience, leftMs, ...tried }: FailedTry & { readonly patience: Patience; readonly leftMs: number },
): number | undefined {
  if (patience === 'timeout') {
    if (!passes || ranOut) return undefined
    // At most half of the time that is left, so that another attempt has the rest.
    return retryPause({ ...tried, retryAfterMs, leftMs }, { ...pace, maxMs: Math.min(pace.maxMs, leftMs / 2) })
  }
  if (passes) return retryPause({ ...tried, retryAfterMs }, pace)
  const askedMs = Math.max(retryAfterMs, lastingMs)
  return retryPause({ ...tried, retryAfterMs: askedMs }, { ...pace, baseMs: lastingMs })
}
