/** Keeps an event subscription as it should be: brings it about, polls it every 5 to 10 minutes, and corrects or only watches it. */

import { readFailure } from '../../azure/read-failure.ts'
import { verdictOf } from '../../azure/refusals/resource-manager-refusal.ts'
import type { Logger } from '../../core/logger.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/upsert/provision-target.ts'
import type { SubscriptionCheck } from '../../provision/upsert/read-subscriptions.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { type SteadyClock, systemClock } from '../../support/time/clock.ts'
import { createSubscriptionRepair } from './repair-pace.ts'
import type { SubscriptionControl } from './subscription-control.ts'
import { createStateRecord, reasonOf } from './subscription-state.ts'

export interface SubscriptionKeeperOptions {
  /** Called at the first use, and again where it rejected. */
  readonly connect: () => Promise<Pick<SubscriptionControl, 'upsert' | 'check' | 'inspect'>>
  readonly logger: Logger
  /** `check` writes nothing: neither at init, nor by a repair, nor after a poll. */
  readonly provisioning: 'manage' | 'check'
  /** Whether deliveries have to bear a credential that we add to the event subscription. @default false */
  readonly addsCredential?: boolean
  readonly clock?: SteadyClock
  /** At least 0 and less than 1. @default Math.random */
  readonly random?: () => number
}

/**
 * Shortest time between two polls; the longest is twice that, by chance. A thousand replicas poll 2.2 times a second together, far below
 * what ARM allows, and the first that finds the event subscription missing has created it before most others poll.
 */
const minPollMs = 5 * 60_000

/**
 * Brings the event subscription about at init, watches it, and corrects it when a delivery or a poll shows that it has to. Its tasks never
 * overlap, and `close` ends each of them.
 */
export function createSubscriptionKeeper(options: SubscriptionKeeperOptions) {
  const { connect, logger, provisioning, clock = systemClock, random = Math.random } = options
  const manages = provisioning === 'manage'
  const addsCredential = manages && (options.addsCredential ?? false)
  const closing = new AbortController()
  const record = createStateRecord({ logger, clock, addsCredential, manages })
  /** The task under way; `undefined` between two, and before the first, which is that of `bringUp`. */
  let task: Promise<void> | undefined
  let hasBegun = false
  let cancelPoll = () => {}
  let wasPermitted = true
  let wasMissing = false
  const mayStart = () => hasBegun && !task && !closing.signal.aborted
  const repair = createSubscriptionRepair({ logger, clock, mayStart, correct })

  /** Runs a task, while no other runs. A poll follows when none has run for a while. */
  function run(work: () => Promise<void>): Promise<void> {
    cancelPoll()
    task = work().finally(() => {
      task = undefined
      if (!closing.signal.aborted) cancelPoll = clock.setTimer(minPollMs * (1 + random()), poll)
    })
    return task
  }

  async function provision(
    patience: 'timeout' | 'forever',
    signal: AbortSignal,
  ): Promise<UpsertOutcome | SubscriptionCheck> {
    try {
      const onAttempt = ({ error, isMissing }: FailedAttempt) => record.failed(reasonOf(error), isMissing)
      const how = { patience, signal, onLook: record.looked, onAnswer: record.answered, onAttempt }
      const control = await connect()
      const outcome = await (manages ? control.upsert(how) : control.check(how))
      wasPermitted = outcome.action !== 'notPermitted'
      if (outcome.action === 'created') record.missed()
      record.provisioned('wroteAt' in outcome ? outcome.wroteAt : undefined)
      if (outcome.action === 'found') record.found(outcome.problem)
      return outcome
    } catch (error) {
      if (!signal.aborted) record.failed(reasonOf(error), record.current().state === 'missing')
      throw error
    }
  }

  function runInBackground(work: () => Promise<void>): void {
    run(work).catch((error: unknown) => {
      if (closing.signal.aborted) return
      logger.error(`the event subscription could not be ${manages ? 'corrected' : 'checked'}: ${messageOf(error)}`)
    })
  }

  function correct(done: (wrote: boolean) => void): void {
    runInBackground(async () => {
      const outcome = await provision('timeout', closing.signal)
      done('wroteAt' in outcome && outcome.wroteAt !== undefined)
    })
  }

  function poll(): void {
    runInBackground(async () => {
      if (await needsProvision()) await provision('timeout', closing.signal)
    })
  }

  /**
   * Reads without writing. More is needed where the event subscription is missing, or what came before failed or was not permitted: then
   * what differs may be our own change that is not done, or a state `Failed` that our own write has left.
   */
  async function needsProvision(): Promise<boolean> {
    try {
      const finding = await (await connect()).inspect(closing.signal, manages ? 'delivery' : 'all')
      if (finding.kind === 'missing') {
        const isBelieved = finding.certain || wasMissing
        wasMissing = true
        if (!isBelieved) return false
        logger.warn(
          `the event subscription is missing; ${manages ? 'creating it again' : 'waiting until somebody creates it'}`,
        )
        record.missed()
        record.failed('it was deleted', !manages)
        return true
      }
      wasMissing = false
      if (record.current().state !== 'provisioned') return true
      if (finding.kind === 'intact' && !wasPermitted) return true
      record.found(finding.kind === 'changed' ? finding.problem : undefined)
    } catch (error) {
      const failure = readFailure(error, clock.now())
      if (verdictOf(failure) === 'scope') lostWithResource()
      // Anything else says nothing about the event subscription. The next poll may.
      else logger.debug('the event subscription could not be read', { reason: failure.code ?? failure.kind })
    }
    return false
  }

  /** Who deletes the resource deletes its event subscriptions. Only when it is there again they can be. */
  function lostWithResource(): void {
    const why = 'the resource that it belongs to does not exist'
    if (record.current().state === 'provisioned') logger.warn(`the event subscription is missing: ${why}`)
    record.missed()
    record.failed(why, !manages)
  }

  return {
    state: record.current,
    timesDeleted: record.timesDeleted,
    isReady: record.isReady,
    /** To be called once. Nothing is repaired or polled before. */
    bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal): Promise<void> {
      hasBegun = true
      record.startWaiting()
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      return run(async () => void (await provision(patience, either)))
    },
    /**
     * Reads the event subscription again and corrects it, in the background and at most once a minute; less often where that does not
     * last.
     */
    repair(): void {
      if (manages) repair.request()
    },
    async close(): Promise<void> {
      closing.abort()
      cancelPoll()
      await task?.catch(() => {})
    },
  }
}
