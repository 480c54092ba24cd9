/** The states of a delivery, and every step from one to the next. */
import { AsyncResource } from 'node:async_hooks'
import type { EventHandler } from '../core/event.ts'
import type { CancelTimer, Clock } from '../support/time/clock.ts'
import { type CallOutcome, callHandler, type HandlerReports } from './call-handler.ts'
import type { Delivery, EventOutcome } from './delivery.ts'
import { createFreeCalls, maxWaitMs } from './free-calls.ts'
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
  /** Outcomes that are remembered for events that may come again. @default that of createKnownOutcomes */
  readonly maxKnownOutcomes?: number | undefined
  /** Called when a handler has ended, however late: its call is free. */
  readonly onCallEnd?: (() => void) | undefined
}

/** Hands events to the handler and settles each delivery once. Knows nothing of how deliveries arrive. */
export type Dispatcher = ReturnType<typeof createDispatcher>

/** A delivery that is not settled. */
interface OpenDelivery {
  readonly delivery: Delivery
  /**
   * `arrived`: it has needed no free call yet. `waiting`: it is in the queue for one. `begun`: it has had its turn, and its events are
   * under way or wait for another delivery's call. `settled`: its outcomes are told, once and for all.
   */
  state: 'arrived' | 'waiting' | 'begun' | 'settled'
  /** The outcomes if time were over now. */
  readonly outcomes: EventOutcome[]
  /** Indexes of the events that are to be begun; the next one is the last. */
  readonly toBegin: number[]
  /** Events without a final outcome. */
  open: number
  /** Aborts the `signal` of all its events. */
  readonly timeout: AbortController
  readonly expiresAt: number
  cancelTimeout: CancelTimer | undefined
  cancelWait: CancelTimer | undefined
  /** Memory that it takes in the queue; 0 before it waits for the first time. */
  queueBytes: number
  /** The asynchronous context that it arrived in, kept before something of it happens in another. */
  context: AsyncResource | undefined
}

/** An event of a delivery that waits for the end of a call. */
interface Awaiting {
  readonly work: OpenDelivery
  readonly index: number
}

/** A handler call that has not ended. */
interface Call {
  readonly event: DeliveryEvent
  readonly arrivedAt: number
  readonly signal: AbortSignal
  /** The delivery that began it, then the redeliveries that joined it. */
  awaitedBy: Awaiting[]
}

/** A redelivery joins a call for this many times `handlerTimeout`. Then the event is handled anew, in case the handler hangs. */
const joinTimeouts = 4
/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

export function createDispatcher(options: DispatcherOptions) {
  const { handler, handlerTimeoutMs, maxConcurrency, log, secrets, now, clock } = options
  const source: DeliverySource = options
  const freeCalls = createFreeCalls<OpenDelivery>({
    maxConcurrency,
    onFree: (work) => inContext(work, () => proceed(leaveQueue(work), 'with a free call')),
  })
  const running: Call[] = []
  const known = createKnownOutcomes(options.maxKnownOutcomes)
  let unsettled = 0
  /** Redeliveries among them. */
  let redeliveries = 0
  let stopped = false
  let idle: PromiseWithResolvers<void> | undefined

  /** Begins events until all are begun, or the next one has to wait for a free call. To be called in the context of the delivery. */
  function proceed(work: OpenDelivery, granted?: 'with a free call'): void {
    let hasCall = granted !== undefined
    const { members, redelivered } = work.delivery
    for (let index = work.toBegin.pop(); index !== undefined; index = work.toBegin.pop()) {
      const member = members[index]
      if (member === undefined) continue
      if ('invalid' in member) {
        log.warn('a delivery holds something that is not an event', { position: index, reason: member.invalid })
        end(work, index, 'invalid')
      } else if (redelivered && isKnown(work, index, member)) {
        // It has ended, or waits for the call of another delivery.
      } else if (stopped) {
        work.toBegin.push(index)
        giveUp(work)
      } else if (hasCall || freeCalls.take()) {
        hasCall = false
        begin(work, index, member)
      } else {
        work.toBegin.push(index)
        wait(work)
        return
      }
    }
    if (hasCall) freeCalls.giveBack()
  }

  /** Calls the handler with an event. */
  function begin(work: OpenDelivery, index: number, event: DeliveryEvent): void {
    work.state = 'begun'
    const current = handler()
    if (!current) {
      freeCalls.giveBack()
      end(work, index, 'notTried')
      return
    }
    work.outcomes[index] = 'timedOut'
    const { signal } = work.timeout
    const { members, metadata, arrivedAt } = work.delivery
    const call: Call = { event, arrivedAt, signal, awaitedBy: [{ work, index }] }
    running.push(call)
    // A handler may change it, and another event of the batch must not see that.
    const received = event.receive(members.length === 1 ? metadata : { ...metadata }, signal)
    callHandler(current, received, { log, secrets, processing: beginProcessing(received, source) }, (outcome) =>
      onReturn(call, outcome),
    )
  }

  /** The handler has ended. After `signal` has aborted that says nothing: whoever still waits for it has the event handled anew. */
  function onReturn(call: Call, outcome: CallOutcome): void {
    running.splice(running.indexOf(call), 1)
    const isLate = call.signal.aborted
    for (const { work, index } of call.awaitedBy) {
      if (work.state === 'settled') continue
      inContext(work, () => (isLate ? beginAnew(work, index) : end(work, index, outcome)))
    }
    freeCalls.giveBack()
    checkIdle()
    options.onCallEnd?.()
  }

  function beginAnew(work: OpenDelivery, index: number): void {
    // It has given up an event before, so its answer is 503 in any case.
    const hasGivenUp = work.state !== 'waiting' && work.outcomes.includes('notTried')
    work.outcomes[index] = 'notTried'
    work.toBegin.push(index)
    if (hasGivenUp) giveUp(work)
    else if (work.state !== 'waiting') proceed(work)
  }

  /** Gives a redelivered event the outcome that it had before, or lets it join the call that still runs. False: it is new. */
  function isKnown(work: OpenDelivery, index: number, event: DeliveryEvent): boolean {
    const call = joinable(event.digest)
    if (!call) {
      const before = known.find(event.digest)
      if (before) end(work, index, before)
      return before !== undefined
    }
    keepContext(work)
    work.outcomes[index] = 'timedOut'
    // The bytes are the same: those of this delivery need not be kept.
    work.delivery.members[index] = call.event
    // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
    call.awaitedBy = [...call.awaitedBy.filter((other) => other.work.state !== 'settled'), { work, index }]
    return true
  }

  function joinable(digest: string): Call | undefined {
    const since = now() - joinTimeouts * handlerTimeoutMs
    return running.find((call) => call.arrivedAt > since && call.event.digest === digest)
  }

  /** A delivery that has had a turn before always finds room in the queue: its first wait bounded the number of these. */
  function wait(work: OpenDelivery): void {
    if (work.queueBytes === 0) {
      const { members, bytes } = work.delivery
      // It keeps the bytes of its events only, because the queue is bounded by bytes.
      for (const member of members) if (!('invalid' in member)) member.forgetCloudEvent()
      work.queueBytes = bytes + members.length * memberBytes
    }
    if (work.state === 'arrived') {
      if (!freeCalls.hasRoom(work.queueBytes)) {
        giveUp(work)
        return
      }
      work.cancelWait = clock.setTimer(maxWaitMs, () => giveUp(leaveQueue(work)))
    }
    keepContext(work)
    work.state = 'waiting'
    freeCalls.wait(work)
  }

  function leaveQueue(work: OpenDelivery): OpenDelivery {
    if (work.state !== 'waiting') return work
    freeCalls.leaveQueue(work)
    work.cancelWait?.()
    work.cancelWait = undefined
    work.state = 'begun'
    return work
  }

  /** Events that were not begun keep the outcome `notTried`. */
  function giveUp(work: OpenDelivery): void {
    work.open -= work.toBegin.length
    work.toBegin.length = 0
    if (work.open === 0 && work.state !== 'settled') settle(work)
  }

  function end(work: OpenDelivery, index: number, outcome: EventOutcome): void {
    work.outcomes[index] = outcome
    if (--work.open === 0) settle(work)
  }

  /** `handlerTimeout` is over. */
  function expire(work: OpenDelivery): void {
    settle(leaveQueue(work))
    work.timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }

  function settle(work: OpenDelivery): void {
    const { delivery, outcomes } = work
    work.state = 'settled'
    work.toBegin.length = 0
    work.cancelTimeout?.()
    unsettled--
    if (delivery.redelivered) redeliveries--
    // A redelivery that is open may be of the same event: it has lost its lock, or its sender has given up.
    known.settle(delivery.members, outcomes, (onKnown) =>
      delivery.settle(outcomes, (isTaken) => onKnown(isTaken && redeliveries === 0)),
    )
    checkIdle()
  }

  function checkIdle(): void {
    if (!idle || running.length > 0 || unsettled > 0) return
    idle.resolve()
    idle = undefined
  }

  return {
    dispatch(delivery: Delivery): void {
      const work: OpenDelivery = {
        delivery,
        state: 'arrived',
        outcomes: delivery.members.map(() => 'notTried'),
        toBegin: delivery.members.map((_, index) => index).reverse(),
        open: delivery.members.length,
        timeout: new AbortController(),
        expiresAt: delivery.arrivedAt + handlerTimeoutMs,
        cancelTimeout: undefined,
        cancelWait: undefined,
        queueBytes: 0,
        context: undefined,
      }
      unsettled++
      if (delivery.redelivered) redeliveries++
      if (work.expiresAt > now()) proceed(work)
      else expire(work)
      if (work.state !== 'settled') work.cancelTimeout = clock.setTimer(work.expiresAt - now(), () => expire(work))
    },
    /** Begins no more events, and settles the deliveries that wait. */
    stop(): void {
      stopped = true
      for (const work of freeCalls.queue()) inContext(work, () => giveUp(leaveQueue(work)))
    },
    /** Resolves when no handler runs and every delivery is settled. */
    idle(): Promise<void> {
      idle ??= Promise.withResolvers()
      const { promise } = idle
      checkIdle()
      return promise
    },
    /** Handler calls that have not ended, also those that timed out; and deliveries that wait for one. */
    load: () => ({ running: running.length, waiting: freeCalls.waiting() }),
  }
}

/** To be called in the context of the delivery, which is that of its dispatch. */
function keepContext(work: OpenDelivery): void {
  work.context ??= new AsyncResource('EventGridDelivery')
}

/** The host's `AsyncLocalStorage` must give each handler, and each answer, the store of its own request. */
function inContext(work: OpenDelivery, step: () => void): void {
  if (work.context) work.context.runInAsyncScope(step)
  else step()
}
