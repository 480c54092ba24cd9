/** Brings about the event subscriptions of one side: reads, decides, asks the endpoint, reads and decides again, writes, and reads. */
import { ArmFailureError, readFailure } from '../azure/read-failure.ts'
import { BindingError } from '../core/errors.ts'
import { pause, type SteadyClock, withLimit } from '../support/time/clock.ts'
import { backOff } from '../support/work/work.ts'
import { type CallLimits, pauseWithin } from './arm.ts'
import { writeSubscription } from './arm-subscription.ts'
import { type Attempt, isDelivering, type ProvisionTarget, type ProvisionTask, repeatAttempts } from './attempts.ts'
import { decideUpsert, type WantedSubscription, type Write } from './decide.ts'
import { type AskedEndpoint, type EndpointAnswer, type HandshakeRefusal, isServed } from './handshake.ts'
import { isProvisioned, type SubscriptionProperties } from './values.ts'

type WriteAction = 'created' | 'patched' | 'replaced'

export interface UpsertOutcome {
  /** `notPermitted`: the client may not read or write the event subscription, which is used as it stands. */
  readonly action: 'kept' | 'notPermitted' | WriteAction
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
  /** One sentence for each setting of others that was replaced, and for what could not be checked. Absent without one. All are logged. */
  readonly warnings?: readonly string[]
}

/**
 * Creates the event subscriptions, or changes them to what the metadata asks for. For each: reads, decides, writes if necessary, waits
 * until the event subscription is provisioned, and reads again to check the result.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, HANDSHAKE_FAILED (also at the end of the time, if the last failure was a handshake), TIMEOUT
 * (its cause is the last failure) or ABORTED
 */
export async function upsertSubscriptions(target: ProvisionTarget, task: ProvisionTask): Promise<UpsertOutcome> {
  const { wanted, input } = target
  const warnings = new Set<string>()
  function warn(warning: string): void {
    task.logger.warn(warning, { eventSubscription: input.eventSubscriptionName })
    warnings.add(warning)
  }
  const upserts = wanted.map((subscription) => createUpsert(target, subscription, task, warn))
  async function upsertAll(attempt: Attempt, count: number): Promise<UpsertOutcome> {
    let outcome: UpsertOutcome = { action: 'kept' }
    for (const upsertOne of upserts) {
      const own = await upsertOne(attempt)
      if (outcome.action === 'kept') outcome = own
    }
    const scope = wanted.at(-1)?.place.sourceId
    const what = `the event subscription ${input.eventSubscriptionName} is provisioned: ${outcome.action}`
    task.logger.info(what, { scope, attempt: count })
    await attempt.readHost()
    return { ...outcome, ...(warnings.size > 0 && { warnings: [...warnings] }) }
  }
  return repeatAttempts<UpsertOutcome>(target, task, upsertAll, { action: 'notPermitted' })
}

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: the first, and a second if a replica that started at the same time wrote in between. */
const maxWrites = 2

const written = { create: 'created', patch: 'patched', replace: 'replaced' } as const

/** Makes a function that creates or updates one event subscription within an attempt. The function remembers what it wrote. */
function createUpsert(
  { arm, input, endpoint }: ProvisionTarget,
  wanted: WantedSubscription,
  { logger, clock, random, onLook, onAnswer }: ProvisionTask,
  warn: (warning: string) => void,
): (attempt: Attempt) => Promise<UpsertOutcome> {
  const { eventSubscriptionName: name } = input
  const { place } = wanted
  /** The write that took effect, or may have; the creation where there were more. */
  let wrote: WriteAction | undefined
  let isWritten = false
  const outcome = (): UpsertOutcome => (wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' })
  const heard = (answer: EndpointAnswer) => onAnswer?.(isServed(answer))

  /** Reads, decides, asks the endpoint, reads and decides again, writes at once, and reads. */
  return async function upsertOne({ limits, read, waits }) {
    let hasConsent = false
    for (let writes = 0, reads = 1; ; reads++) {
      const existing = await read(wanted)
      const delivers = existing !== undefined && isDelivering(existing, wanted)
      const lacksOurs = delivers && wanted.lacksCredential(existing)
      onLook?.({ exists: existing !== undefined, delivers, lacksCredential: lacksOurs })
      const upsert = decideUpsert(existing, wanted, isWritten ? 'ignore' : 'apply')
      if (upsert.action === 'keep') {
        const state = writes > 0 ? 'now, read again, as the metadata asks' : 'as the metadata asks; nothing is written'
        logger.debug(`the event subscription ${name} is ${state}`)
        return outcome()
      }
      if (upsert.action === 'refuse') {
        const what = `the event subscription ${name} of ${place.sourceId} was left unchanged: ${upsert.because}`
        throw new BindingError('SUBSCRIPTION_REJECTED', { what, fix: upsert.fix })
      }
      if (upsert.action === 'wait') {
        // Somebody's change needs a handshake, which has to reach a replica that is ready: perhaps this one.
        if (endpoint && lacksOurs) heard(await askOnce(endpoint, clock, limits.signal))
        await untilChanged(upsert.state, reads, limits)
        hasConsent = false
        continue
      }
      if (writes === maxWrites) return overwritten(existing, upsert)
      if (endpoint && existing && isProvisioned(existing) && !hasConsent) {
        const { because } = upsert
        const { subscriptionTimeoutMs: timeoutMs } = input
        const about = { endpoint, eventSubscriptionName: name, because, mayWait: lacksOurs, timeoutMs }
        const unreached = await askBeforeWrite({ ...about, onAnswer: heard, onWait: waits, limits, clock })
        if (unreached !== undefined) warn(unreached)
        hasConsent = true
        // The question took a second or more: what somebody wrote meanwhile has to be seen before the write.
        continue
      }
      writes++
      hasConsent = false
      await write(upsert, limits)
    }
  }

  async function untilChanged(state: string, reads: number, limits: CallLimits): Promise<void> {
    logger.debug(`the event subscription ${name} is ${state}; it is read again when that may be over`)
    const ms = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
    const message = `the event subscription ${name} is still ${state}, by our own change or somebody else's`
    await pauseWithin(limits, { clock, ms, message })
  }

  /** Somebody else writes the same event subscription. A third write would only prolong the contest. */
  function overwritten(existing: SubscriptionProperties | undefined, { because }: Write): UpsertOutcome {
    if (!existing || !isDelivering(existing, wanted) || wanted.lacksCredential(existing)) {
      const message = `somebody else changes the event subscription ${name} at the same time: ${because}`
      throw new ArmFailureError({ kind: 'canceled', message })
    }
    warn(`the event subscription ${name} differs from what was written; somebody else writes it too: ${because}`)
    return { ...outcome(), wroteAt: clock.now() }
  }

  /** Resolves when the event subscription is provisioned. */
  async function write({ action, properties, because, warnings }: Write, limits: CallLimits): Promise<void> {
    for (const warning of warnings) warn(warning)
    const doing =
      action === 'create'
        ? `creating the event subscription ${name}`
        : `updating the event subscription ${name}: ${because}`
    logger.info(doing, { scope: place.sourceId })
    const remember = () => {
      if (wrote !== 'created') wrote = written[action]
    }
    try {
      await writeSubscription(arm, place, { method: action === 'patch' ? 'PATCH' : 'PUT', properties }, limits)
      remember()
      isWritten = true
    } catch (error) {
      const { kind, status } = readFailure(error, clock.now())
      const isRefused = status !== undefined && kind !== 'lost'
      // A lost answer does not undo a write.
      if (!isRefused) remember()
      // The scope existed when the event subscription was read, so it is the event subscription that is missing.
      if (action === 'patch' && isRefused && status === 404) {
        throw new ArmFailureError({ kind: 'canceled', message: `the event subscription ${name} was deleted meanwhile` })
      }
      throw error
    }
  }
}

interface AskBeforeWriteOptions {
  readonly endpoint: AskedEndpoint
  readonly eventSubscriptionName: string
  /** What would be written, as a clause. */
  readonly because: string
  /**
   * This replica may not be ready yet. The first question may make the replica ready, and a balancer needs a moment to find it: so a
   * refusal is not final before the time is over.
   */
  readonly mayWait: boolean
  readonly onAnswer: (answer: EndpointAnswer) => void
  /** Called with each answer that holds the write back, in words, so that log and health tell at once. */
  readonly onWait: (why: string) => void
  /** The time that all attempts have, in ms. Half of it is the longest that the endpoint is asked. */
  readonly timeoutMs: number
  readonly limits: CallLimits
  readonly clock: SteadyClock
}

/** How long an endpoint that gives no answer is asked, in ms. With less time left silence is no evidence. */
const patienceMs = 10_000

/** How long one question waits for its answer, in ms. */
const questionMs = 4_000

const pauseMs = 1_000

/** With less time left the endpoint is not asked again. */
const minAskMs = 250

/** One question, bounded in time. */
const askOnce = (endpoint: AskedEndpoint, clock: SteadyClock, signal: AbortSignal, ms = questionMs) =>
  withLimit({ clock, ms: Math.min(ms, questionMs), signal }, endpoint.ask)

/**
 * Asks until the endpoint has consented twice, with a pause in between: a load balancer may still route the first request to a listener
 * that is shutting down. Resolves where the event subscription may be written; with a sentence where the endpoint could not be reached.
 *
 * @throws ArmFailureError of kind `noConsent` where another answer comes; `deadline` where too little time is left to know; the reason of
 *   the signal
 */
export async function askBeforeWrite(options: AskBeforeWriteOptions): Promise<string | undefined> {
  const { endpoint, limits, clock, mayWait, onAnswer, onWait, timeoutMs } = options
  const over = clock.elapsed() + Math.min(patienceMs, timeoutMs / 2)
  const until = Math.min(over, limits.deadline)
  let consents = 0
  let last: EndpointAnswer | undefined
  while (last === undefined || until - clock.elapsed() > minAskMs) {
    last = await askOnce(endpoint, clock, limits.signal, Math.max(1, until - clock.elapsed()))
    limits.signal.throwIfAborted()
    onAnswer(last)
    if (last.kind === 'emulated') return undefined
    if (last.kind === 'refusal' && !mayWait) throw refusedBy(last.refusal, options)
    if (last.kind === 'consent') {
      if (!last.byWaiting && ++consents > 1) return undefined
    } else {
      consents = 0
      onWait(waiting(last, options))
    }
    await pause(clock, Math.min(pauseMs, Math.max(0, until - clock.elapsed())), limits.signal)
    limits.signal.throwIfAborted()
  }
  if (last.kind === 'refusal') throw refusedBy(last.refusal, options)
  if (until < over) {
    const message = `too little time was left to ask ${endpoint.shown} whether it answers the handshake`
    throw new ArmFailureError({ kind: 'deadline', message })
  }
  return last.kind === 'silence' ? unreachedSentence(last.why, options) : undefined
}

/** What the endpoint answered, while a write waits. Without a remedy: the next answer may be a consent. */
function waiting(
  answer: Extract<EndpointAnswer, { kind: 'refusal' | 'silence' }>,
  { endpoint, because }: AskBeforeWriteOptions,
): string {
  const said = answer.kind === 'refusal' ? answer.refusal.what : `${endpoint.shown} gives no answer (${answer.why})`
  return `${said}; nothing is written yet, and it is asked again (${because})`
}

function refusedBy(
  { answer, what, fix }: HandshakeRefusal,
  { because, eventSubscriptionName: name }: AskBeforeWriteOptions,
): ArmFailureError {
  const message =
    `${what}; so nothing is written: deliveries go on by the present settings of the event subscription ${name}, and the change waits ` +
    `for the endpoint (${because})`
  return new ArmFailureError({ kind: 'noConsent', message, fix, answer })
}

const unreachedSentence = (why: string, { endpoint, eventSubscriptionName: name }: AskBeforeWriteOptions) =>
  `${endpoint.shown} could not be reached from here (${why}), so it is not known whether the endpoint answers the handshake; ` +
  `the event subscription ${name} is written all the same`
