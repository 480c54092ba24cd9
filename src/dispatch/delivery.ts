/** The state of a delivery from its arrival to its end: how its events ended, and which outcomes are remembered. */
import { AsyncResource } from 'node:async_hooks'
import { keepNewest } from '../support/work/work.ts'
import type { DeliveryMember } from './events.ts'
import type { Share } from './room.ts'

/**
 * How one event of a delivery ended: `invalid` is not an event, `notTried` never reached the handler, `timedOut` did, and its handler had
 * not ended when the time was over.
 */
export type EventOutcome = 'resolved' | 'rejected' | 'invalid' | 'threw' | 'timedOut' | 'notTried'

/** How an event ended that needs no second handling. An event whose handler threw is handled again, so its outcome is not remembered. */
type FinalOutcome = 'resolved' | 'rejected'

/** Events that arrived together and are settled together: the body of a request, or one pulled event. */
export interface Delivery {
  readonly members: DeliveryMember[]
  readonly metadata: Readonly<Record<string, string>>
  /** The delivery attributes that the event subscription declares. @default they are not known */
  readonly attributes?: readonly string[] | undefined
  /** Room for the bytes. The dispatcher releases the room when the answer to the delivery has ended and no handler call for it runs. */
  readonly share: Share
  /** Milliseconds, by `elapsed` of the clock: `handlerTimeout` counts from here. */
  readonly arrivedAt: number
  /** Milliseconds that the delivery has waited for room: the wait for a free call is as much shorter. @default 0 */
  readonly waitedMs?: number
  /** The sender has delivered these events before. */
  readonly redelivered: boolean
  /**
   * Called once, with an outcome for each member, in the asynchronous context in which the delivery was dispatched. The function
   * calls `onKnown` once, now or later, with false if the sender is going to deliver the events again.
   */
  settle(outcomes: readonly EventOutcome[], onKnown: (isTaken: boolean) => void): void
}

/** Memory that a waiting event takes beside its bytes. If this memory did not count, a queue of tiny events would not be bounded. */
const memberBytes = 300

/** A delivery that is not settled, or whose bytes are still held: which events are to be begun, and how each has ended so far. */
export class OpenDelivery {
  readonly delivery: Delivery
  /** The delivery has had a call for one of its events, or has waited for one. */
  hadTurn = false
  /** The outcomes if time were over now. */
  readonly outcomes: EventOutcome[]
  /** Indexes of the events that are to be begun; the next one is the last. */
  readonly #toBegin: number[]
  /** Events without a final outcome. */
  #unended: number
  /** Its outcomes are told, once and for all. */
  isSettled = false
  /** How many hold the bytes: the handler calls, and the answer until the sender has got the answer. */
  #holders = 1
  readonly #timeout = new AbortController()
  /** The signal of all events of the delivery. */
  readonly signal: AbortSignal = this.#timeout.signal
  /** Milliseconds, by `elapsed` of the clock: `handlerTimeout` is over then. */
  readonly expiresAt: number
  /** By digest; made when an event is delivered again, since a digest costs a tenth of all the work. */
  #final: ReadonlyMap<string, FinalOutcome> | undefined
  /** The asynchronous context in which the delivery was dispatched. */
  readonly #context = new AsyncResource('EventGridDelivery')

  constructor(delivery: Delivery, handlerTimeoutMs: number) {
    const { members } = delivery
    this.delivery = delivery
    this.expiresAt = delivery.arrivedAt + handlerTimeoutMs
    this.outcomes = members.map(() => 'notTried')
    this.#toBegin = members.map((_, index) => index).reverse()
    this.#unended = members.length
  }

  /** Each event has a final outcome. */
  get hasEnded(): boolean {
    return this.#unended === 0
  }

  /** Takes the next event that is to be begun. */
  next(): number | undefined {
    return this.#toBegin.pop()
  }

  /** The event is to be begun, later or anew. */
  putBack(index: number): void {
    this.outcomes[index] = 'notTried'
    this.#toBegin.push(index)
  }

  /** A handler call begins, and holds the bytes until `letGo`. */
  begin(index: number): void {
    this.outcomes[index] = 'timedOut'
    this.#holders++
  }

  /** The event waits for the call of an earlier delivery, whose bytes are the same: the bytes of this delivery need not be kept. */
  join(index: number, event: DeliveryMember): void {
    this.outcomes[index] = 'timedOut'
    this.delivery.members[index] = event
  }

  end(index: number, outcome: EventOutcome): void {
    this.outcomes[index] = outcome
    this.#unended--
  }

  /** The events that are not begun keep the outcome `notTried`. */
  dropRest(): void {
    this.#unended -= this.#toBegin.length
    this.#toBegin.length = 0
  }

  settle(): void {
    this.isSettled = true
    this.#toBegin.length = 0
  }

  /** The final outcomes of a settled delivery, by the digest of the event. */
  finalOutcomes(): ReadonlyMap<string, FinalOutcome> {
    this.#final ??= new Map(
      this.delivery.members.flatMap((event, index) => {
        const outcome = this.outcomes[index]
        const isFinal = !('invalid' in event) && (outcome === 'resolved' || outcome === 'rejected')
        return isFinal ? [[event.digest, outcome]] : []
      }),
    )
    return this.#final
  }

  /** `handlerTimeout` is over. */
  abort(): void {
    this.#timeout.abort(new DOMException('handlerTimeout is over', 'TimeoutError'))
  }

  /** Keeps the bytes of the events only, because the room is counted in bytes. False: there is no room for the delivery to wait. */
  shrink(): boolean {
    const { members, share } = this.delivery
    for (const member of members) if (!('invalid' in member)) member.forgetCloudEvent()
    return share.grow(members.length * memberBytes)
  }

  letGo(): void {
    if (--this.#holders === 0) this.delivery.share.release()
  }

  /** The host's `AsyncLocalStorage` must give each handler, and each answer, the store of its own request. */
  inContext(step: () => void): void {
    this.#context.runInAsyncScope(step)
  }
}

/** Most outcomes that are remembered; one more, and the oldest outcome is forgotten. */
const capacity = 10_000

/** Remembers the last outcomes, and the deliveries whose senders have not got the answer yet. */
export function createKnownOutcomes() {
  const remembered = new Map<string, FinalOutcome>()
  const unanswered = new Set<OpenDelivery>()

  return {
    /** Keeps the outcomes of a settled delivery until it is known whether the sender got the answer. */
    settled(open: OpenDelivery): void {
      unanswered.add(open)
    },
    answerEnded(open: OpenDelivery, isTaken: boolean): void {
      unanswered.delete(open)
      if (isTaken) return
      for (const [digest, outcome] of open.finalOutcomes()) keepNewest(remembered, digest, outcome, capacity)
    },
    /** The outcome of an event that was handled before, where the sender does not know the outcome; undefined for any other. */
    find(digest: string): FinalOutcome | undefined {
      for (const open of unanswered) {
        const outcome = open.finalOutcomes().get(digest)
        if (outcome) return outcome
      }
      return remembered.get(digest)
    },
  }
}
