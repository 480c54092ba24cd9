// Events waiting for their next attempt; cancellation by a late answer.
import { DueQueue } from '../../model/time/due-queue.ts'
import type { PendingEvent } from '../pending-event.ts'

export type Retries = ReturnType<typeof createRetries>

/** Events that wait for their next attempt. A late answer of the subscriber may cancel it. */
export function createRetries() {
  const waiting = new DueQueue<PendingEvent>()
  let cancelled = 0
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
    cancel(events: readonly PendingEvent[]): PendingEvent[] {
      const found = events.filter(({ waits }) => waits)
      for (const event of found) {
        event.waits = false
        event.answered = true
        cancelled++
      }
      return found
    },
    get nextDue() {
      return waiting.nextDue
    },
    get size() {
      return waiting.size - cancelled
    },
  }
}
