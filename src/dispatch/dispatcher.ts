/** Hands events to the handler, `maxConcurrency` at once, and settles each delivery once; knows nothing of how deliveries arrive. */
import { type CancelTimer, createAlarm, type SteadyClock } from '../support/time/clock.ts'
import { createKnownOutcomes, type Delivery, type EventOutcome, OpenDelivery } from './delivery.ts'
import type { DeliveryEvent } from './events.ts'
import {
  type CallOutcome,
  type CurrentHandler,
  callHandler,
  createRecentCounts,
  type HandlerReports,
  type Handling,
} from './handler.ts'
import { logTimeout } from './result.ts'
import { maxWaitMs } from './room.ts'

export interface DispatcherOptions extends HandlerReports {
  readonly handler: CurrentHandler
  readonly maxConcurrency: number
  readonly handlerTimeoutMs: number
  readonly clock: Omit<SteadyClock, 'now'>
  /** Called when a handler has ended, however late: its call is free. */
  readonly onCallEnd?: (() => void) | undefined
}

/** A handler call that has not ended. */
interface Call {
  /** The delivery whose bytes the event holds. */
  readonly delivery: OpenDelivery
  readonly event: DeliveryEvent
  readonly id: string
  /** The events that wait for the end of the call: first the event that the call began with, then redeliveries that joined the call. */
  awaitedBy: { readonly delivery: OpenDelivery; readonly index: number }[]
}

/** A redelivery joins a call for this many times `handlerTimeout`. Then the event is handled anew, in case the handler hangs. */
const joinTimeouts = 4

/** Deliveries that wait for a free call. */
const maxWaiting = 1_000

export class Dispatcher {
  readonly #options: DispatcherOptions
  /** Deliveries that wait for a free call, the first ones first, and what ends the time of each wait. */
  readonly #queue = new Map<OpenDelivery, CancelTimer | undefined>()
  #isHandingOut = false
  readonly #known = createKnownOutcomes()
  readonly #running: Call[] = []
  readonly #recent: ReturnType<typeof createRecentCounts>
  /** Rings when the time of a delivery may be over. */
  readonly #expiry: ReturnType<typeof createAlarm>
  #unsettled = 0
  /** Redeliveries that are not settled. */
  #redeliveries = 0
  #stopped = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#recent = createRecentCounts(options.clock)
    this.#expiry = createAlarm(options.clock, (time) => this.#expireUntil(time))
  }

  dispatch(delivery: Delivery): void {
    const { clock, handlerTimeoutMs } = this.#options
    const open = new OpenDelivery(delivery, handlerTimeoutMs)
    this.#unsettled++
    if (delivery.redelivered) this.#redeliveries++
    if (open.expiresAt > clock.elapsed()) this.#proceed(open)
    else this.#expire(open)
    if (!open.isSettled) this.#expiry.set(open.expiresAt)
  }

  /** Begins no more events, and settles the deliveries that wait. */
  stop(): void {
    this.#stopped = true
    for (const open of [...this.#queue.keys()]) open.inContext(() => this.#giveUp(open))
  }

  /** Resolves when no handler runs and every delivery is settled. */
  idle(): Promise<void> {
    this.#idle ??= Promise.withResolvers()
    const { promise } = this.#idle
    this.#checkIdle()
    return promise
  }

  /** Handler calls that have not ended. Calls whose time is over count too. */
  get running(): number {
    return this.#running.length
  }

  /** Whether handlers run, and every handler runs longer than its time limit. */
  get allHang(): boolean {
    return this.#running.length > 0 && this.#running.every(({ delivery }) => delivery.signal.aborted)
  }

  get #isFull(): boolean {
    return this.#running.length >= this.#options.maxConcurrency
  }

  /** `running` as above. `waiting`: deliveries that wait for a call. `handling`: how calls ended, and whether all calls hang. */
  status(): { readonly running: number; readonly waiting: number; readonly handling: Handling } {
    const handling = { recent: this.#recent.current(), allHang: this.#isFull && this.allHang }
    return { running: this.running, waiting: this.#queue.size, handling }
  }

  /** Begins events until all are begun, or the next one has to wait for a free call. To be called in the context of the delivery. */
  #proceed(open: OpenDelivery): void {
    const { members, redelivered } = open.delivery
    for (let index = open.next(); index !== undefined; index = open.next()) {
      const member = members[index]
      if (member === undefined) continue
      if ('invalid' in member) {
        const fields = { position: index, reason: member.invalid }
        this.#options.log.warn('a delivery holds something that is not an event', fields)
        this.#end(open, index, 'invalid')
      } else if (redelivered && this.#isKnown(open, index, member)) {
        // The event has ended, or waits for the call of another delivery.
      } else if (this.#stopped) {
        open.putBack(index)
        this.#giveUp(open)
      } else if (this.#isFull || (this.#queue.size > 0 && !this.#isHandingOut)) {
        // The call that has just ended is for the first one that waits.
        open.putBack(index)
        this.#wait(open)
        return
      } else {
        this.#begin(open, index, member)
      }
    }
  }

  /** Calls the handler with an event. */
  #begin(open: OpenDelivery, index: number, event: DeliveryEvent): void {
    const handler = this.#options.handler.current
    open.hadTurn = true
    if (!handler) {
      this.#end(open, index, 'notTried')
      return
    }
    open.begin(index)
    const { metadata, attributes } = open.delivery
    // A handler may change the metadata: neither `onError` nor another event of the batch must see the change.
    const again = () => event.receive({ ...metadata }, open.signal, attributes)
    const received = again()
    const { id } = received.cloudEvent
    const call: Call = { delivery: open, event, id, awaitedBy: [{ delivery: open, index }] }
    this.#running.push(call)
    callHandler(handler, received, again, this.#options, (outcome) => this.#onReturn(call, outcome))
  }

  /**
   * The handler has ended. After `signal` has aborted, the result does not count. A delivery that still waits for the result gets a
   * new handler call.
   */
  #onReturn(call: Call, outcome: CallOutcome): void {
    this.#running.splice(this.#running.indexOf(call), 1)
    const isLate = call.delivery.signal.aborted
    // A late call was counted when its time was over.
    if (!isLate) this.#recent.add(outcome === 'threw')
    for (const { delivery: open, index } of call.awaitedBy) {
      if (open.isSettled) continue
      open.inContext(() => (isLate ? this.#beginAnew(open, index) : this.#end(open, index, outcome)))
    }
    call.delivery.letGo()
    this.#handOutCalls()
    this.#checkIdle()
    this.#options.onCallEnd?.()
  }

  #beginAnew(open: OpenDelivery, index: number): void {
    // Where the delivery has given up an event before, its answer is 503 in any case.
    const isWaiting = this.#queue.has(open)
    const hasGivenUp = !isWaiting && open.outcomes.includes('notTried')
    open.putBack(index)
    if (hasGivenUp) this.#giveUp(open)
    else if (!isWaiting) this.#proceed(open)
  }

  /** Gives a redelivered event the outcome that it had before, or lets it join the call that still runs. False: the event is new. */
  #isKnown(open: OpenDelivery, index: number, event: DeliveryEvent): boolean {
    const { clock, handlerTimeoutMs } = this.#options
    // The time of a call is over after the first of these.
    const since = clock.elapsed() - (joinTimeouts - 1) * handlerTimeoutMs
    const isSame = (one: Call) => one.delivery.expiresAt > since && one.event.digest === event.digest
    // After `stop` a new delivery must not join a running call: who stops the dispatcher waits only for the earlier deliveries.
    const call = this.#stopped ? undefined : this.#running.find(isSame)
    if (!call) {
      const before = this.#known.find(event.digest)
      if (before) this.#end(open, index, before)
      return before !== undefined
    }
    open.join(index, call.event)
    // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
    call.awaitedBy = [...call.awaitedBy.filter(({ delivery }) => !delivery.isSettled), { delivery: open, index }]
    return true
  }

  /** Hands free calls to deliveries that wait. A loop, not recursion: a synchronous handler ends before the next one begins. */
  #handOutCalls(): void {
    if (this.#isHandingOut) return
    this.#isHandingOut = true
    try {
      for (const open of this.#queue.keys()) {
        if (this.#isFull) break
        this.#leaveQueue(open)
        open.hadTurn = true
        open.inContext(() => this.#proceed(open))
      }
    } finally {
      this.#isHandingOut = false
    }
  }

  /** A delivery that has had a turn before always finds room in the queue: the first wait has bounded the number of such deliveries. */
  #wait(open: OpenDelivery): void {
    if (open.hadTurn) {
      this.#queue.set(open, undefined)
    } else if (this.#queue.size < maxWaiting && open.shrink()) {
      const { waitedMs = 0 } = open.delivery
      const giveUp = () => open.inContext(() => this.#giveUp(open))
      this.#queue.set(open, this.#options.clock.setTimer(maxWaitMs - waitedMs, giveUp))
    } else {
      this.#giveUp(open)
    }
  }

  #leaveQueue(open: OpenDelivery): void {
    this.#queue.get(open)?.()
    this.#queue.delete(open)
  }

  /** Begins no more of its events: they keep the outcome `notTried`. */
  #giveUp(open: OpenDelivery): void {
    this.#leaveQueue(open)
    open.dropRest()
    if (open.hasEnded && !open.isSettled) this.#settle(open)
  }

  #end(open: OpenDelivery, index: number, outcome: EventOutcome): void {
    open.end(index, outcome)
    if (open.hasEnded) this.#settle(open)
  }

  /** A delivery that is not settled waits for a free call, or for the end of a call. */
  #expireUntil(time: number): void {
    const called = this.#running.flatMap(({ awaitedBy }) => awaitedBy.map(({ delivery }) => delivery))
    for (const open of new Set([...called, ...this.#queue.keys()])) {
      if (open.isSettled) continue
      if (open.expiresAt <= time) open.inContext(() => this.#expire(open))
      else this.#expiry.set(open.expiresAt)
    }
  }

  /** `handlerTimeout` is over. */
  #expire(open: OpenDelivery): void {
    this.#leaveQueue(open)
    const { handlerTimeoutMs } = this.#options
    for (const { id, delivery: first, awaitedBy } of this.#running) {
      if (awaitedBy.some(({ delivery }) => delivery === open)) logTimeout(id, handlerTimeoutMs, this.#options)
      if (first === open) this.#recent.add(true)
    }
    this.#settle(open)
    open.abort()
  }

  #settle(open: OpenDelivery): void {
    const { delivery, outcomes } = open
    open.settle()
    if (--this.#unsettled === 0) this.#expiry.stop()
    if (delivery.redelivered) this.#redeliveries--
    this.#known.settled(open)
    delivery.settle(outcomes, (isTaken) => {
      // An open redelivery may be of the same event (the first delivery lost its lock, or its sender gave up). So the outcome is kept for
      // the redelivery.
      this.#known.answerEnded(open, isTaken && this.#redeliveries === 0)
      open.letGo()
    })
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (!this.#idle || this.#running.length > 0 || this.#unsettled > 0) return
    this.#idle.resolve()
    this.#idle = undefined
  }
}
