// Retry pauses 10 s-12 h, jitter 10%, final statuses 400, 401, 403, 413.
import type { DeliveryOutcome, GiveUpReason } from '../../model/events/delivery-outcome.ts'

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
  /** The answer's status; undefined without an answer. */
  readonly status?: number | undefined
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
  if (failed.status !== undefined && final.has(failed.status)) return { giveUp: 'UndeliverableDueToClientError' }
  if (failed.attempts >= failed.maxAttempts) return { giveUp: 'MaxDeliveryAttemptsExceeded' }
  const delays = failed.delays ?? documentedRetryDelays
  const scheduled = delays[Math.min(failed.attempts, delays.length) - 1] ?? 10 * second
  const min = failed.delays || failed.status === undefined ? 0 : (minDelay[failed.status] ?? 10 * second)
  return { delayMs: Math.round(Math.max(scheduled, min) * (1 + jitter * failed.random)) }
}
