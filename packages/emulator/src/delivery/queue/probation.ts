// Pause for failing endpoints: after 10 failures, 10 s to 5 min by outcome.
import type { DeliveryOutcome } from '../../model/events/delivery-outcome.ts'

const second = 1000
const minute = 60 * second

/** How long deliveries to an endpoint pause after an outcome, in milliseconds (Event Grid: delivery-and-retry). */
export const documentedProbation: Readonly<Partial<Record<DeliveryOutcome, number>>> = {
  Busy: 10 * second,
  TimedOut: 10 * second,
  SocketError: 30 * second,
  NotFound: 5 * minute,
  ResolutionError: 5 * minute,
  Unauthorized: 5 * minute,
  Forbidden: 5 * minute,
}

/** Delayed delivery: all events for an endpoint that fails repeatedly wait. */
export interface ProbationOptions {
  /** Failures in a row before deliveries pause. Event Grid does not document its number. @default 10 */
  readonly afterFailures?: number
}

export interface EndpointHealth {
  readonly failuresInARow: number
  /** Nothing is sent before this time. */
  readonly probationUntil: number
}

export const healthy: EndpointHealth = { failuresInARow: 0, probationUntil: 0 }

/** The health of an endpoint after one more attempt. A success resets it. */
export function healthAfter(
  health: EndpointHealth,
  outcome: DeliveryOutcome,
  now: number,
  { afterFailures = 10 }: ProbationOptions = {},
): EndpointHealth {
  if (outcome === 'Delivered') return healthy
  // The other outcomes depend on the event, not on the endpoint.
  const pause = documentedProbation[outcome]
  if (pause === undefined) return health
  const failuresInARow = health.failuresInARow + 1
  if (failuresInARow < afterFailures) return { ...health, failuresInARow }
  return { failuresInARow, probationUntil: Math.max(health.probationUntil, now + pause) }
}
