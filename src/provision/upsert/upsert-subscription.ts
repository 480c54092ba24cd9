// Creating or updating the webhook event subscription: read, write at most twice, read again; log lines.
import { BindingError } from '../../core/errors.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import type { Secret } from '../../core/secret.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import { backOff } from '../../support/time/back-off.ts'
import { type SteadyClock, systemClock } from '../../support/time/clock.ts'
import { ArmFailureError, readFailure } from '../arm/arm-failure.ts'
import { type CallLimits, pauseWithin } from '../arm/call-limits.ts'
import type { SubscriptionApi } from '../arm/subscription-api.ts'
import { delivers, type ExistingSubscription, isActive, type Write } from '../decide/decide-upsert.ts'
import { desiredSubscription, withoutResets } from '../decide/desired-subscription.ts'
import { failureContext, withSecretsOf } from '../explain/failure-context.ts'
import { fleetSpreadMs } from './fleet-pace.ts'
import { createReadAndDecide } from './read-and-decide.ts'
import { type Persistence, repeatAttempts, type UpsertOutcome, type WriteAction } from './repeat-attempts.ts'

export interface UpsertOptions extends Persistence {
  readonly api: SubscriptionApi
  readonly input: InputMetadata
  readonly deliveryCredential?: Secret
  /** Deliveries that were handled so far. They show that the event subscription delivered here for a time. @default none */
  readonly handled?: () => number
  /** Called after each read: whether the event subscription delivers to this endpoint already, with any credential. */
  readonly onLook?: (delivering: boolean) => void
  readonly logger?: Logger
  readonly clock?: SteadyClock
  readonly random?: () => number
}

/**
 * Creates the event subscription, or changes it to what the metadata asks for: reads, decides, writes if necessary, waits
 * until it is provisioned, and reads again to check the result.
 *
 * @throws BindingError CREDENTIALS_REJECTED, PERMISSION_DENIED, PROVIDER_NOT_REGISTERED, SCOPE_NOT_FOUND,
 * SUBSCRIPTION_REJECTED, HANDSHAKE_FAILED (also at the end of the time, if the last failure was a handshake), TIMEOUT
 * (its cause is the last failure) or ABORTED
 */
export async function upsertSubscription(options: UpsertOptions): Promise<UpsertOutcome> {
  const { input } = options
  const common = { logger: silentLogger, clock: systemClock, random: Math.random, ...options }
  const known = failureContext(options)
  let context = known
  const onRead = (existing: ExistingSubscription | undefined) => {
    context = withSecretsOf(known, existing)
  }
  return repeatAttempts({
    ...common,
    scopeId: input.scope.id,
    attemptOnce: createUpsertAttempt({ ...common, onRead }),
    context: () => context,
    spreadMs: fleetSpreadMs(1),
  })
}

type UpsertAttemptOptions = UpsertOptions &
  Required<Pick<UpsertOptions, 'logger' | 'clock' | 'random'>> & {
    readonly onRead: (existing: ExistingSubscription | undefined) => void
  }

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: one, and one more if a replica that started at the same time wrote in between. */
const maxWrites = 2

/** Makes a function that runs one attempt of an upsert: reads, decides, writes if necessary, and reads again. */
function createUpsertAttempt(options: UpsertAttemptOptions): (deadline: number) => Promise<UpsertOutcome> {
  const { api, input, signal, logger, clock, random, handled = () => 0, onRead, onLook } = options
  const { eventSubscriptionName: name } = input
  const replicas = 1
  const desired = desiredSubscription(input, options.deliveryCredential)
  const reader = createReadAndDecide({ api, replicas, handled, clock, random })
  const writer = createWriter(options)
  let waits = 0

  return async (deadline) => {
    const limits = { signal, deadline }
    const wait = (ms: number, otherwise: string) =>
      pauseWithin(limits, { clock, ms, message: `the event subscription ${name} is ${otherwise}` })
    for (let writes = 0, reads = 1; ; reads++) {
      const wanted = { desired: writer.isProvisioned() ? withoutResets(desired) : desired, waits }
      const { existing, upsert, turn } = await reader.read(wanted, limits)
      onRead(existing)
      onLook?.(existing !== undefined && isActive(existing.subscription) && delivers(existing, desired))
      if (upsert.action === 'keep') {
        logger.debug(`the event subscription ${name} is as the metadata asks; nothing is written`)
        const wrote = writer.wrote()
        return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
      }
      if (upsert.action === 'refuse') {
        const what = `the event subscription ${name} was left unchanged: ${upsert.because}`
        throw new BindingError('SUBSCRIPTION_REJECTED', { what, fix: upsert.fix })
      }
      if (upsert.action === 'wait') {
        logger.debug(`the event subscription ${name} is ${upsert.state}; it is read again when that may be over`)
        const pauseMs = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
        await wait(pauseMs, `still ${upsert.state}, by our own change or somebody else's`)
      } else if (writes === maxWrites || turn?.kind === 'yield') {
        return overwritten(existing, upsert)
      } else if (turn?.kind === 'readAgain') {
        logger.debug(`the event subscription ${name} is read again before it is written`, { afterMs: turn.afterMs })
        await wait(turn.afterMs, 'not written yet')
        waits++
      } else {
        writes++
        await writer.write(upsert, limits).finally(reader.afterWrite)
      }
    }
  }

  /** Somebody else writes the same event subscription. A third write would only prolong that. */
  function overwritten(existing: ExistingSubscription | undefined, upsert: Write): UpsertOutcome {
    const why = 'because' in upsert ? upsert.because : 'it was deleted'
    if (existing?.subscription.provisioningState !== 'Succeeded') {
      const message = `somebody else changes the event subscription ${name} at the same time: ${why}`
      throw new ArmFailureError({ kind: 'canceled', message })
    }
    logger.warn(`the event subscription ${name} differs from what was written; somebody else writes it too: ${why}`)
    return { action: writer.wrote() ?? 'kept', wroteAt: clock.now() }
  }
}

const written = { create: 'created', patch: 'patched', replace: 'replaced' } as const

/** Writes the event subscription, and remembers what it wrote. */
function createWriter({ api, input, logger, clock }: UpsertAttemptOptions) {
  const { eventSubscriptionName: name, scope } = input
  let wrote: WriteAction | undefined
  let isProvisioned = false

  return {
    /** Resolves when the event subscription is provisioned. */
    async write(upsert: Write, limits: CallLimits): Promise<void> {
      const isNew = upsert.action === 'create'
      for (const warning of isNew ? [] : upsert.warnings) logger.warn(warning, { eventSubscription: name })
      const line = isNew
        ? `creating the event subscription ${name}`
        : `updating the event subscription ${name}: ${upsert.because}`
      logger.info(line, { scope: scope.id })
      const remember = () => {
        if (wrote !== 'created') wrote = written[upsert.action]
      }
      try {
        await (upsert.action === 'patch' ? api.patch(upsert, limits) : api.put(upsert, limits))
        remember()
        isProvisioned = true
      } catch (error) {
        const { kind, status } = readFailure(error, clock.now())
        // A lost answer does not undo a write.
        if (kind !== 'answer' && kind !== 'unexpected') remember()
        // The scope existed when the event subscription was read, so it is the event subscription that is missing.
        if (upsert.action === 'patch' && kind === 'answer' && status === 404) {
          throw new ArmFailureError({
            kind: 'canceled',
            message: `the event subscription ${name} was deleted meanwhile`,
          })
        }
        throw error
      }
    },
    /** The write that took effect, or may have; the creation where there were more. */
    wrote: () => wrote,
    /** Whether a write has succeeded. */
    isProvisioned: () => isProvisioned,
  }
}
