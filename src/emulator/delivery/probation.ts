import type { DeliveryOutcome } from '../model/delivery-outcome.ts'

const second = 1000
const minute = 60 * second

/** How long an endpoint is left alone after an outcome, in milliseconds (Event Grid: delivery-and-retry). */
export const documentedProbation: Readonly<Partial<Record<DeliveryOutcome, number>>> = {
  Busy: 10 * second,
  TimedOut: 10 * second,
  SocketError: 30 * second,
  NotFound: 5 * minute,
  ResolutionError: 5 * minute,
  Unauthorized: 5 * minute,
  Forbidden: 5 * minute,
}

/** Delayed delivery: events for an endpoint that fails again and again wait, new ones too. */
export interface ProbationOptions {
  /** Failures in a row after which the endpoint is left alone. Event Grid doesn't tell its number. @default 10 */
  readonly afterFailures?: number
}

/** The number of {@link ProbationOptions}. */
const defaultFailuresBeforeProbation = 10

/** What is remembered of an endpoint. */
export interface EndpointHealth {
  readonly failuresInARow: number
  /** Nothing is sent before this time. */
  readonly probationUntil: number
}

/** An endpoint that nothing bad is known of. */
export const healthy: EndpointHealth = { failuresInARow: 0, probationUntil: 0 }

/** How an endpoint stands after one more try. A success forgets everything. */
export function healthAfter(
  health: EndpointHealth,
  outcome: DeliveryOutcome,
  now: number,
  options: ProbationOptions = {},
): EndpointHealth {
  if (outcome === 'Delivered') return healthy
  // Only what the page names says something about the endpoint; the others are about the event.
  const pause = documentedProbation[outcome]
  if (pause === undefined) return health
  const failuresInARow = health.failuresInARow + 1
  const sick = failuresInARow >= (options.afterFailures ?? defaultFailuresBeforeProbation)
  return { failuresInARow, probationUntil: sick ? Math.max(health.probationUntil, now + pause) : health.probationUntil }
}
