import type { EventHandler } from '../core/event.ts'
import { beginProcessing, type DeliverySource } from '../core/processing.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { createPlacedList } from '../support/placed-list.ts'
import { type CallOutcome, callHandler } from './handler-calls.ts'
import type { EventOutcome, EventPlace, OpenDelivery } from './open-delivery.ts'
import type { DeliveryEvent } from './read-delivery.ts'
import { createRedelivery, type FinalOutcome, type RunningEvent } from './redelivery.ts'

/** The handler calls that have not ended, and what is known of events that are delivered again. */
export interface Calls {
  /** Calls the handler with an event. False: there is no handler. */
  begin(place: EventPlace, event: DeliveryEvent): boolean
  /** Joins the running call of a redelivered event, or ends it as before. False: the event is new. */
  join(place: EventPlace, event: DeliveryEvent): boolean
  /** Keeps the outcomes of a delivery: its events may come again, and those that have ended must not be handled a second time. */
  settling(work: OpenDelivery): void
  /** Forgets the outcomes if the sender took them. */
  settled(work: OpenDelivery, isTaken: boolean): void
  readonly running: number
}

export interface CallsOptions extends DeliverySource {
  /** Asked anew for each event. */
  readonly handler: () => EventHandler | undefined
  readonly handlerTimeoutMs: number
  readonly log: QuietLog
  readonly now: () => number
  /** An event has ended, for a delivery that is not settled. */
  readonly onOutcome: (place: EventPlace, outcome: EventOutcome) => void
  /** A call has ended, and everything about it is done. */
  readonly onReturn: () => void
}

/** A handler call that has not ended. */
interface Call extends RunningEvent {
  readonly event: DeliveryEvent
  /** The delivery that began it, then the redeliveries that joined it. */
  awaitedBy: readonly EventPlace[]
}

/** A redelivery joins a running call for this many times `handlerTimeout`. Then the event is handled anew, in case the handler hangs. */
const joinTimeouts = 4

export function createCalls(options: CallsOptions): Calls {
  const { handler, handlerTimeoutMs, log, now, onOutcome, onReturn } = options
  const redelivery = createRedelivery<Call>({ now, joinForMs: joinTimeouts * handlerTimeoutMs })
  /** Deliveries whose sender may not know their outcomes. Their events' digests are computed only if one is delivered again. */
  const unsure = createPlacedList<OpenDelivery>()
  let running = 0

  function finish(call: Call, outcome: CallOutcome): void {
    running--
    redelivery.end(call)
    // A delivery that was settled before knows nothing of the outcome, so its events come again.
    const [began] = call.awaitedBy
    const isLate = began?.work.settled || call.awaitedBy.length > 1
    for (const place of call.awaitedBy) if (!place.work.settled) onOutcome(place, outcome)
    if (isLate && outcome !== 'threw') redelivery.remember(call.event.digest, outcome)
    onReturn()
  }

  function unsureOutcome(event: DeliveryEvent): FinalOutcome | undefined {
    for (const work of unsure.members) {
      const same = finalOutcomes(work).find((other) => other.event.digest === event.digest)
      if (same) return same.outcome
    }
    return undefined
  }

  return {
    begin(place, event) {
      const { work, index } = place
      const current = handler()
      if (!current) return false
      const call: Call = { event, arrivedAt: work.delivery.arrivedAt, awaitedBy: [place], place: -1 }
      work.outcomes[index] = 'timedOut'
      redelivery.begin(call)
      running++
      const received = event.receive(work.delivery.metadata, work.timeout.signal)
      const processing = beginProcessing(received, options, work.caller)
      callHandler(current, received, { log, processing }, (outcome) => finish(call, outcome))
      return true
    },
    join(place, event) {
      const earlier = redelivery.find(event.digest) ?? unsureOutcome(event)
      if (earlier === undefined) return false
      event.forgetCloudEvent()
      if (typeof earlier === 'string') onOutcome(place, earlier)
      else joinCall(earlier, place)
      return true
    },
    settling: unsure.add,
    settled(work, isTaken) {
      unsure.remove(work)
      if (isTaken) return
      for (const { event, outcome } of finalOutcomes(work)) redelivery.remember(event.digest, outcome)
    },
    get running() {
      return running
    },
  }
}

/** The events of a delivery that need no second handling. */
function finalOutcomes({ delivery, outcomes }: OpenDelivery) {
  return delivery.members.flatMap((event, index) => {
    const outcome = outcomes[index]
    return !('invalid' in event) && (outcome === 'resolved' || outcome === 'rejected') ? [{ event, outcome }] : []
  })
}

function joinCall(call: Call, place: EventPlace): void {
  const { work, index } = place
  work.outcomes[index] = 'timedOut'
  // The bytes are the same: those of this delivery need not be kept.
  work.delivery.members[index] = call.event
  // Redeliveries that were settled are dropped. Otherwise a handler that never ends would keep each of them in memory.
  const [began, ...joined] = call.awaitedBy
  const open = joined.filter((other) => !other.work.settled)
  call.awaitedBy = began ? [began, ...open, place] : [...open, place]
}
