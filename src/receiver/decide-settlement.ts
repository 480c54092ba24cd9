/** How the handling of one event ended, in the words of the dispatcher. */
export type HandlingOutcome = 'resolved' | 'rejected' | 'invalid' | 'threw' | 'timedOut' | 'notTried'

/** How an event is settled with the namespace. */
export type Settlement =
  | { readonly kind: 'acknowledge' | 'reject' }
  | { readonly kind: 'release'; readonly delaySeconds: ReleaseDelay }

/** Delays of a release that Event Grid takes, in seconds (namespaces, data plane 2024-06-01). */
export type ReleaseDelay = 0 | 10 | 60 | 600 | 3600

/** By the broker's delivery count, from 1; the last is for every higher count. */
const delays: readonly ReleaseDelay[] = [0, 10, 60, 600, 3600]

/**
 * Decides how an event is settled: resolved is acknowledged, rejected (or not an event at all) is rejected, all else is
 * released and redelivered. An event that no handler was called for is redelivered at once.
 *
 * @param deliveryCount the broker's count, from 1
 */
export function decideSettlement(outcome: HandlingOutcome, deliveryCount: number): Settlement {
  if (outcome === 'resolved') return { kind: 'acknowledge' }
  if (outcome === 'rejected' || outcome === 'invalid') return { kind: 'reject' }
  if (outcome === 'notTried') return { kind: 'release', delaySeconds: 0 }
  const place = Math.min(Math.max(deliveryCount, 1), delays.length) - 1
  return { kind: 'release', delaySeconds: delays[place] ?? 3600 }
}
