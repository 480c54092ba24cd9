import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { Secret } from '../core/secret.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { backOff } from '../support/back-off.ts'
import { pause, type SteadyClock } from '../support/clock.ts'
import { ArmFailureError, readFailure } from './arm-failure.ts'
import {
  assumeHidden,
  decideUpsert,
  delivers,
  type ExistingSubscription,
  isActive,
  isChanging,
  kindOfDifference,
  settingsText,
  type Upsert,
} from './decide-upsert.ts'
import { desiredSubscription, withoutResets } from './desired-subscription.ts'
import { decideTurn, type Turn } from './fleet-pace.ts'
import type { SubscriptionApi } from './subscription-api.ts'
import type { CallLimits } from './subscription-calls.ts'

export interface UpsertOutcome {
  readonly action: 'created' | 'kept' | 'patched' | 'replaced'
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
  /** Told after each read whether the event subscription delivers to this endpoint already, with whatever credential. */
  readonly onLook?: (delivering: boolean) => void
}

/** Longest first pause, and longest pause of all, between two reads while somebody else changes the event subscription. */
const changingPause = { baseMs: 500, maxMs: 4_000 }

/** Writes in one attempt: one, and one more if a replica that started at the same time wrote in between. */
const maxWrites = 2

type Write = Extract<Upsert, { readonly body: unknown }>
type WriteAction = Exclude<UpsertOutcome['action'], 'kept'>

/** Makes a function that runs one attempt of an upsert: reads, decides, writes if necessary, and reads again. */
export function createUpsertAttempt(options: UpsertAttemptOptions): (deadline: number) => Promise<UpsertOutcome> {
  const { api, input, signal, logger, clock, random, handled = () => 0, onRead, onLook } = options
  const { eventSubscriptionName: name, scope } = input
  const desired = desiredSubscription(input, options.deliveryCredential)
  let wrote: WriteAction | undefined
  let provisioned = false

  const others = createChangeCount()
  let waits = 0

  /** Reads once, and decides. `plain` takes what ARM hides for right. */
  async function look(limits: CallLimits, detail?: 'plain'): Promise<Look> {
    const readAt = clock.elapsed()
    const wanted = provisioned ? withoutResets(desired) : desired
    const read = await api.read(limits, detail)
    const existing = read && detail === 'plain' ? assumeHidden(read, wanted) : read
    const upsert = decideUpsert(existing, wanted)
    if (!('body' in upsert)) return { existing, upsert }
    const kind = kindOfDifference(existing, upsert)
    const ageMs = clock.elapsed() - readAt
    const known = {
      changesSeen: others.noted(existing, handledElsewhere(existing)),
      waits,
      replicas: input.expectedReplicas,
    }
    return { existing, upsert, turn: decideTurn({ kind, ageMs, ...known, random: random() }) }
  }

  /** Deliveries come here although the event subscription delivers elsewhere: it did not for a time. */
  function handledElsewhere(existing: ExistingSubscription | undefined): number {
    return existing && delivers(existing, desired) ? 0 : handled()
  }

  /** In a fleet, one call tells most replicas that they have to wait. What ARM hides takes three. */
  async function lookAsNeeded(limits: CallLimits): Promise<Look> {
    if (input.expectedReplicas === 1) return look(limits)
    const first = await look(limits, 'plain')
    const isEnough =
      first.existing === undefined || first.upsert.action === 'wait' || (first.turn?.kind ?? 'write') !== 'write'
    return isEnough ? first : look(limits)
  }

  return async (deadline) => {
    const limits = { signal, deadline }
    for (let writes = 0, reads = 1; ; reads++) {
      const { existing, upsert, turn } = await lookAsNeeded(limits)
      onRead(existing)
      onLook?.(existing !== undefined && isActive(existing.subscription) && delivers(existing, desired))
      if (upsert.action === 'keep') {
        logger.debug(`the event subscription ${name} is as the metadata asks; nothing is written`)
        return wrote ? { action: wrote, wroteAt: clock.now() } : { action: 'kept' }
      }
      if (upsert.action === 'refuse') {
        throw new BindingError('SUBSCRIPTION_REJECTED', {
          what: `the event subscription ${name} was left unchanged: ${upsert.because}`,
          fix: upsert.fix,
        })
      }
      if (upsert.action === 'wait') {
        others.noted(existing)
        logger.debug(`the event subscription ${name} is ${upsert.state}; it is read again when that may be over`)
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
      try {
        await write(upsert, limits)
      } finally {
        others.forget()
      }
    }
  }

  async function waitForOthers(state: string, reads: number, deadline: number): Promise<void> {
    const pauseMs = changingPause.baseMs / 2 + backOff({ ...changingPause, attempt: reads, random: random() }) / 2
    await waitWithin(pauseMs, deadline, `still ${state}, by our own change or somebody else's`)
  }

  async function waitWithin(pauseMs: number, deadline: number, otherwise: string): Promise<void> {
    if (clock.elapsed() + pauseMs >= deadline) {
      throw new ArmFailureError({ kind: 'deadline', message: `the event subscription ${name} is ${otherwise}` })
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

interface Look {
  readonly existing: ExistingSubscription | undefined
  readonly upsert: Upsert
  readonly turn?: Turn
}

/** Counts the changes by others that an upsert sees: operations under way, and settings that differ between two reads. */
function createChangeCount() {
  let count = 0
  let last: string | undefined
  let handledBefore = 0
  let changing = false
  return {
    /** Counts in what a read has shown; gives the count. `handled`: deliveries that only came because of a change. */
    noted(existing: ExistingSubscription | undefined, handled = 0): number {
      if (existing !== undefined && isChanging(existing.subscription)) {
        if (!changing) count++
        changing = true
        last = undefined
        return count
      }
      const now = existing ? settingsText(existing) : 'missing'
      if (last !== undefined && (now !== last || handled > handledBefore)) count++
      changing = false
      last = now
      handledBefore = handled
      return count
    },
    /** After a write of our own: what differs then is our own change. */
    forget(): void {
      last = undefined
      changing = false
    },
  }
}
