// Events waiting for their next attempt; cancellation by a late answer, attempts before their time.
import type { AcceptedEvent } from '../../model/events/accepted-event.ts'
import { DueQueue } from '../../model/time/due-queue.ts'
import type { PendingEvent } from '../pending-event.ts'

export type Retries = ReturnType<typeof createRetries>

/** Events that wait for their next attempt. A late answer of the subscriber may cancel it. */
export function createRetries() {
  const waiting = new DueQueue<PendingEvent>()
  let cancelled = 0

  function cancel(events: readonly PendingEvent[]): PendingEvent[] {
    const found = events.filter(({ waits }) => waits)
    for (const event of found) {
      event.waits = false
      event.answered = true
      cancelled++
    }
    return found
  }

  return {
    add(due: number, event: PendingEvent): void {
      event.waits = true
      waiting.add(due, event)
    },
    /** Removes and returns the next event that is due. */
    take(now: number): PendingEvent | undefined {
      for (let next = waiting.take(now); next; next = waiting.take(now)) {
        next.waits = false
        if (!next.answered) return next
        cancelled--
      }
      return undefined
    },
    /** Cancels the next attempt of those events that still wait for it; returns these. */
    cancel,
    /** Removes and returns what is not due yet: every event, or the wanted one alone. */
    takeEarly(wanted?: AcceptedEvent): PendingEvent[] {
      const early = waiting.entries
        .toSorted((one, other) => one.due - other.due)
        .flatMap(({ item }) => (wanted === undefined || item.event === wanted ? [item] : []))
      // Copies: the entries themselves stay in the heap as cancelled ones.
      return cancel(early).map((event) => ({ ...event, answered: false }))
    },
    get nextDue() {
      return waiting.nextDue
    },
    get size() {
      return waiting.size - cancelled
    },
  }
}
