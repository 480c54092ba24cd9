/** What follows a failed delivery attempt: the next attempt's time, the end, or a pause for the endpoint. */
import type { DeliveryOutcome, GiveUpReason } from '../../model/events/accepted-event.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** Pauses after the first, second, ... attempt, in milliseconds; the last is repeated (Event Grid: delivery-and-retry). */
export const documentedRetryDelays: readonly number[] = [
  10 * second,
  30 * second,
  minute,
  5 * minute,
  10 * minute,
  30 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
]

/** The largest random addition to a pause, as a fraction of it. Event Grid says only that it is small. */
export const jitter = 0.1

/** Statuses after which there is no further attempt (Event Grid: delivery-and-retry). */
const final: ReadonlySet<number> = new Set([400, 401, 403, 413])

// The page lists 404 for Azure resources only; for webhooks it is treated the same, as an older page said.
const minDelay: Readonly<Record<number, number>> = { 404: 5 * minute, 408: 2 * minute, 503: 30 * second }

/** Outcomes at Azure resources that answer without a status: those after which there is no further attempt, and pauses (the same page). */
const finalOutcomes: ReadonlySet<DeliveryOutcome> = new Set(['BadRequest', 'PayloadTooLarge'])
const resourceDelay: Readonly<Partial<Record<DeliveryOutcome, number>>> = {
  Unauthorized: 5 * minute,
  NotFound: 5 * minute,
  Busy: 30 * second,
}

const outcomes: Readonly<Record<number, DeliveryOutcome>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'TimedOut',
  413: 'PayloadTooLarge',
  429: 'Busy',
}

/** The outcome of an answer: only 200 to 204 is success; a redirect is not followed. */
export function outcomeOf(status: number): DeliveryOutcome {
  if (status >= 200 && status <= 204) return 'Delivered'
  return outcomes[status] ?? (status >= 500 ? 'Busy' : 'Aborted')
}

/** A failed attempt, and the rules for the next one. */
export interface FailedAttempt {
  /** The answer's status; undefined without an answer by HTTP. */
  readonly status?: number | undefined
  readonly outcome: DeliveryOutcome
  /** Number of attempts, this one included. */
  readonly attempts: number
  readonly maxAttempts: number
  /** From 0 to just under 1. */
  readonly random: number
  /**
   * Pauses in milliseconds that replace Event Grid's, and its longer ones for some statuses.
   * @default documentedRetryDelays
   */
  readonly delays?: readonly number[] | undefined
}

export type RetryDecision = { readonly delayMs: number } | { readonly giveUp: GiveUpReason }

/** Decides what follows a failed attempt. Event Grid checks the time to live only when the next attempt is due. */
export function decideRetry(failed: FailedAttempt): RetryDecision {
  const { status, outcome } = failed
  const isFinal = status === undefined ? finalOutcomes.has(outcome) : final.has(status)
  if (isFinal) return { giveUp: 'UndeliverableDueToClientError' }
  if (failed.attempts >= failed.maxAttempts) return { giveUp: 'MaxDeliveryAttemptsExceeded' }
  const delays = failed.delays ?? documentedRetryDelays
  const scheduled = delays[Math.min(failed.attempts, delays.length) - 1] ?? 10 * second
  const least = status === undefined ? (resourceDelay[outcome] ?? 0) : (minDelay[status] ?? 10 * second)
  return { delayMs: Math.round(Math.max(scheduled, failed.delays ? 0 : least) * (1 + jitter * failed.random)) }
}

/** How long deliveries to an endpoint pause after an outcome, in milliseconds (Event Grid: delivery-and-retry). */
export const documentedProbation: Readonly<Partial<Record<DeliveryOutcome, number>>> = {
  Busy: 10 * second,
  TimedOut: 10 * second,
  SocketError: 30 * second,
  NotFound: 5 * minute,
  ResolutionError: 5 * minute,
  Disabled: 5 * minute,
  Full: 5 * minute,
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
  /** When the pause began, where a client error caused it: events whose time ends meanwhile are given up for that reason. */
  readonly clientErrorSince?: number
}

/** Outcomes that are the fault of who set up the endpoint or its event subscription (assumed: a dead letter alone has the words). */
const clientErrors: ReadonlySet<DeliveryOutcome> = new Set(['NotFound', 'Unauthorized', 'Forbidden'])

/** Why an event is given up whose time to live ended then, in milliseconds since 1970. */
export const reasonOfExpiry = ({ clientErrorSince, probationUntil }: EndpointHealth, ended: number): GiveUpReason =>
  clientErrorSince !== undefined && ended >= clientErrorSince && ended <= probationUntil
    ? 'UndeliverableDueToProbationCausedByClientError'
    : 'TimeToLiveExceeded'

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
  return {
    failuresInARow,
    probationUntil: Math.max(health.probationUntil, now + pause),
    ...(clientErrors.has(outcome) && { clientErrorSince: health.clientErrorSince ?? now }),
  }
}
