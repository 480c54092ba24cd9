// Handler calls under way; a redelivery joins a running one for 4 times `handlerTimeout`.
import type { EventHandler } from '../core/event.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { createPlacedList, membersOf, type PlacedList, place, unplace } from '../support/work/placed-list.ts'
import { type CallOutcome, callHandler } from './handler-calls.ts'
import type { EventPlace, OpenDelivery } from './open-delivery.ts'
import { beginProcessing, type DeliverySource } from './processing.ts'
import type { DeliveryEvent } from './read-delivery.ts'
import {
  createRedelivery,
  type FinalOutcome,
  findEarlier,
  type Redelivery,
  type RunningEvent,
  remember,
} from './redelivery.ts'

export interface CallsOptions extends DeliverySource {
  /** Asked anew for each event. */
  readonly handler: () => EventHandler | undefined
  readonly handlerTimeoutMs: number
  readonly log: QuietLog
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** A handler call that has not ended. */
export interface Call extends RunningEvent {
  readonly event: DeliveryEvent
  /** The delivery that began it, then the redeliveries that joined it. */
  awaitedBy: readonly [EventPlace, ...EventPlace[]]
}

/** The handler calls that have not ended, and what is known of events that are delivered again. */
export interface Calls extends Pick<CallsOptions, 'handler' | 'log' | 'now'> {
  readonly source: DeliverySource
  /** How long a redelivery joins a running call. Then the event is handled anew, in case the handler hangs. */
  readonly joinForMs: number
  readonly redelivery: Redelivery<Call>
  /** Deliveries whose sender may not know their outcomes. Their events' digests are computed only if one is delivered again. */
  readonly unsure: PlacedList<OpenDelivery>
}

/** A redelivery joins a running call for this many times `handlerTimeout`. */
const joinTimeouts = 4

export function createCalls(options: CallsOptions): Calls {
  const { handler, log, now, handlerTimeoutMs, eventSubscriptionName, destination } = options
  return {
    ...{ handler, log, now, joinForMs: joinTimeouts * handlerTimeoutMs },
    source: { eventSubscriptionName, destination },
    redelivery: createRedelivery(),
    unsure: createPlacedList(),
  }
}

/** Calls the handler with an event. `onEnd` is to call {@link endCall}. False: there is no handler. */
export function beginCall(
  calls: Calls,
  eventPlace: EventPlace,
  event: DeliveryEvent,
  onEnd: (call: Call, outcome: CallOutcome) => void,
): boolean {
  const { redelivery, log, source } = calls
  const { work, index } = eventPlace
  const handler = calls.handler()
  if (!handler) return false
  const call: Call = { event, arrivedAt: work.delivery.arrivedAt, awaitedBy: [eventPlace], place: -1 }
  work.outcomes[index] = 'timedOut'
  place(redelivery.running, call)
  const { members, metadata } = work.delivery
  // A handler may change it, and another event of the batch must not see that.
  const own = members.length === 1 ? metadata : { ...metadata }
  const received = event.receive(own, work.timeout.signal)
  const processing = beginProcessing(received, source, work.caller)
  callHandler(handler, received, { log, processing }, (outcome) => onEnd(call, outcome))
  return true
}

/** A handler call has ended. */
export function endCall(calls: Calls, call: Call, outcome: CallOutcome): void {
  unplace(calls.redelivery.running, call)
  // A delivery that was settled before knows nothing of the outcome, so its events come again.
  const [began] = call.awaitedBy
  const isLate = began.work.settled || call.awaitedBy.length > 1
  if (isLate && outcome !== 'threw') remember(calls.redelivery, call.event.digest, outcome)
}

/** Joins the running call of a redelivered event, or gives the outcome it had before. `undefined`: the event is new. */
export function joinEarlier(
  calls: Calls,
  eventPlace: EventPlace,
  event: DeliveryEvent,
): FinalOutcome | 'joined' | undefined {
  const since = calls.now() - calls.joinForMs
  const earlier = findEarlier(calls.redelivery, event.digest, since) ?? unsureOutcome(calls, event)
  if (earlier === undefined) return undefined
  event.forgetCloudEvent()
  if (typeof earlier === 'string') return earlier
  const { work, index } = eventPlace
  work.outcomes[index] = 'timedOut'
  // The bytes are the same: those of this delivery need not be kept.
  work.delivery.members[index] = earlier.event
  // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
  const [began, ...joined] = earlier.awaitedBy
  earlier.awaitedBy = [began, ...joined.filter((other) => !other.work.settled), eventPlace]
  return 'joined'
}

/** Keeps the outcomes of a delivery: its events may come again, and those that have ended must not be handled a second time. */
export function keepOutcomes(calls: Calls, work: OpenDelivery): void {
  place(calls.unsure, work)
}

/** Forgets the outcomes of a delivery if the sender took them. */
export function settleOutcomes(calls: Calls, work: OpenDelivery, isTaken: boolean): void {
  unplace(calls.unsure, work)
  if (isTaken) return
  for (const [digest, outcome] of finalOutcomes(work)) remember(calls.redelivery, digest, outcome)
}

function unsureOutcome({ unsure }: Calls, { digest }: DeliveryEvent): FinalOutcome | undefined {
  for (const work of membersOf(unsure)) {
    const outcome = finalOutcomes(work).get(digest)
    if (outcome) return outcome
  }
  return undefined
}

/** Outcomes of the events of a settled delivery that need no second handling, by their digests. */
function finalOutcomes(work: OpenDelivery): ReadonlyMap<string, FinalOutcome> {
  work.finalOutcomes ??= new Map(
    work.delivery.members.flatMap((event, index) => {
      const outcome = work.outcomes[index]
      const isFinal = !('invalid' in event) && (outcome === 'resolved' || outcome === 'rejected')
      return isFinal ? [[event.digest, outcome]] : []
    }),
  )
  return work.finalOutcomes
}
