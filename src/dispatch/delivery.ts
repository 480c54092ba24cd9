/** What a delivery is to the dispatcher, and how each of its events may end. */
import type { DeliveryMember } from './read-delivery.ts'

/**
 * How one event of a delivery ended: `invalid` is not an event, `notTried` never reached the handler, `timedOut` did, and its handler had
 * not ended when the time was over.
 */
export type EventOutcome = 'resolved' | 'rejected' | 'invalid' | 'threw' | 'timedOut' | 'notTried'

/** Events that arrived together and are settled together: the body of a request, or one pulled event. */
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
   * Called once, with an outcome for each member, in the asynchronous context in which the delivery was dispatched. It calls `onKnown`
   * once, now or later, with false if the sender is going to deliver the events again.
   */
  settle(outcomes: readonly EventOutcome[], onKnown: (isTaken: boolean) => void): void
}
