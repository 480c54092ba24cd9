/** A delivery that is not settled: which events are to be begun, how each has ended so far, and the context that it arrived in. */
import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer } from '../support/time/clock.ts'
import type { Delivery, EventOutcome } from './delivery.ts'

/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

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
