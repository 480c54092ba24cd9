import { setTimeout as wait } from 'node:timers/promises'
import { splitDeliveryCredentials } from '../core/delivery-credential.ts'
import { BindingError, messageWithoutCode } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import { isStatic, isWebHook } from './canonical-subscription.ts'
import { decideUpsert, type StandingSubscription } from './decide-upsert.ts'
import { desiredSubscription, withoutResets } from './desired-subscription.ts'
import { type Explanation, explainFailure, type FailureContext } from './explain-failure.ts'
import { judgeFailure, type Verdict } from './judge-failure.ts'
import { decideRetryDelay } from './retry-delay.ts'
import type { SubscriptionApi } from './subscription-api.ts'

/** How {@link upsertSubscription} ended. */
export interface UpsertOutcome {
  readonly action: 'created' | 'kept' | 'patched' | 'replaced'
  /** When our own write stood, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
}

/** One attempt that failed. Holds no secret. */
export interface FailedAttempt {
  /** From 1. */
  readonly attempt: number
  /** What went wrong, with its remedy. */
  readonly error: BindingError
  /** Pause until the next attempt, in ms; absent where there is none. */
  readonly retryInMs?: number
}

/** What {@link upsertSubscription} needs. */
export interface UpsertOptions {
  readonly api: SubscriptionApi
  readonly input: InputMetadata
  /** Our credential in the delivery attribute, for `deliveryAuthentication: secret`. */
  readonly deliveryCredential?: Secret
  readonly signal: AbortSignal
  /** @default silent */
  readonly logger?: Logger
  /**
   * `timeout`: gives up after `subscriptionTimeout`, and at once where waiting does not help. `forever`: goes on
   * whatever happens, since an operator may put it right under a running sidecar.
   */
  readonly patience: 'timeout' | 'forever'
  /** Told of each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
  /** Now, in ms since 1970. @default Date.now */
  readonly now?: () => number
  /** Milliseconds of a clock that nobody sets. @default performance.now */
  readonly elapsed?: () => number
  /** Waits; rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** At least 0 and less than 1. @default Math.random */
  readonly random?: () => number
}

/**
 * Pause between two looks at an event subscription that somebody else is changing: it doubles
 * from the first to the longest.
 */
const firstLookMs = 250
const longestLookMs = 4_000

/** With less time than this no further attempt is begun. */
const shortestAttemptMs = 250

/** Writes in one attempt: one, and one more where a replica that started with us wrote in between. */
const mostWrites = 2

/**
 * Brings the event subscription to what the metadata asks for: reads, decides, writes if need be, waits until it is
 * provisioned, and reads again whether it came out so.
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, HANDSHAKE_FAILED (also when the time is over and the last that failed was a handshake),
 * TIMEOUT (its cause tells the last failure) or ABORTED.
 */
export async function upsertSubscription(options: UpsertOptions): Promise<UpsertOutcome> {
  const {
    api,
    input,
    signal,
    logger = silentLogger,
    patience,
    onAttempt,
    now = Date.now,
    elapsed = () => performance.now(),
    random = Math.random,
  } = options
  const sleep = options.sleep ?? ((ms: number, abort: AbortSignal) => wait(ms, undefined, { signal: abort }))
  const started = elapsed()
  const desired = desiredSubscription(input, options.deliveryCredential)
  const name = input.eventSubscriptionName
  const known = failureContext(options)
  let context = known
  let wrote: Exclude<UpsertOutcome['action'], 'kept'> | undefined
  let stood = false
  let lastFailure: BindingError | undefined

  async function tryOnce(deadline: number): Promise<UpsertOutcome> {
    const limits = { signal, deadline }
    for (let writes = 0, looks = 0; ; ) {
      const standing = await api.read(limits)
      context = { ...known, secrets: [...known.secrets, ...secretsOf(standing)] }
      const upsert = decideUpsert(standing, stood ? withoutResets(desired) : desired)
      if (upsert.action === 'keep') return wrote ? { action: wrote, wroteAt: now() } : { action: 'kept' }
      if (upsert.action === 'refuse') {
        throw new BindingError('SUBSCRIPTION_REJECTED', {
          what: `the event subscription ${name} was left as it is: ${upsert.because}`,
          fix: upsert.fix,
        })
      }
      if (upsert.action === 'wait') {
        const pause = Math.min(longestLookMs, firstLookMs * 2 ** looks++)
        if (elapsed() + pause >= deadline) {
          throw new ArmFailureError({
            kind: 'deadline',
            message: `the event subscription ${name} is still ${upsert.state}, by somebody else's change or one of ours`,
          })
        }
        await sleep(pause, signal)
        continue
      }
      if (writes === mostWrites) {
        const why = 'because' in upsert ? upsert.because : 'it is gone'
        if (standing?.subscription.provisioningState !== 'Succeeded') {
          const message = `somebody else changes the event subscription ${name} at the same time: ${why}`
          throw new ArmFailureError({ kind: 'canceled', message })
        }
        logger.warn(`the event subscription ${name} did not come out as written; somebody else writes it too: ${why}`)
        return { action: wrote ?? 'kept', wroteAt: now() }
      }
      writes++
      if (upsert.action === 'create') {
        logger.info(`creating the event subscription ${name}`, { scope: input.scope.id })
        await written('created', api.put(upsert, limits))
      } else {
        for (const warning of upsert.warnings) logger.warn(warning, { eventSubscription: name })
        logger.info(`updating the event subscription ${name}: ${upsert.because}`, { scope: input.scope.id })
        if (upsert.action === 'patch') await written('patched', api.patch(upsert, limits))
        else await written('replaced', api.put(upsert, limits))
      }
    }
  }

  /** Notes a write that stands, or may stand for all we know: an answer that was lost does not undo it. */
  async function written(action: 'created' | 'patched' | 'replaced', write: Promise<void>): Promise<void> {
    const note = () => {
      wrote = wrote === 'created' ? wrote : action
    }
    try {
      await write
      note()
      stood = true
    } catch (error) {
      if (error instanceof BindingError) throw error
      const { kind, status } = readFailure(error, now())
      if (kind !== 'answer' && kind !== 'unexpected') note()
      // Only what is missing itself is missing here: the scope was there when the event subscription was read.
      if (action === 'patched' && kind === 'answer' && status === 404) {
        throw new ArmFailureError({ kind: 'canceled', message: `the event subscription ${name} was deleted meanwhile` })
      }
      throw error
    }
  }

  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) throw aborted(name)
    const deadline = (patience === 'timeout' ? started : elapsed()) + input.subscriptionTimeoutMs
    try {
      const outcome = await tryOnce(deadline)
      logger.info(`the event subscription ${name} stands: ${outcome.action}`, { scope: input.scope.id, attempt })
      return outcome
    } catch (error) {
      if (signal.aborted) throw aborted(name)
      const left = started + input.subscriptionTimeoutMs - elapsed()
      const failed = readAttempt(error, left)
      const delay = decideRetryDelay({ ...failed, attempt, random: random() })
      // Where Azure asks for no longer pause, the time that is left is used for another attempt.
      const retryInMs = patience === 'timeout' && failed.retryAfterMs === 0 ? Math.min(delay, left / 2) : delay
      const over = failed.final || failed.ranOut || left < shortestAttemptMs || retryInMs >= left
      const last = patience === 'timeout' && over
      onAttempt?.({ attempt, error: failed.error, ...(!last && { retryInMs }) })
      if (last) throw failed.final ? failed.error : timedOut(failed, attempt)
      if (!failed.ranOut) lastFailure = failed.error
      const fields = { attempt, retryInMs: Math.round(retryInMs) }
      if (failed.final) logger.error(failed.error.message, fields)
      // TIMEOUT is what comes of all attempts that may pass, and says nothing of one.
      else logger.warn(failed.verdict === 'passing' ? messageWithoutCode(failed.error) : failed.error.message, fields)
      await sleep(retryInMs, signal).catch(() => {
        throw aborted(name)
      })
    }
  }

  function readAttempt(error: unknown, left: number): Attempt {
    if (error instanceof BindingError)
      return { error, verdict: 'rejected', final: true, ranOut: false, retryAfterMs: 0 }
    const failure = readFailure(error, now())
    const verdict = judgeFailure(failure)
    const explained: Explanation = explainFailure(failure, context)
    return {
      error: new BindingError(explained.code, explained),
      verdict,
      final: verdict !== 'passing' && verdict !== 'handshake',
      // A request that gets no answer because our own time is over says nothing about the network.
      ranOut:
        failure.kind === 'deadline' ||
        ((failure.kind === 'network' || failure.kind === 'token') && left < shortestAttemptMs),
      retryAfterMs: failure.retryAfterMs ?? 0,
    }
  }

  /** A failed handshake is named as such, for that is what the user can put right. */
  function timedOut(failed: Attempt, attempts: number): BindingError {
    const cause = failed.ranOut && lastFailure ? lastFailure : failed.error
    const seconds = Math.round((elapsed() - started) / 1_000)
    const tried = `gave up after ${attempts === 1 ? 'one attempt' : `${attempts} attempts`} in ${seconds} s`
    const said = messageWithoutCode(cause)
    if (cause.code === 'HANDSHAKE_FAILED') {
      return new BindingError('HANDSHAKE_FAILED', {
        what: `${tried}; ${said}`,
        details: { ...cause.details, attempts },
      })
    }
    return new BindingError('TIMEOUT', {
      what: `the event subscription ${name} did not come to stand: ${tried}; ${said}`,
      cause,
      details: { ...cause.details, attempts },
    })
  }
}

interface Attempt {
  readonly error: BindingError
  readonly verdict: Verdict
  /** Waiting alone does not help. */
  readonly final: boolean
  /** It did not fail, it took too long: what failed before says more. */
  readonly ranOut: boolean
  readonly retryAfterMs: number
}

const aborted = (name: string) =>
  new BindingError('ABORTED', { what: `bringing up the event subscription ${name} was ended before it stood` })

/** What the explanation of a failure names, and what it must not show. */
export function failureContext({
  api,
  input,
  deliveryCredential,
}: Pick<UpsertOptions, 'input' | 'deliveryCredential'> & {
  readonly api: Pick<SubscriptionApi, 'resourceManager'>
}): FailureContext {
  const { credential, deliveryAuthentication: delivery, subscriberEndpoint, scope } = input
  const secrets = [
    deliveryCredential?.reveal(),
    credential.kind === 'clientSecret' ? credential.clientSecret.reveal() : undefined,
    ...(delivery.kind === 'secret' ? delivery.sources.map((source) => source.reveal()) : []),
    ...new URL(subscriberEndpoint).searchParams.values(),
  ]
  return {
    scopeId: scope.id,
    subscriptionId: input.subscriptionId,
    eventSubscriptionName: input.eventSubscriptionName,
    clientId: input.clientId,
    subscriberEndpoint,
    handshakePort: input.handshakePort,
    resourceManager: api.resourceManager,
    secrets: secrets.flatMap((secret) => (secret !== undefined && secret.length >= minSecretLength ? secret : [])),
  }
}

/** A shorter text is not hidden: it would blot out parts of every word of a message. */
const minSecretLength = 4

function secretsOf(standing: StandingSubscription | undefined): string[] {
  const destination = standing?.subscription.destination
  if (!isWebHook(destination)) return []
  return (destination.deliveryAttributeMappings ?? [])
    .filter(isStatic)
    .flatMap(({ isSecret, value }) => (isSecret && value ? [value, ...splitDeliveryCredentials(value)] : []))
    .filter((value) => value.length >= minSecretLength)
}
