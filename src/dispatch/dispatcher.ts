/** Hands events to the handler, `maxConcurrency` at once, and settles each delivery once; knows nothing of how deliveries arrive. */
import { AsyncResource } from 'node:async_hooks'
import type { EventHandler } from '../core/event.ts'
import type { CancelTimer, Clock } from '../support/time/clock.ts'
import { createKnownOutcomes, type Delivery, type EventOutcome, maxWaitMs } from './delivery.ts'
import type { DeliveryEvent } from './events.ts'
import { type CallOutcome, callHandler, type HandlerReports } from './handler.ts'

export interface DispatcherOptions extends HandlerReports {
  /** Asked anew for each event. */
  readonly handler: () => EventHandler | undefined
  readonly maxConcurrency: number
  readonly handlerTimeoutMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly clock: Pick<Clock, 'setTimer'>
  /** Called when a handler has ended, however late: its call is free. */
  readonly onCallEnd?: (() => void) | undefined
}

/** A handler call that has not ended. */
interface Call {
  /** Whose bytes the event holds. */
  readonly work: OpenDelivery
  readonly event: DeliveryEvent
  readonly arrivedAt: number
  readonly signal: AbortSignal
  /** The events that wait for its end: that of the delivery that began it, then those of redeliveries that joined it. */
  awaitedBy: { readonly work: OpenDelivery; readonly index: number }[]
}

/** A redelivery joins a call for this many times `handlerTimeout`. Then the event is handled anew, in case the handler hangs. */
const joinTimeouts = 4

/** Deliveries that wait for a free call. */
const maxWaiting = 1_000

/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

export class Dispatcher {
  readonly #options: DispatcherOptions
  /** Handler calls that are taken, of `maxConcurrency`. A call that is handed to a delivery counts before its handler begins. */
  #taken = 0
  /** Deliveries that wait for a free call, the first ones first. */
  readonly #queue = new Set<OpenDelivery>()
  #isHandingOut = false
  readonly #known = createKnownOutcomes()
  readonly #running: Call[] = []
  #unsettled = 0
  /** Redeliveries among them. */
  #redeliveries = 0
  #stopped = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  dispatch(delivery: Delivery): void {
    const { now, clock, handlerTimeoutMs } = this.#options
    const work = new OpenDelivery(delivery, handlerTimeoutMs)
    this.#unsettled++
    if (delivery.redelivered) this.#redeliveries++
    if (work.expiresAt > now()) this.#proceed(work)
    else this.#expire(work)
    if (!work.isSettled) work.cancelTimeout = clock.setTimer(work.expiresAt - now(), () => this.#expire(work))
  }

  /** Begins no more events, and settles the deliveries that wait. */
  stop(): void {
    this.#stopped = true
    for (const work of [...this.#queue]) work.inContext(() => this.#giveUp(work))
  }

  /** Resolves when no handler runs and every delivery is settled. */
  idle(): Promise<void> {
    this.#idle ??= Promise.withResolvers()
    const { promise } = this.#idle
    this.#checkIdle()
    return promise
  }

  /** Handler calls that have not ended, also those that timed out; and deliveries that wait for one. */
  load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running.length, waiting: this.#queue.size }
  }

  /** Begins events until all are begun, or the next one has to wait for a free call. To be called in the context of the delivery. */
  #proceed(work: OpenDelivery, granted?: 'with a free call'): void {
    let hasCall = granted !== undefined
    const { members, redelivered } = work.delivery
    for (let index = work.toBegin.pop(); index !== undefined; index = work.toBegin.pop()) {
      const member = members[index]
      if (member === undefined) continue
      if ('invalid' in member) {
        const fields = { position: index, reason: member.invalid }
        this.#options.log.warn('a delivery holds something that is not an event', fields)
        this.#end(work, index, 'invalid')
      } else if (redelivered && this.#isKnown(work, index, member)) {
        // It has ended, or waits for the call of another delivery.
      } else if (this.#stopped) {
        work.toBegin.push(index)
        this.#giveUp(work)
      } else if (hasCall || this.#takeCall()) {
        hasCall = false
        this.#begin(work, index, member)
      } else {
        work.toBegin.push(index)
        this.#wait(work)
        return
      }
    }
    if (hasCall) this.#giveCallBack()
  }

  /** Calls the handler with an event. */
  #begin(work: OpenDelivery, index: number, event: DeliveryEvent): void {
    work.hadTurn = true
    const handler = this.#options.handler()
    if (!handler) {
      this.#giveCallBack()
      this.#end(work, index, 'notTried')
      return
    }
    work.outcomes[index] = 'timedOut'
    const { signal } = work.timeout
    const { members, metadata, arrivedAt } = work.delivery
    const call: Call = { work, event, arrivedAt, signal, awaitedBy: [{ work, index }] }
    this.#running.push(call)
    work.holders++
    // A handler may change it, and another event of the batch must not see that.
    const again = () => event.receive({ ...metadata }, signal)
    const received = event.receive(members.length === 1 ? metadata : { ...metadata }, signal)
    callHandler(handler, received, again, this.#options, (outcome) => this.#onReturn(call, outcome))
  }

  /** The handler has ended. After `signal` has aborted that says nothing: whoever still waits for it has the event handled anew. */
  #onReturn(call: Call, outcome: CallOutcome): void {
    this.#running.splice(this.#running.indexOf(call), 1)
    const isLate = call.signal.aborted
    for (const { work, index } of call.awaitedBy) {
      if (work.isSettled) continue
      work.inContext(() => (isLate ? this.#beginAnew(work, index) : this.#end(work, index, outcome)))
    }
    call.work.letGo()
    this.#giveCallBack()
    this.#checkIdle()
    this.#options.onCallEnd?.()
  }

  #beginAnew(work: OpenDelivery, index: number): void {
    // Where it has given up an event before, its answer is 503 in any case.
    const isWaiting = this.#queue.has(work)
    const hasGivenUp = !isWaiting && work.outcomes.includes('notTried')
    work.outcomes[index] = 'notTried'
    work.toBegin.push(index)
    if (hasGivenUp) this.#giveUp(work)
    else if (!isWaiting) this.#proceed(work)
  }

  /** Gives a redelivered event the outcome that it had before, or lets it join the call that still runs. False: it is new. */
  #isKnown(work: OpenDelivery, index: number, event: DeliveryEvent): boolean {
    const { now, handlerTimeoutMs } = this.#options
    const since = now() - joinTimeouts * handlerTimeoutMs
    const call = this.#running.find((one) => one.arrivedAt > since && one.event.digest === event.digest)
    if (!call) {
      const before = this.#known.find(event.digest)
      if (before) this.#end(work, index, before)
      return before !== undefined
    }
    work.keepContext()
    work.outcomes[index] = 'timedOut'
    // The bytes are the same: those of this delivery need not be kept.
    work.delivery.members[index] = call.event
    // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
    call.awaitedBy = [...call.awaitedBy.filter((other) => !other.work.isSettled), { work, index }]
    return true
  }

  #takeCall(): boolean {
    if (this.#queue.size > 0 || this.#taken >= this.#options.maxConcurrency) return false
    this.#taken++
    return true
  }

  /** Hands the free calls to those that wait. A loop, not recursion: a synchronous handler gives its call back within it, a thousand times over. */
  #giveCallBack(): void {
    this.#taken--
    if (this.#isHandingOut) return
    this.#isHandingOut = true
    try {
      for (const work of this.#queue) {
        if (this.#taken >= this.#options.maxConcurrency) break
        this.#taken++
        this.#leaveQueue(work)
        work.hadTurn = true
        work.inContext(() => this.#proceed(work, 'with a free call'))
      }
    } finally {
      this.#isHandingOut = false
    }
  }

  /** A delivery that has had a turn before always finds room in the queue: its first wait bounded the number of these. */
  #wait(work: OpenDelivery): void {
    if (!work.hadTurn) {
      if (this.#queue.size >= maxWaiting || !work.shrink()) {
        this.#giveUp(work)
        return
      }
      work.cancelWait = this.#options.clock.setTimer(maxWaitMs, () => work.inContext(() => this.#giveUp(work)))
    }
    work.keepContext()
    this.#queue.add(work)
  }

  #leaveQueue(work: OpenDelivery): void {
    this.#queue.delete(work)
    work.cancelWait?.()
    work.cancelWait = undefined
  }

  /** Begins no more of its events: they keep the outcome `notTried`. */
  #giveUp(work: OpenDelivery): void {
    this.#leaveQueue(work)
    work.open -= work.toBegin.length
    work.toBegin.length = 0
    if (work.open === 0 && !work.isSettled) this.#settle(work)
  }

  #end(work: OpenDelivery, index: number, outcome: EventOutcome): void {
    work.outcomes[index] = outcome
    if (--work.open === 0) this.#settle(work)
  }

  /** `handlerTimeout` is over. */
  #expire(work: OpenDelivery): void {
    this.#leaveQueue(work)
    this.#settle(work)
    work.timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }

  #settle(work: OpenDelivery): void {
    const { delivery, outcomes } = work
    work.isSettled = true
    work.toBegin.length = 0
    work.cancelTimeout?.()
    this.#unsettled--
    if (delivery.redelivered) this.#redeliveries--
    const onKnown = this.#known.keep(delivery, outcomes)
    delivery.settle(outcomes, (isTaken) => {
      // A redelivery that is open may be of the same event: it has lost its lock, or its sender has given up.
      onKnown(isTaken && this.#redeliveries === 0)
      work.letGo()
    })
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (!this.#idle || this.#running.length > 0 || this.#unsettled > 0) return
    this.#idle.resolve()
    this.#idle = undefined
  }
}

/** A delivery that is not settled, or whose bytes are still held: which events are to be begun, and how each has ended so far. */
class OpenDelivery {
  readonly delivery: Delivery
  /** It has had a call for one of its events, or has waited for one. */
  hadTurn = false
  /** Its outcomes are told, once and for all. */
  isSettled = false
  /** The outcomes if time were over now. */
  readonly outcomes: EventOutcome[]
  /** Indexes of the events that are to be begun; the next one is the last. */
  readonly toBegin: number[]
  /** Events without a final outcome. */
  open: number
  /** Who holds its bytes: its handler calls, and its sender until that is heard. */
  holders = 1
  /** Aborts the `signal` of all its events. */
  readonly timeout = new AbortController()
  readonly expiresAt: number
  cancelTimeout: CancelTimer | undefined
  cancelWait: CancelTimer | undefined
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

  /** Keeps the bytes of its events only, because the room is counted in bytes. False: there is no room for it to wait. */
  shrink(): boolean {
    const { members, place } = this.delivery
    for (const member of members) if (!('invalid' in member)) member.forgetCloudEvent()
    return place.grow(members.length * memberBytes)
  }

  letGo(): void {
    if (--this.holders === 0) this.delivery.place.release()
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
