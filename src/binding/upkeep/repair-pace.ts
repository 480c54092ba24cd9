/** When a repair starts after deliveries without a known credential: at most once a minute, rarer where it does not last. */
import type { Logger } from '../../core/logger.ts'
import type { SteadyClock } from '../../support/time/clock.ts'

export interface SubscriptionRepairOptions {
  readonly logger: Logger
  readonly clock: SteadyClock
  /** False while the event subscription is read or written, and after the end. */
  readonly mayStart: () => boolean
  /** Starts an upsert; `done` hears whether it wrote, unless it fails. */
  readonly correct: (done: (wrote: boolean) => void) => void
}

const minIntervalMs = 60_000
const maxIntervalMs = 3_600_000

/** Corrects the event subscription after a delivery without a known credential, but not too often. */
export function createSubscriptionRepair({ logger, clock, mayStart, correct }: SubscriptionRepairOptions) {
  let lastRepair = Number.NEGATIVE_INFINITY
  let repairsThatWrote = 0
  /**
   * Shortest time between two repairs, in ms. It doubles with each repair that had to write: somebody removes again what was
   * written, such as replicas with more secrets than the event subscription can hold.
   */
  const intervalMs = () => Math.min(maxIntervalMs, minIntervalMs * 2 ** Math.max(0, repairsThatWrote - 1))

  function countWrite(wrote: boolean): void {
    if (!wrote) return
    if (++repairsThatWrote > 1) {
      logger.warn(
        'our delivery credential was removed again; replicas with more secrets than the event ' +
          'subscription can hold use it, or two deployments share its name',
      )
    }
  }

  return {
    /** Starts a repair. Does nothing where the last one was a short time ago. */
    request(): void {
      const elapsed = clock.elapsed() - lastRepair
      if (!mayStart() || elapsed < intervalMs()) return
      if (elapsed > 2 * intervalMs()) repairsThatWrote = 0
      lastRepair = clock.elapsed()
      logger.warn('a delivery has no credential that is known here; reading the event subscription again')
      correct(countWrite)
    },
  }
}
