/** What a delivery is to the dispatcher, how each of its events may end, and what is known of it until it is settled. */
import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer } from '../support/time/clock.ts'
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

/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

/** A delivery that is not settled: which events are to be begun, how each has ended so far, and the context that it arrived in. */
export class OpenDelivery {
  readonly delivery: Delivery
  /**
   * `arrived`: it has needed no free call yet. `waiting`: it is in the queue for one. `begun`: it has had its turn, and its events are
   * under way or wait for another delivery's call. `settled`: its outcomes are told, once and for all.
   */
  state: 'arrived' | 'waiting' | 'begun' | 'settled' = 'arrived'
  /** The outcomes if time were over now. */
  readonly outcomes: EventOutcome[]
  /** Indexes of the events that are to be begun; the next one is the last. */
  readonly toBegin: number[]
  /** Events without a final outcome. */
  open: number
  /** Aborts the `signal` of all its events. */
  readonly timeout = new AbortController()
  readonly expiresAt: number
  cancelTimeout: CancelTimer | undefined
  cancelWait: CancelTimer | undefined
  /** Memory that it takes in the queue; 0 before it waits for the first time. */
  queueBytes = 0
  /** Kept before something of it happens in another context. */
  #context: AsyncResource | undefined

  constructor(delivery: Delivery, handlerTimeoutMs: number) {
    const { members, arrivedAt } = delivery
    this.delivery = delivery
    this.outcomes = members.map(() => 'notTried')
    this.toBegin = members.map((_, index) => index).reverse()
    this.open = members.length
    this.expiresAt = arrivedAt + handlerTimeoutMs
  }

  /** Keeps the bytes of its events only, because the queue is bounded by bytes. */
  shrink(): void {
    if (this.queueBytes > 0) return
    const { members, bytes } = this.delivery
    for (const member of members) if (!('invalid' in member)) member.forgetCloudEvent()
    this.queueBytes = bytes + members.length * memberBytes
  }

  /** To be called in the context of the delivery, which is that of its dispatch. */
  keepContext(): void {
    this.#context ??= new AsyncResource('EventGridDelivery')
  }

  /** The host's `AsyncLocalStorage` must give each handler, and each answer, the store of its own request. */
  inContext(step: () => void): void {
    if (this.#context) this.#context.runInAsyncScope(step)
    else step()
  }
}
