// State of a delivery not yet answered: its events' outcomes, deadline, trace.
import type { Context } from '@opentelemetry/api'
import type { CancelTimer } from '../support/time/clock.ts'
import type { Expiring } from '../support/work/deadlines.ts'
import { callerContext } from './processing.ts'
import type { DeliveryMember } from './read-delivery.ts'
import type { FinalOutcome } from './redelivery.ts'

/**
 * How one event of a delivery ended: `invalid` is not an event, `notTried` never reached the handler, `timedOut` did, and its handler has
 * not ended.
 */
export type EventOutcome = 'resolved' | 'rejected' | 'invalid' | 'threw' | 'timedOut' | 'notTried'

/** Events that arrived together and are settled together: the body of a request. */
export interface Delivery {
  readonly members: DeliveryMember[]
  readonly metadata: Readonly<Record<string, string>>
  /** Size in memory while it waits. */
  readonly bytes: number
  /** Milliseconds, by `now` of the dispatcher: `handlerTimeout` counts from here. */
  readonly arrivedAt: number
  /** The sender has delivered these events before. */
  readonly redelivered: boolean
  /**
   * Called once, with an outcome for each member. It calls `onKnown` once, now or later, with false if the sender is going
   * to deliver the events again.
   */
  settle(outcomes: readonly EventOutcome[], onKnown: (isTaken: boolean) => void): void
}

/** A delivery that is not settled. */
export interface OpenDelivery extends Expiring {
  readonly delivery: Delivery
  /** The outcomes if time were over now: `notTried` at first, `timedOut` once the handler runs. */
  readonly outcomes: EventOutcome[]
  /** Aborts the `signal` of all its events. */
  readonly timeout: AbortController
  /** The trace of the request. Taken at its arrival: another request may be active when a slot becomes free. */
  readonly caller: Context
  /** Members that have no final outcome. */
  open: number
  /** Index of the first member that was not begun. */
  next: number
  settled: boolean
  /** Made when it is settled and one of its events may be delivered again. */
  finalOutcomes: ReadonlyMap<string, FinalOutcome> | undefined
  /** It has had a slot, so it does not count as a new arrival when it waits for another. */
  admitted: boolean
  /** It was given a slot and has not used it. */
  holdsSlot: boolean
  /** Memory that it takes in the queue for a slot; 0 before its first wait. */
  waitingBytes: number
  /** Cancels the end of its first wait. */
  endWait: CancelTimer | undefined
}

/** The place of an event in a delivery. */
export interface EventPlace {
  readonly work: OpenDelivery
  readonly index: number
}

export function openDelivery(delivery: Delivery, handlerTimeoutMs: number): OpenDelivery {
  const { length } = delivery.members
  return {
    delivery,
    outcomes: delivery.members.map(() => 'notTried'),
    timeout: new AbortController(),
    caller: callerContext(),
    expiresAt: delivery.arrivedAt + handlerTimeoutMs,
    place: -1,
    open: length,
    next: 0,
    settled: false,
    finalOutcomes: undefined,
    admitted: false,
    holdsSlot: false,
    waitingBytes: 0,
    endWait: undefined,
  }
}
