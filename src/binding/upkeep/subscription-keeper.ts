/** Keeps an event subscription as it should be: creates or updates it, polls every 5 to 10 minutes, and corrects or only watches. */
import { readFailure } from '../../azure/read-failure.ts'
import { codeOfFailure, isLasting, mayPass } from '../../azure/refusals/resource-manager-refusal.ts'
import { isBindingError, shownMessage } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { FailedAttempt } from '../../provision/attempts.ts'
import { pause, type SteadyClock, systemClock } from '../../support/time/clock.ts'
import type { SubscriptionControl } from './subscription-control.ts'
import { createStateRecord } from './subscription-state.ts'

export interface SubscriptionKeeperOptions {
  /** Called before each use of the connection; gives the same connection each time. */
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
 * what ARM allows. The first replica that finds the event subscription missing has created it before most others poll.
 */
const minPollMs = 5 * 60_000

/** Shortest time between two repairs. */
const minRepairMs = 60_000

/**
 * Creates or updates the event subscription at init, then watches it: one loop, which polls, and writes again when a delivery or a poll
 * shows the need.
 */
export function createSubscriptionKeeper(options: SubscriptionKeeperOptions) {
  const { connect, logger, provisioning, addsCredential = false, clock = systemClock, random = Math.random } = options
  const manages = provisioning === 'manage'
  const record = createStateRecord({ logger, clock, addsCredential: manages && addsCredential, manages })
  const closing = new AbortController()
  /** Ends the pause before the next poll; `undefined` while the event subscription is read or written. */
  let wake: (() => void) | undefined
  /** A notice of a deletion came during a read, which may be older. */
  let isNoticed = false
  let ended: Promise<void> | undefined
  const repairs = { lastAt: Number.NEGATIVE_INFINITY }
  const notices = { lastAt: Number.NEGATIVE_INFINITY }
  let wasPermitted = true
  let wasMissing = false

  async function watch(): Promise<void> {
    const { signal } = closing
    while (!signal.aborted) {
      const waking = new AbortController()
      wake = () => waking.abort()
      if (isNoticed) wake()
      isNoticed = false
      await pause(clock, minPollMs * (1 + random()), AbortSignal.any([signal, waking.signal]))
      wake = undefined
      if (signal.aborted) return
      const isNeeded = await needsProvision(waking.signal.aborted)
      // Each failed attempt is logged. Only the end of the upkeep makes this reject.
      if (isNeeded) await provision('forever', signal).catch(() => {})
    }
  }

  /** Whether a repair may start now, which is logged with the reason. */
  function mayRepair(why: string, times = repairs): boolean {
    const now = clock.elapsed()
    if (now - times.lastAt < minRepairMs) return false
    times.lastAt = now
    logger.warn(why)
    return true
  }

  async function provision(patience: 'timeout' | 'forever', signal: AbortSignal): Promise<void> {
    try {
      const onAttempt = ({ error, isMissing }: FailedAttempt) => {
        // Deleting a resource deletes its event subscriptions.
        const isGone = isMissing || error.code === 'SCOPE_NOT_FOUND'
        record.failed(shownMessage(error), { isMissing, isGone, passes: doesPass(error) })
      }
      const { looked: onLook, answered: onAnswer, waits: onWait } = record
      const task = { patience, signal, onAttempt, onLook, onAnswer, onWait }
      const control = await connect()
      const outcome = await (manages ? control.upsert(task) : control.check(task))
      wasPermitted = outcome.action !== 'notPermitted'
      record.provisioned('wroteAt' in outcome ? outcome.wroteAt : undefined)
      if (outcome.action === 'found') record.found(outcome.differences)
    } catch (error) {
      if (!signal.aborted)
        record.failed(shownMessage(error), { isMissing: record.current().state === 'missing', passes: doesPass(error) })
      throw error
    }
  }

  /**
   * Reads the event subscription, and returns whether it has to be provisioned: where it is missing, where a change keeps events away, and
   * where the last attempt failed or was not permitted. After a failure a difference may be our own unfinished change, or the
   * state `Failed` that our own write has left.
   *
   * @param isWoken a delivery without a known credential came, or a notice of a deletion: then always, but where somebody moved the event
   *   subscription. Anybody can send such a delivery, which must not take the event subscription back
   */
  async function needsProvision(isWoken: boolean): Promise<boolean> {
    try {
      const control = await connect()
      const finding = await control.inspect(closing.signal, manages ? 'whole' : 'plain')
      if (finding.kind === 'missing') {
        const isBelieved = finding.certain || wasMissing
        wasMissing = true
        if (!isBelieved) return isWoken
        const then = manages ? 'creating it again' : 'waiting until somebody creates it'
        logger.warn(`the event subscription is missing; ${then}`)
        record.failed('it was deleted', { isMissing: !manages, isGone: true })
        return true
      }
      wasMissing = false
      if (record.current().state !== 'provisioned' || !wasPermitted) return true
      const { differences } = finding
      if (isWoken && !differences?.isAway) return true
      record.found(differences)
      if (!differences || !manages) return false
      // What keeps events away is repaired, as after a delivery without credential. Other changes of somebody stay.
      if (differences.isDown) return mayRepair(`${differences.problem}; writing the event subscription again`)
      if (differences.lacksCredential)
        return mayRepair('our delivery credential is not in the event subscription; reading it again')
    } catch (error) {
      const failure = readFailure(error, clock.now())
      if (codeOfFailure(failure) === 'SCOPE_NOT_FOUND') lostWithResource()
      else if (!mayPass(failure) && wasPermitted)
        record.unwatched(
          isBindingError(error) ? error.message : `${codeOfFailure(failure)} (${failure.code ?? failure.kind})`,
        )
      // Anything else says nothing about the event subscription. The next poll may.
      else logger.debug('the event subscription could not be read', { reason: failure.code ?? failure.kind })
      return isWoken
    }
    return false
  }

  /** Deleting a resource deletes its event subscriptions. None can be created before the resource exists again. */
  function lostWithResource(): void {
    const why = 'the resource that it belongs to does not exist'
    if (record.current().state === 'provisioned') logger.warn(`the event subscription is missing: ${why}`)
    record.failed(why, { isMissing: !manages, isGone: true })
  }

  return {
    state: record.current,
    timesDeleted: record.timesDeleted,
    isReady: record.isReady,
    carriesOursSince: record.carriesOursSince,
    standsSince: record.standsSince,
    /**
     * To be called once. The event subscription is watched afterwards; with the patience `timeout` not where this rejects.
     *
     * @param formerUpkeep the end of the upkeep of the former side, which is awaited: else a write of that side that is under way would be
     *   overlooked. Must not reject
     */
    bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal, formerUpkeep?: Promise<void>): Promise<void> {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const up = (async () => {
        await formerUpkeep
        await provision(patience, either)
      })()
      // In the background somebody may correct the cause of a failure that does not pass by itself.
      const over: Promise<unknown> = patience === 'forever' ? up.catch(() => {}) : up
      ended = over.then(watch, () => {})
      return up
    },
    /** Has the event subscription read again and corrected, at most once a minute. Does nothing while that is done, and after the end. */
    repair(): void {
      const why = 'a delivery has no credential that is known here; reading the event subscription again'
      if (manages && wake && mayRepair(why)) wake()
    },
    /**
     * Event Grid has told that the event subscription was deleted: it is read at once, with `check` too; while it is read or written,
     * again after that.
     */
    deleted(): void {
      const why = 'Event Grid says that the event subscription was deleted; reading it again'
      if (closing.signal.aborted || !mayRepair(why, notices)) return
      isNoticed = wake === undefined
      wake?.()
    },
    /** Ends the loop. Resolves when the last call to Azure has ended: a write that was sent is awaited, ten seconds at most. */
    async close(): Promise<void> {
      closing.abort()
      await ended
    },
  }
}

/** Whether waiting may help; else somebody has to correct the cause. */
const doesPass = (error: unknown): boolean => !isBindingError(error) || !isLasting(error.code)
