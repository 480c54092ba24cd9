/** When a repair starts after deliveries without a known credential: at most once a minute, rarer where it does not last. */
import type { Logger } from '../../core/logger.ts'
import type { SteadyClock } from '../../support/time/clock.ts'

const minIntervalMs = 60_000
const maxIntervalMs = 3_600_000

export type RepairPace = ReturnType<typeof createRepairPace>

export function createRepairPace({ logger, clock }: { readonly logger: Logger; readonly clock: SteadyClock }) {
  let lastRepair = Number.NEGATIVE_INFINITY
  let repairsThatWrote = 0
  return {
    /** Whether a repair may start now, which is logged with the reason and counts as the last one. */
    mayRepair(why: string): boolean {
      // Doubles with each repair that had to write: somebody removes again what was written, such as replicas with more secrets than the
      // event subscription can hold.
      const intervalMs = Math.min(maxIntervalMs, minIntervalMs * 2 ** Math.max(0, repairsThatWrote - 1))
      const elapsed = clock.elapsed() - lastRepair
      if (elapsed < intervalMs) return false
      if (elapsed > 2 * intervalMs) repairsThatWrote = 0
      lastRepair = clock.elapsed()
      logger.warn(why)
      return true
    },
    /** A repair ended, and did not fail. */
    repaired(wrote: boolean): void {
      if (!wrote) return
      if (++repairsThatWrote > 1) {
        logger.warn(
          'our delivery credential was removed again; replicas with more secrets than the event ' +
            'subscription can hold use it, or two deployments share its name',
        )
      }
    },
  }
}
