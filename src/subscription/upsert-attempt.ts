import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { backOff } from '../support/back-off.ts'
import { pause, type SteadyClock } from '../support/clock.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import { decideUpsert, type ExistingSubscription, type Upsert } from './decide-upsert.ts'
import { desiredSubscription, withoutResets } from './desired-subscription.ts'
import type { SubscriptionApi } from './subscription-api.ts'
import type { CallLimits } from './subscription-calls.ts'

/** How an upsert ended. */
export interface UpsertOutcome {
  readonly action: 'created' | 'kept' | 'patched' | 'replaced'
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
}

/** What {@link createUpsertAttempt} needs. */
export interface UpsertAttemptOptions {
  readonly api: SubscriptionApi
  readonly input: InputMetadata
  readonly deliveryCredential: Secret | undefined
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Receives what each read found. */
  readonly onRead: (existing: ExistingSubscription | undefined) => void
}

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: one, and one more if a replica that started at the same time wrote in between. */
const maxWrites = 2

type Write = Extract<Upsert, { readonly body: unknown }>
type WriteAction = Exclude<UpsertOutcome['action'], 'kept'>

/** Makes a function that runs one attempt of an upsert: reads, decides, writes if necessary, and reads again. */
export function createUpsertAttempt(options: UpsertAttemptOptions): (deadline: number) => Promise<UpsertOutcome> {
  const { api, input, signal, logger, clock, random, onRead } = options
  const { eventSubscriptionName: name, scope } = input
  const desired = desiredSubscription(input, options.deliveryCredential)
  let wrote: WriteAction | undefined
  let provisioned = false

  return async (deadline) => {
    const limits = { signal, deadline }
    for (let writes = 0, reads = 1; ; reads++) {
      const existing = await api.read(limits)
      onRead(existing)
      const upsert = decideUpsert(existing, provisioned ? withoutResets(desired) : desired)
      if (upsert.action === 'keep') return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
      if (upsert.action === 'refuse') {
        throw new BindingError('SUBSCRIPTION_REJECTED', {
          what: `the event subscription ${name} was left unchanged: ${upsert.because}`,
          fix: upsert.fix,
        })
      }
      if (upsert.action === 'wait') {
        await waitForOthers(upsert.state, reads, deadline)
        continue
      }
      if (writes === maxWrites) return overwritten(existing, upsert)
      writes++
      await write(upsert, limits)
    }
  }

  async function waitForOthers(state: string, reads: number, deadline: number): Promise<void> {
    const pauseMs = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
    if (clock.elapsed() + pauseMs >= deadline) {
      const message = `the event subscription ${name} is still ${state}, by our own change or somebody else's`
      throw new ArmFailureError({ kind: 'deadline', message })
    }
    await pause(clock, pauseMs, signal)
    signal.throwIfAborted()
  }

  /** Somebody else writes the same event subscription. A third write would only prolong that. */
  function overwritten(existing: ExistingSubscription | undefined, upsert: Write): UpsertOutcome {
    const why = 'because' in upsert ? upsert.because : 'it was deleted'
    if (existing?.subscription.provisioningState !== 'Succeeded') {
      const message = `somebody else changes the event subscription ${name} at the same time: ${why}`
      throw new ArmFailureError({ kind: 'canceled', message })
    }
    logger.warn(`the event subscription ${name} differs from what was written; somebody else writes it too: ${why}`)
    return { action: wrote ?? 'kept', wroteAt: clock.now() }
  }

  async function write(upsert: Write, limits: CallLimits): Promise<void> {
    const fields = { scope: scope.id }
    if (upsert.action === 'create') {
      logger.info(`creating the event subscription ${name}`, fields)
      return completed('created', api.put(upsert, limits))
    }
    for (const warning of upsert.warnings) logger.warn(warning, { eventSubscription: name })
    logger.info(`updating the event subscription ${name}: ${upsert.because}`, fields)
    if (upsert.action === 'patch') return completed('patched', api.patch(upsert, limits))
    return completed('replaced', api.put(upsert, limits))
  }

  /** Remembers a write that took effect, or may have: a lost answer does not undo it. */
  async function completed(action: WriteAction, writing: Promise<void>): Promise<void> {
    const remember = () => {
      if (wrote !== 'created') wrote = action
    }
    try {
      await writing
      remember()
      provisioned = true
    } catch (error) {
      if (error instanceof BindingError) throw error
      const { kind, status } = readFailure(error, clock.now())
      if (kind !== 'answer' && kind !== 'unexpected') remember()
      // The scope existed when the event subscription was read, so it is the event subscription that is missing.
      if (action === 'patched' && kind === 'answer' && status === 404) {
        throw new ArmFailureError({ kind: 'canceled', message: `the event subscription ${name} was deleted meanwhile` })
      }
      throw error
    }
  }
}
