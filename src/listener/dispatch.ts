import type { EventHandler } from '../core/event.ts'
import type { DeliverySource } from '../core/processing.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { Clock } from '../support/clock.ts'
import { createCalls } from './calls.ts'
import { createDeadlines } from './deadlines.ts'
import { type Delivery, type EventOutcome, type EventPlace, type OpenDelivery, openDelivery } from './open-delivery.ts'
import { createSlots } from './slots.ts'

export interface DispatcherOptions extends DeliverySource {
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

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { handlerTimeoutMs, log, now, clock } = options
  const slots = createSlots({ ...options, onSlot: proceed, onRefused: giveUp })
  const deadlines = createDeadlines<OpenDelivery>(clock, now, expire)
  const calls = createCalls({ ...options, onOutcome: end, onReturn })
  const idle = createIdleSignal(() => calls.running === 0 && unsettled === 0)
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
      } else if (redelivered && calls.join({ work, index }, member)) work.next++
      else if (stopped) giveUp(work)
      else if (!slots.take(work)) break
      else {
        work.next++
        if (!calls.begin({ work, index }, member)) {
          slots.release()
          end({ work, index }, 'notTried')
        }
      }
    }
    slots.releaseUnused(work)
  }

  function onReturn(): void {
    slots.release()
    idle.check()
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
    let isKnown = false
    work.delivery.settle(work.outcomes, (isTaken) => {
      isKnown = true
      calls.settled(work, isTaken)
    })
    if (!isKnown) calls.settling(work)
    unsettled--
    idle.check()
  }

  return {
    dispatch,
    stop() {
      stopped = true
      slots.refuseAll()
      deadlines.stop()
    },
    idle: idle.reached,
    get running() {
      return calls.running
    },
    get waiting() {
      return slots.waiting
    },
  }
}

/** Lets callers wait for a state. `check` is called whenever it may have been reached. */
function createIdleSignal(isIdle: () => boolean): { reached(): Promise<void>; check(): void } {
  const waiting: (() => void)[] = []
  const check = () => {
    if (waiting.length === 0 || !isIdle()) return
    for (const resolve of waiting.splice(0)) resolve()
  }
  return {
    check,
    reached: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        check()
      }),
  }
}
