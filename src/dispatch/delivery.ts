/** What a delivery is to the dispatcher, how each of its events may end, and which ends are remembered for a redelivery. */
import { keepNewest } from '../support/work/keep-newest.ts'
import type { DeliveryMember } from './read-delivery.ts'
import type { Place } from './room.ts'

/**
 * How one event of a delivery ended: `invalid` is not an event, `notTried` never reached the handler, `timedOut` did, and its handler had
 * not ended when the time was over.
 */
export type EventOutcome = 'resolved' | 'rejected' | 'invalid' | 'threw' | 'timedOut' | 'notTried'

/** Events that arrived together and are settled together: the body of a request, or one pulled event. */
export interface Delivery {
  readonly members: DeliveryMember[]
  readonly metadata: Readonly<Record<string, string>>
  /** Room for the bytes. The dispatcher releases it when the delivery is settled, its sender heard, and no handler call of it runs. */
  readonly place: Place
  /** Milliseconds, by `now` of the dispatcher: `handlerTimeout` counts from here. */
  readonly arrivedAt: number
  /** The sender has delivered these events before. */
  readonly redelivered: boolean
  /**
   * Called once, with an outcome for each member, in the asynchronous context in which the delivery was dispatched. It calls `onKnown`
   * once, now or later, with false if the sender is going to deliver the events again.
   */
  settle(outcomes: readonly EventOutcome[], onKnown: (isTaken: boolean) => void): void
}

/** How an event ended that needs no second handling. An event whose handler threw is handled again, so it is not remembered. */
type FinalOutcome = 'resolved' | 'rejected'

/** A settled delivery whose sender may not know its outcomes. */
interface Unsure {
  readonly members: readonly DeliveryMember[]
  readonly outcomes: readonly EventOutcome[]
  /** By digest; made when an event is delivered again, since a digest costs a tenth of all the work. */
  final: ReadonlyMap<string, FinalOutcome> | undefined
}

/** Outcomes that are remembered; beyond it the oldest is forgotten. */
const capacity = 10_000

/** Remembers the last outcomes, and those whose sender is still to be heard. */
export function createKnownOutcomes() {
  const remembered = new Map<string, FinalOutcome>()
  const unsure = new Set<Unsure>()

  return {
    /** Keeps the outcomes of a delivery until the function that it returns is told whether the sender took them. */
    keep({ members }: Delivery, outcomes: readonly EventOutcome[]): (isTaken: boolean) => void {
      const one: Unsure = { members, outcomes, final: undefined }
      unsure.add(one)
      return (isTaken) => {
        unsure.delete(one)
        if (!isTaken)
          for (const [digest, outcome] of finalOutcomes(one)) keepNewest(remembered, digest, outcome, capacity)
      }
    },
    /** The outcome of an event that was handled before and that its sender does not know; undefined for any other. */
    find(digest: string): FinalOutcome | undefined {
      for (const one of unsure) {
        const outcome = finalOutcomes(one).get(digest)
        if (outcome) return outcome
      }
      return remembered.get(digest)
    },
  }
}

function finalOutcomes(one: Unsure): ReadonlyMap<string, FinalOutcome> {
  one.final ??= new Map(
    one.members.flatMap((event, index) => {
      const outcome = one.outcomes[index]
      const isFinal = !('invalid' in event) && (outcome === 'resolved' || outcome === 'rejected')
      return isFinal ? [[event.digest, outcome]] : []
    }),
  )
  return one.final
}
