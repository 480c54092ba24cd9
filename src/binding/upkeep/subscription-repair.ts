// When a repair starts after deliveries without a known credential; random pause in a fleet.
import type { Logger } from '../../core/logger.ts'
import { decideRepairInterval, fleetSpreadMs } from '../../provision/upsert/fleet-pace.ts'
import type { UpsertOutcome } from '../../provision/upsert/repeat-attempts.ts'
import type { SteadyClock } from '../../support/time/clock.ts'

export interface SubscriptionRepairOptions {
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Roughly how many replicas share the event subscription. */
  readonly replicas: number
  /** Deliveries answered 200 so far: each carried a credential that is known here. */
  readonly handled: () => number
  /** False while the event subscription is read or written, and after the end. */
  readonly mayStart: () => boolean
  /** Starts an upsert; `done` gets its outcome, unless it fails. */
  readonly correct: (done: (outcome: UpsertOutcome) => void) => void
}

/** Corrects the event subscription after a delivery without a known credential: not too often, and by few replicas of a fleet. */
export function createSubscriptionRepair(options: SubscriptionRepairOptions) {
  const { logger, clock, random, replicas, handled, mayStart, correct } = options
  let lastRepair = Number.NEGATIVE_INFINITY
  let repairsThatWrote = 0
  let handledBefore = 0
  let isDue = false
  let cancelStart = () => {}

  function start(): void {
    isDue = false
    if (!mayStart()) return
    if (handled() > handledBefore) {
      logger.info('deliveries have a credential again that is known here; the event subscription is not read')
      return
    }
    const elapsed = clock.elapsed()
    if (elapsed - lastRepair > 2 * decideRepairInterval(repairsThatWrote)) repairsThatWrote = 0
    lastRepair = elapsed
    logger.warn('a delivery has no credential that is known here; reading the event subscription again')
    correct(countWrite)
  }

  function countWrite({ wroteAt }: UpsertOutcome): void {
    if (wroteAt === undefined) return
    if (++repairsThatWrote > 1) {
      logger.warn(
        'our delivery credential was removed again; replicas with more secrets than the event ' +
          'subscription can hold use it, or two deployments share its name',
      )
    }
  }

  return {
    /** Starts a repair, in a fleet after a random pause. Does nothing where the last repair was a short time ago. */
    request(): void {
      handledBefore = handled()
      if (isDue || !mayStart()) return
      if (clock.elapsed() - lastRepair < decideRepairInterval(repairsThatWrote)) return
      const spreadMs = fleetSpreadMs(replicas)
      isDue = spreadMs > 0
      if (isDue) cancelStart = clock.setTimer(random() * spreadMs, start)
      else start()
    },
    close: () => cancelStart(),
  }
}
