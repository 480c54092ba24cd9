/** Hands events to the handler, `maxConcurrency` at once, and settles each delivery once; knows nothing of how deliveries arrive. */
import type { EventHandler } from '../core/event.ts'
import type { Clock } from '../support/time/clock.ts'
import { type Delivery, type EventOutcome, OpenDelivery } from './delivery.ts'
import { createFreeCalls, maxWaitMs } from './free-calls.ts'
import { type CallOutcome, callHandler, type HandlerReports } from './handler.ts'
import { createKnownOutcomes } from './known-outcomes.ts'
import { beginProcessing, type DeliverySource } from './processing.ts'
import type { DeliveryEvent } from './read-delivery.ts'

export interface DispatcherOptions extends DeliverySource, HandlerReports {
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
  readonly event: DeliveryEvent
  readonly arrivedAt: number
  readonly signal: AbortSignal
  /** The events that wait for its end: that of the delivery that began it, then those of redeliveries that joined it. */
  awaitedBy: { readonly work: OpenDelivery; readonly index: number }[]
}

/** A redelivery joins a call for this many times `handlerTimeout`. Then the event is handled anew, in case the handler hangs. */
const joinTimeouts = 4

export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #freeCalls: ReturnType<typeof createFreeCalls>
  readonly #known = createKnownOutcomes()
  readonly #running: Call[] = []
  #unsettled = 0
  /** Redeliveries among them. */
  #redeliveries = 0
  #stopped = false
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#freeCalls = createFreeCalls(options.maxConcurrency, (work) =>
      work.inContext(() => this.#proceed(work, 'with a free call')),
    )
  }

  dispatch(delivery: Delivery): void {
    const { now, clock, handlerTimeoutMs } = this.#options
    const work = new OpenDelivery(delivery, handlerTimeoutMs)
    this.#unsettled++
    if (delivery.redelivered) this.#redeliveries++
    if (work.expiresAt > now()) this.#proceed(work)
    else this.#expire(work)
    if (work.state !== 'settled') work.cancelTimeout = clock.setTimer(work.expiresAt - now(), () => this.#expire(work))
  }

  /** Begins no more events, and settles the deliveries that wait. */
  stop(): void {
    this.#stopped = true
    for (const work of this.#freeCalls.queue()) work.inContext(() => this.#giveUp(this.#freeCalls.leaveQueue(work)))
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
    return { running: this.#running.length, waiting: this.#freeCalls.waiting() }
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
      } else if (hasCall || this.#freeCalls.take()) {
        hasCall = false
        this.#begin(work, index, member)
      } else {
        work.toBegin.push(index)
        this.#wait(work)
        return
      }
    }
    if (hasCall) this.#freeCalls.giveBack()
  }

  /** Calls the handler with an event. */
  #begin(work: OpenDelivery, index: number, event: DeliveryEvent): void {
    work.state = 'begun'
    const handler = this.#options.handler()
    if (!handler) {
      this.#freeCalls.giveBack()
      this.#end(work, index, 'notTried')
      return
    }
    work.outcomes[index] = 'timedOut'
    const { signal } = work.timeout
    const { members, metadata, arrivedAt } = work.delivery
    const call: Call = { event, arrivedAt, signal, awaitedBy: [{ work, index }] }
    this.#running.push(call)
    // A handler may change it, and another event of the batch must not see that.
    const again = () => event.receive({ ...metadata }, signal)
    const received = event.receive(members.length === 1 ? metadata : { ...metadata }, signal)
    const processing = beginProcessing(received, this.#options)
    callHandler(handler, { event: received, again, processing }, this.#options, (outcome) =>
      this.#onReturn(call, outcome),
    )
  }

  /** The handler has ended. After `signal` has aborted that says nothing: whoever still waits for it has the event handled anew. */
  #onReturn(call: Call, outcome: CallOutcome): void {
    this.#running.splice(this.#running.indexOf(call), 1)
    const isLate = call.signal.aborted
    for (const { work, index } of call.awaitedBy) {
      if (work.state === 'settled') continue
      work.inContext(() => (isLate ? this.#beginAnew(work, index) : this.#end(work, index, outcome)))
    }
    this.#freeCalls.giveBack()
    this.#checkIdle()
    this.#options.onCallEnd?.()
  }

  #beginAnew(work: OpenDelivery, index: number): void {
    // It has given up an event before, so its answer is 503 in any case.
    const hasGivenUp = work.state !== 'waiting' && work.outcomes.includes('notTried')
    work.outcomes[index] = 'notTried'
    work.toBegin.push(index)
    if (hasGivenUp) this.#giveUp(work)
    else if (work.state !== 'waiting') this.#proceed(work)
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
    call.awaitedBy = [...call.awaitedBy.filter((other) => other.work.state !== 'settled'), { work, index }]
    return true
  }

  /** A delivery that has had a turn before always finds room in the queue: its first wait bounded the number of these. */
  #wait(work: OpenDelivery): void {
    work.shrink()
    if (work.state === 'arrived') {
      if (!this.#freeCalls.hasRoom(work.queueBytes)) {
        this.#giveUp(work)
        return
      }
      work.cancelWait = this.#options.clock.setTimer(maxWaitMs, () => this.#giveUp(this.#freeCalls.leaveQueue(work)))
    }
    work.keepContext()
    this.#freeCalls.wait(work)
  }

  /** Events that were not begun keep the outcome `notTried`. */
  #giveUp(work: OpenDelivery): void {
    work.open -= work.toBegin.length
    work.toBegin.length = 0
    if (work.open === 0 && work.state !== 'settled') this.#settle(work)
  }

  #end(work: OpenDelivery, index: number, outcome: EventOutcome): void {
    work.outcomes[index] = outcome
    if (--work.open === 0) this.#settle(work)
  }

  /** `handlerTimeout` is over. */
  #expire(work: OpenDelivery): void {
    this.#settle(this.#freeCalls.leaveQueue(work))
    work.timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }

  #settle(work: OpenDelivery): void {
    const { delivery, outcomes } = work
    work.state = 'settled'
    work.toBegin.length = 0
    work.cancelTimeout?.()
    this.#unsettled--
    if (delivery.redelivered) this.#redeliveries--
    const onKnown = this.#known.keep(delivery.members, outcomes)
    // A redelivery that is open may be of the same event: it has lost its lock, or its sender has given up.
    delivery.settle(outcomes, (isTaken) => onKnown(isTaken && this.#redeliveries === 0))
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (!this.#idle || this.#running.length > 0 || this.#unsettled > 0) return
    this.#idle.resolve()
    this.#idle = undefined
  }
}
