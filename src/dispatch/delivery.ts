/** What a delivery is from its arrival to its end: the room that its bytes take, how its events ended, and what is remembered of that. */
import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../support/time/clock.ts'
import { keepNewest } from '../support/work/work.ts'
import type { DeliveryMember } from './events.ts'

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

/** What a delivery takes of the room, from the end of its head until nothing holds its bytes any more. */
export interface Place {
  /** Takes more for the same delivery. False: there is no room for that. */
  grow(bytes: number): boolean
  /** The bytes are here, and are so many. */
  resize(bytes: number): void
  /** Gives all of it back. May be called again. */
  release(): void
}

export type Room = ReturnType<typeof createRoom>

/**
 * Bytes of all events of the process. A byte takes up to five of memory while its event is handled: the body, the copy that the handler
 * gets, the parsed event and what the application's request takes. With it 256 events of 1 MB at once stay within 256 MiB (security.md).
 */
const maxBytes = 24 * 1_048_576
/** Deliveries that wait for room at a time. They take connections only: no byte of theirs has been read. */
const maxWaiting = 1_000
/** How long a delivery waits, in milliseconds, for room as for a free call of the handler. Event Grid gives up after 30 s. */
export const maxWaitMs = 3_000

/** @param most bytes. A delivery that is larger fits where nothing else is. */
export function createRoom(most: number) {
  let used = 0
  /** Those that wait for room, the first ones first. */
  const queue = new Set<{ readonly bytes: number; readonly enter: (place: Place) => void }>()
  const whenFree = new Set<() => void>()
  const fits = (bytes: number) => used === 0 || used + bytes <= most

  function take(bytes: number): Place {
    let own = bytes
    used += own
    const set = (size: number) => {
      const isLess = size < own
      used += size - own
      own = size
      if (isLess) letIn()
    }
    return {
      grow(more) {
        if (used + more > most) return false
        set(own + more)
        return true
      },
      resize: set,
      release: () => set(0),
    }
  }

  function letIn(): void {
    for (const waiting of queue) {
      if (!fits(waiting.bytes)) return
      queue.delete(waiting)
      waiting.enter(take(waiting.bytes))
    }
    if (used >= most) return
    const ready = [...whenFree]
    whenFree.clear()
    for (const callback of ready) callback()
  }

  return {
    /** Takes a place, whether or not there is room: the bytes are here. */
    take,
    /** Deliveries that wait. */
    waiting: () => queue.size,
    /** Bytes that are taken. */
    used: () => used,
    isFull: () => used >= most,
    /** Calls back once, when it is not full. */
    whenFree: (callback: () => void) => void whenFree.add(callback),
    /**
     * Calls back once, in the asynchronous context of this call: with a place as soon as there is room and nobody waits, or with `undefined`
     * after `maxWaitMs`, and at once where too many wait. Gives what ends the wait without a call.
     */
    enter(bytes: number, clock: Pick<Clock, 'setTimer'>, onEnd: (place: Place | undefined) => void): () => void {
      if (queue.size === 0 && fits(bytes)) {
        onEnd(take(bytes))
        return () => {}
      }
      if (queue.size >= maxWaiting) {
        onEnd(undefined)
        return () => {}
      }
      const end = AsyncResource.bind(onEnd)
      const waiting = {
        bytes,
        enter(place: Place) {
          cancel()
          end(place)
        },
      }
      const cancel = clock.setTimer(maxWaitMs, () => {
        queue.delete(waiting)
        end(undefined)
      })
      queue.add(waiting)
      return () => {
        cancel()
        if (queue.delete(waiting)) letIn()
      }
    },
  }
}

/** That of the process: all its listeners and receivers share it. */
export const processRoom: Room = createRoom(maxBytes)
