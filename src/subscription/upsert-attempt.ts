import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { backOff } from '../support/back-off.ts'
import type { SteadyClock } from '../support/clock.ts'
import { ArmFailureError } from './arm-failure.ts'
import { pauseWithin } from './call-limits.ts'
import { delivers, type ExistingSubscription, isActive } from './decide-upsert.ts'
import { desiredSubscription, withoutResets } from './desired-subscription.ts'
import { createReadAndDecide } from './read-and-decide.ts'
import type { SubscriptionApi } from './subscription-api.ts'
import { createSubscriptionWriter, type Write, type WriteAction } from './subscription-writer.ts'

export interface UpsertOutcome {
  /** `notPermitted`: it may not be read or written here, and is used as it is. */
  readonly action: 'kept' | 'notPermitted' | WriteAction
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
}

export interface UpsertAttemptOptions {
  readonly api: SubscriptionApi
  readonly input: InputMetadata
  readonly deliveryCredential: Secret | undefined
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly clock: SteadyClock
  readonly random: () => number
  /** Deliveries that were handled so far. They show that the event subscription delivered here for a time. @default none */
  readonly handled?: () => number
  readonly onRead: (existing: ExistingSubscription | undefined) => void
  /** Called after each read: whether the event subscription delivers to this endpoint already, with any credential. */
  readonly onLook?: (delivering: boolean) => void
}

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: one, and one more if a replica that started at the same time wrote in between. */
const maxWrites = 2

/** Makes a function that runs one attempt of an upsert: reads, decides, writes if necessary, and reads again. */
export function createUpsertAttempt(options: UpsertAttemptOptions): (deadline: number) => Promise<UpsertOutcome> {
  const { api, input, signal, logger, clock, random, handled = () => 0, onRead, onLook } = options
  const { eventSubscriptionName: name, expectedReplicas: replicas } = input
  const desired = desiredSubscription(input, options.deliveryCredential)
  const reader = createReadAndDecide({ api, replicas, handled, clock, random })
  const writer = createSubscriptionWriter({ api, input, logger, clock })
  let waits = 0

  return async (deadline) => {
    const limits = { signal, deadline }
    for (let writes = 0, reads = 1; ; reads++) {
      const wanted = { desired: writer.isProvisioned() ? withoutResets(desired) : desired, waits }
      const { existing, upsert, turn } = await reader.read(wanted, limits)
      onRead(existing)
      onLook?.(existing !== undefined && isActive(existing.subscription) && delivers(existing, desired))
      if (upsert.action === 'keep') return kept()
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
      if (writes === maxWrites || turn?.kind === 'yield') return overwritten(existing, upsert)
      if (turn?.kind === 'readAgain') {
        logger.debug(`the event subscription ${name} is read again before it is written`, { afterMs: turn.afterMs })
        await waitWithin(turn.afterMs, deadline, 'not written yet')
        waits++
        continue
      }
      writes++
      await writer.write(upsert, limits).finally(reader.afterWrite)
    }
  }

  function kept(): UpsertOutcome {
    logger.debug(`the event subscription ${name} is as the metadata asks; nothing is written`)
    const wrote = writer.wrote()
    return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
  }

  async function waitForOthers(state: string, reads: number, deadline: number): Promise<void> {
    logger.debug(`the event subscription ${name} is ${state}; it is read again when that may be over`)
    const pauseMs = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
    await waitWithin(pauseMs, deadline, `still ${state}, by our own change or somebody else's`)
  }

  function waitWithin(ms: number, deadline: number, otherwise: string): Promise<void> {
    return pauseWithin({ signal, deadline }, { clock, ms, message: `the event subscription ${name} is ${otherwise}` })
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
