/** How a pulled event is settled with the namespace, by how its handling ended. */
import type { EventOutcome } from '../dispatch/delivery.ts'
import type { SettleOperation } from './namespace-client.ts'

/** How an event is settled with the namespace. */
export interface Settlement {
  readonly kind: Exclude<SettleOperation, 'renewLock'>
  /** After a release the event is not delivered for so long. @default 0 */
  readonly delaySeconds?: number
}

/** Delays of a release that Event Grid takes, in seconds (namespaces, data plane 2024-06-01), by the broker's delivery count, from 1. */
const delays = [0, 10, 60, 600]
/** That of every higher count. */
const lastDelay = 3600

/**
 * Decides how an event is settled: resolved is acknowledged, rejected (or not an event at all) is rejected, all else is
 * released and redelivered. An event that no handler was called for is redelivered at once.
 *
 * @param deliveryCount the broker's count, from 1
 */
export function decideSettlement(outcome: EventOutcome, deliveryCount: number): Settlement {
  if (outcome === 'resolved') return { kind: 'acknowledge' }
  if (outcome === 'rejected' || outcome === 'invalid') return { kind: 'reject' }
  if (outcome === 'notTried') return { kind: 'release' }
  return { kind: 'release', delaySeconds: delays[Math.max(deliveryCount, 1) - 1] ?? lastDelay }
}
