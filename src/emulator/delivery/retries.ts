import { DueQueue } from './due-queue.ts'
import type { PendingEvent } from './pending-event.ts'

/** Events that wait for their next attempt. A late answer of the subscriber may cancel it. */
export interface Retries {
  add(due: number, event: PendingEvent): void
  /** Removes and returns the next event that is due. */
  take(now: number): PendingEvent | undefined
  /** Cancels the next attempt of those events that still wait for it; returns these. */
  cancel(events: readonly PendingEvent[]): PendingEvent[]
  readonly nextDue: number | undefined
  readonly size: number
}

export function createRetries(): Retries {
  const waiting = new DueQueue<PendingEvent>()
  let cancelled = 0
  return {
    add(due, event) {
      event.waits = true
      waiting.add(due, event)
    },
    take(now) {
      for (let next = waiting.take(now); next; next = waiting.take(now)) {
        next.waits = false
        if (!next.answered) return next
        cancelled--
      }
      return undefined
    },
    cancel(events) {
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
