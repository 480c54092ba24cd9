// Handing events to the application's handler: start, time-out, settling each delivery once, drain.
import type { QuietLog } from '../core/quiet-log.ts'
import {
  addDeadline,
  createDeadlines,
  type Deadlines,
  removeDeadline,
  stopDeadlines,
} from '../support/work/deadlines.ts'
import { countOf } from '../support/work/placed-list.ts'
import {
  beginCall,
  type Call,
  type Calls,
  type CallsOptions,
  createCalls,
  endCall,
  joinEarlier,
  keepOutcomes,
  settleOutcomes,
} from './calls.ts'
import type { CallOutcome } from './handler-calls.ts'
import { type Delivery, type EventOutcome, type EventPlace, type OpenDelivery, openDelivery } from './open-delivery.ts'
import {
  createSlots,
  leave,
  leaveQueue,
  refuseAll,
  releaseUnused,
  type Slots,
  type SlotsOptions,
  takeSlot,
} from './slots.ts'

export interface DispatcherOptions extends CallsOptions, Pick<SlotsOptions, 'maxConcurrency' | 'clock'> {}

/** Hands events to the handler and settles each delivery once. Knows nothing of how deliveries arrive. */
export interface Dispatcher {
  readonly handlerTimeoutMs: number
  readonly now: () => number
  readonly log: QuietLog
  readonly slots: Slots
  readonly deadlines: Deadlines<OpenDelivery>
  readonly calls: Calls
  /** Deliveries that are not settled. */
  unsettled: number
  /** It begins no more events. */
  stopped: boolean
  /** Resolved when no handler runs and every delivery is settled. `undefined` while nobody waits for that. */
  idle: PromiseWithResolvers<void> | undefined
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { maxConcurrency, handlerTimeoutMs, now, log, clock } = options
  const dispatcher: Dispatcher = {
    ...{ handlerTimeoutMs, now, log },
    slots: createSlots({
      ...{ maxConcurrency, clock },
      onSlot: (work) => proceed(dispatcher, work),
      onRefused: (work) => giveUp(dispatcher, work),
    }),
    deadlines: createDeadlines({ clock, now, expire: (work) => expire(dispatcher, work) }),
    calls: createCalls(options),
    unsettled: 0,
    stopped: false,
    idle: undefined,
  }
  return dispatcher
}

export function dispatch(dispatcher: Dispatcher, delivery: Delivery): void {
  const work = openDelivery(delivery, dispatcher.handlerTimeoutMs)
  dispatcher.unsettled++
  if (work.expiresAt <= dispatcher.now()) expire(dispatcher, work)
  else proceed(dispatcher, work)
  if (!work.settled) addDeadline(dispatcher.deadlines, work)
}

/** Begins no more events, and settles the deliveries that wait. */
export function stopDispatcher(dispatcher: Dispatcher): void {
  dispatcher.stopped = true
  refuseAll(dispatcher.slots)
  stopDeadlines(dispatcher.deadlines)
}

/** Resolves when no handler runs and every delivery is settled. */
export function whenIdle(dispatcher: Dispatcher): Promise<void> {
  dispatcher.idle ??= Promise.withResolvers()
  const { promise } = dispatcher.idle
  checkIdle(dispatcher)
  return promise
}

/** Handler calls that have not ended, also those that timed out; and deliveries that wait for one. */
export function loadOf({ calls, slots }: Dispatcher): { readonly running: number; readonly waiting: number } {
  return { running: countOf(calls.redelivery.running), waiting: slots.waiting }
}

/** Begins events until all are begun or one has to wait for a slot. */
function proceed(dispatcher: Dispatcher, work: OpenDelivery): void {
  const { members } = work.delivery
  while (!work.settled && work.next < members.length) {
    const index = work.next
    const member = members[index]
    if (member === undefined) break
    if ('invalid' in member) {
      work.next++
      const reason = { position: index, reason: member.invalid }
      dispatcher.log.warn('a delivery holds something that is not an event', reason)
      end(dispatcher, { work, index }, 'invalid')
      continue
    }
    const earlier = work.delivery.redelivered ? joinEarlier(dispatcher.calls, { work, index }, member) : undefined
    if (earlier !== undefined) {
      work.next++
      if (earlier !== 'joined') end(dispatcher, { work, index }, earlier)
    } else if (dispatcher.stopped) giveUp(dispatcher, work)
    else if (!takeSlot(dispatcher.slots, work)) break
    else {
      work.next++
      const hasBegun = beginCall(dispatcher.calls, { work, index }, member, (call, outcome) =>
        onReturn(dispatcher, call, outcome),
      )
      if (!hasBegun) {
        leave(dispatcher.slots)
        end(dispatcher, { work, index }, 'notTried')
      }
    }
  }
  releaseUnused(dispatcher.slots, work)
}

/** The handler has ended. */
function onReturn(dispatcher: Dispatcher, call: Call, outcome: CallOutcome): void {
  endCall(dispatcher.calls, call, outcome)
  for (const place of call.awaitedBy) if (!place.work.settled) end(dispatcher, place, outcome)
  leave(dispatcher.slots)
  checkIdle(dispatcher)
}

function end(dispatcher: Dispatcher, { work, index }: EventPlace, outcome: EventOutcome): void {
  work.outcomes[index] = outcome
  if (--work.open === 0) settle(dispatcher, work)
}

/** Events that were not begun keep the outcome `notTried`. */
function giveUp(dispatcher: Dispatcher, work: OpenDelivery): void {
  leaveQueue(dispatcher.slots, work)
  work.open -= work.outcomes.length - work.next
  work.next = work.outcomes.length
  if (work.open === 0 && !work.settled) settle(dispatcher, work)
}

/** `handlerTimeout` is over. */
function expire(dispatcher: Dispatcher, work: OpenDelivery): void {
  if (work.settled) return
  leaveQueue(dispatcher.slots, work)
  settle(dispatcher, work)
  work.timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
}

function settle(dispatcher: Dispatcher, work: OpenDelivery): void {
  const { calls, deadlines } = dispatcher
  work.settled = true
  removeDeadline(deadlines, work)
  let isKnown = false
  work.delivery.settle(work.outcomes, (isTaken) => {
    isKnown = true
    settleOutcomes(calls, work, isTaken)
  })
  if (!isKnown) keepOutcomes(calls, work)
  dispatcher.unsettled--
  checkIdle(dispatcher)
}

function checkIdle(dispatcher: Dispatcher): void {
  if (!dispatcher.idle || loadOf(dispatcher).running > 0 || dispatcher.unsettled > 0) return
  dispatcher.idle.resolve()
  dispatcher.idle = undefined
}
