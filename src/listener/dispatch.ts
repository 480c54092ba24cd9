import type { EventHandler } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { Clock } from '../support/clock.ts'
import { createDeadlines } from './deadlines.ts'
import { type CallOutcome, callHandler } from './handler-calls.ts'
import { type Delivery, type EventOutcome, type EventPlace, type OpenDelivery, openDelivery } from './open-delivery.ts'
import type { DeliveryEvent } from './read-delivery.ts'
import { createRedelivery, type Redelivery, type RunningEvent } from './redelivery.ts'
import { createSlots } from './slots.ts'

export interface DispatcherOptions {
  /** Asked anew for each event. */
  readonly handler: () => EventHandler | undefined
  readonly maxConcurrency: number
  readonly handlerTimeoutMs: number
  /** How long a delivery waits for its first handler call. @default 3_000 */
  readonly admissionWaitMs?: number
  readonly log: QuietLog
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly clock: Pick<Clock, 'setTimer'>
}

/** Hands events to the handler and settles each delivery once. Knows nothing of how deliveries arrive. */
export interface Dispatcher {
  dispatch(delivery: Delivery): void
  /** Begins no more events, and settles the deliveries that wait. */
  stop(): void
  /** Resolves when no handler runs and every delivery is settled. */
  idle(): Promise<void>
  /** Handler calls that have not ended, also those that timed out. */
  readonly running: number
  /** Deliveries that wait for a handler call. */
  readonly waiting: number
}

/** A handler call that has not ended. */
interface Call extends RunningEvent {
  readonly event: DeliveryEvent
  /** The delivery that began it, then the redeliveries that joined it. */
  awaitedBy: readonly EventPlace[]
}

/** A redelivery joins a running handling for this many times `handlerTimeout`. Then the event is handled anew, in case the handling hangs. */
const joinTimeouts = 4

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { handler, handlerTimeoutMs, log, now, clock } = options
  const redelivery = createRedelivery<Call>({ now, joinForMs: joinTimeouts * handlerTimeoutMs })
  const slots = createSlots({ ...options, onSlot: proceed, onRefused: giveUp })
  const deadlines = createDeadlines<OpenDelivery>(clock, now, expire)
  const idleListeners: (() => void)[] = []
  let running = 0
  let unsettled = 0
  let stopped = false

  function dispatch(delivery: Delivery): void {
    const work = openDelivery(delivery, handlerTimeoutMs)
    unsettled++
    if (work.expiresAt <= now()) expire(work)
    else proceed(work)
    if (!work.settled) deadlines.add(work)
  }

  /** Begins events until all are begun or one has to wait for a slot. */
  function proceed(work: OpenDelivery): void {
    const { members, redelivered } = work.delivery
    while (!work.settled && work.next < members.length) {
      const index = work.next
      const member = members[index]
      if (member === undefined) break
      if ('invalid' in member) {
        work.next++
        log.warn('a delivery holds something that is not an event', { position: index, reason: member.invalid })
        end({ work, index }, 'invalid')
      } else if (redelivered && joinEarlier(redelivery, { work, index }, member, end)) work.next++
      else if (stopped) giveUp(work)
      else if (!slots.take(work)) break
      else {
        work.next++
        begin({ work, index }, member)
      }
    }
    slots.releaseUnused(work)
  }

  /** Calls the handler. The slot is taken. */
  function begin(place: EventPlace, event: DeliveryEvent): void {
    const { work, index } = place
    const current = handler()
    if (!current) {
      slots.release()
      end(place, 'notTried')
      return
    }
    const call: Call = { event, startedAt: now(), awaitedBy: [place], place: -1 }
    work.outcomes[index] = 'timedOut'
    redelivery.begin(call)
    running++
    const received = event.receive(work.delivery.metadata, work.timeout.signal)
    callHandler(current, received, log, (outcome) => finishCall(call, outcome))
  }

  function finishCall(call: Call, outcome: CallOutcome): void {
    running--
    redelivery.end(call)
    // A delivery that was settled before knows nothing of the outcome, so its events come again.
    const [began] = call.awaitedBy
    const isLate = began?.work.settled || call.awaitedBy.length > 1
    for (const place of call.awaitedBy) if (!place.work.settled) end(place, outcome)
    if (isLate && outcome !== 'threw') redelivery.remember(call.event.digest, outcome)
    slots.release()
    reportIdle()
  }

  function end({ work, index }: EventPlace, outcome: EventOutcome): void {
    work.outcomes[index] = outcome
    if (--work.open === 0) settle(work)
  }

  /** Events that were not begun keep the outcome `notTried`. */
  function giveUp(work: OpenDelivery): void {
    slots.cancel(work)
    work.open -= work.outcomes.length - work.next
    work.next = work.outcomes.length
    if (work.open === 0 && !work.settled) settle(work)
  }

  /** `handlerTimeout` is over. */
  function expire(work: OpenDelivery): void {
    if (work.settled) return
    slots.cancel(work)
    settle(work)
    work.timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }

  function settle(work: OpenDelivery): void {
    work.settled = true
    deadlines.remove(work)
    if (!work.delivery.settle(work.outcomes)) rememberOutcomes(redelivery, work)
    unsettled--
    reportIdle()
  }

  function reportIdle(): void {
    if (running > 0 || unsettled > 0 || idleListeners.length === 0) return
    for (const listener of idleListeners.splice(0)) listener()
  }

  return {
    dispatch,
    stop() {
      stopped = true
      slots.refuseAll()
      deadlines.stop()
    },
    idle: () =>
      new Promise((resolve) => {
        idleListeners.push(resolve)
        reportIdle()
      }),
    get running() {
      return running
    },
    get waiting() {
      return slots.waiting
    },
  }
}

/** Joins or settles an event that an earlier delivery brought. False: the event is new. */
function joinEarlier(
  redelivery: Redelivery<Call>,
  place: EventPlace,
  event: DeliveryEvent,
  end: (place: EventPlace, outcome: EventOutcome) => void,
): boolean {
  const { work, index } = place
  const earlier = redelivery.find(event.digest)
  if (earlier === undefined) return false
  event.forgetCloudEvent()
  if (typeof earlier === 'string') {
    end(place, earlier)
    return true
  }
  work.outcomes[index] = 'timedOut'
  // The bytes are the same: those of this delivery need not be kept.
  work.delivery.members[index] = earlier.event
  // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
  const [began, ...joined] = earlier.awaitedBy
  const open = joined.filter((other) => !other.work.settled)
  earlier.awaitedBy = began ? [began, ...open, place] : [...open, place]
  return true
}

/** The events come again; those that have ended must not be handled a second time. */
function rememberOutcomes(redelivery: Redelivery<Call>, { delivery, outcomes }: OpenDelivery): void {
  for (const [index, member] of delivery.members.entries()) {
    const outcome = outcomes[index]
    if (!('invalid' in member) && (outcome === 'resolved' || outcome === 'rejected'))
      redelivery.remember(member.digest, outcome)
  }
}
