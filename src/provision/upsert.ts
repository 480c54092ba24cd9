/** Brings about the event subscriptions of one side: reads, decides, asks the endpoint, reads and decides again, writes, and reads. */
import { ArmFailureError, readFailure } from '../azure/read-failure.ts'
import { BindingError } from '../core/errors.ts'
import { backOff } from '../support/time/clock.ts'
import { type CallLimits, pauseWithin } from './arm.ts'
import { writeSubscription } from './arm-subscription.ts'
import { askBeforeWrite, askOnce, type EndpointAnswer, isServed } from './ask-endpoint.ts'
import {
  type Asked,
  isDelivering,
  type ProvisionHow,
  type ProvisionTarget,
  repeatAttempts,
  type UpsertOutcome,
  type WriteAction,
} from './attempts.ts'
import { decideUpsert, settingsThatStay, stayingFilters, type Write } from './decide.ts'
import type { WantedSubscription } from './needs.ts'
import { type SubscriptionProperties, works } from './values.ts'

/**
 * Creates the event subscriptions, or changes them to what the metadata asks for: reads, decides, writes if necessary, waits
 * until it is provisioned, and reads again to check the result.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, HANDSHAKE_FAILED (also at the end of the time, if the last failure was a handshake), TIMEOUT
 * (its cause is the last failure) or ABORTED
 */
export async function upsertSubscriptions(target: ProvisionTarget, how: ProvisionHow): Promise<UpsertOutcome> {
  const { wanted, input } = target
  const upserts = wanted.map((one) => createUpsert(target, one, how))
  async function upsertAll(asked: Asked, attempt: number): Promise<UpsertOutcome> {
    let outcome: UpsertOutcome = { action: 'kept' }
    for (const upsertOne of upserts) {
      const own = await upsertOne(asked)
      if (outcome.action === 'kept') outcome = own
    }
    const scope = wanted.at(-1)?.place.sourceId
    const what = `the event subscription ${input.eventSubscriptionName} is provisioned: ${outcome.action}`
    how.logger.info(what, { scope, attempt })
    return outcome
  }
  return repeatAttempts<UpsertOutcome>(target, how, upsertAll, () => ({ action: 'notPermitted' }))
}

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: one, and one more if a replica that started at the same time wrote in between. */
const maxWrites = 2

const written = { create: 'created', patch: 'patched', replace: 'replaced' } as const

/** Makes a function that brings about one event subscription within an attempt. It remembers what it wrote. */
function createUpsert(
  { arm, input, endpoint }: ProvisionTarget,
  wanted: WantedSubscription,
  { logger, clock, random, onLook, onAnswer }: ProvisionHow,
): (asked: Asked) => Promise<UpsertOutcome> {
  const { eventSubscriptionName: name } = input
  const { place } = wanted
  /** The write that took effect, or may have; the creation where there were more. */
  let wrote: WriteAction | undefined
  let isProvisioned = false
  let unreached: string | undefined
  const outcome = (): UpsertOutcome =>
    wrote ? { action: wrote, wroteAt: clock.now(), ...(unreached !== undefined && { unreached }) } : { action: 'kept' }
  const take = (answer: EndpointAnswer) => onAnswer?.(isServed(answer))

  /** Reads, decides, asks the endpoint, reads and decides again, writes at once, and reads. */
  return async function upsertOne({ limits, read, waits }) {
    let hasConsent = false
    for (let writes = 0, reads = 1; ; reads++) {
      const existing = await read(wanted)
      const delivers = existing !== undefined && isDelivering(existing, wanted)
      const lacksOurs = delivers && wanted.lacksCredential(existing)
      onLook?.({ delivers, lacksCredential: lacksOurs })
      const upsert = decideUpsert(existing, wanted, isProvisioned ? 'ignore' : 'apply')
      if (upsert.action === 'keep') return kept(existing, writes)
      if (upsert.action === 'refuse') {
        const what = `the event subscription ${name} of ${place.sourceId} was left unchanged: ${upsert.because}`
        throw new BindingError('SUBSCRIPTION_REJECTED', { what, fix: upsert.fix })
      }
      if (upsert.action === 'wait') {
        // Somebody's change needs a handshake, which has to reach a replica that is ready: perhaps this one.
        if (endpoint && lacksOurs) take(await askOnce(endpoint, clock, limits.signal))
        await untilChanged(upsert.state, reads, limits)
        hasConsent = false
        continue
      }
      if (writes === maxWrites) return overwritten(existing, upsert)
      if (endpoint && existing && works(existing) && !hasConsent) {
        const { because } = upsert
        const { subscriptionTimeoutMs: timeoutMs } = input
        const about = { endpoint, eventSubscriptionName: name, because, mayWait: lacksOurs, timeoutMs }
        unreached = await askBeforeWrite({ ...about, onAnswer: take, onWait: waits, limits, logger, clock })
        hasConsent = true
        // The question took a second or more: what somebody wrote meanwhile has to be seen before the write.
        continue
      }
      writes++
      hasConsent = false
      await write(upsert, limits)
    }
  }

  function kept(existing: SubscriptionProperties | undefined, writes: number): UpsertOutcome {
    const state = writes > 0 ? 'now, read again, as the metadata asks' : 'as the metadata asks; nothing is written'
    logger.debug(`the event subscription ${name} is ${state}`)
    const staying = existing && stayingFilters(settingsThatStay(existing, wanted))
    if (staying !== undefined) logger.info(staying, { eventSubscription: name })
    return outcome()
  }

  async function untilChanged(state: string, reads: number, limits: CallLimits): Promise<void> {
    logger.debug(`the event subscription ${name} is ${state}; it is read again when that may be over`)
    const ms = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
    const message = `the event subscription ${name} is still ${state}, by our own change or somebody else's`
    await pauseWithin(limits, { clock, ms, message })
  }

  /** Somebody else writes the same event subscription. A third write would only prolong that. */
  function overwritten(existing: SubscriptionProperties | undefined, { because }: Write): UpsertOutcome {
    if (!existing || !works(existing) || wanted.lacksCredential(existing)) {
      const message = `somebody else changes the event subscription ${name} at the same time: ${because}`
      throw new ArmFailureError({ kind: 'canceled', message })
    }
    logger.warn(`the event subscription ${name} differs from what was written; somebody else writes it too: ${because}`)
    return { ...outcome(), wroteAt: clock.now() }
  }

  /** Resolves when the event subscription is provisioned. */
  async function write({ action, properties, because, warnings }: Write, limits: CallLimits): Promise<void> {
    for (const warning of warnings) logger.warn(warning, { eventSubscription: name })
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
      isProvisioned = true
    } catch (error) {
      const { kind, status } = readFailure(error, clock.now())
      // A lost answer does not undo a write.
      if (kind !== 'answer' && kind !== 'unexpected') remember()
      // The scope existed when the event subscription was read, so it is the event subscription that is missing.
      if (action === 'patch' && kind === 'answer' && status === 404) {
        throw new ArmFailureError({ kind: 'canceled', message: `the event subscription ${name} was deleted meanwhile` })
      }
      throw error
    }
  }
}
