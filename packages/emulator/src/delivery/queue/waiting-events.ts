/** In which order the events of an event subscription wait, and which of them share a request. */

import type { AcceptedEvent } from '../../model/events/accepted-event.ts'
import { batchingOf } from '../../model/resources/destination.ts'
import { destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import { DueQueue } from '../../model/time/due-queue.ts'
import type { PendingEvent } from '../send/channel.ts'

/** First in, first out, in constant time per step. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    this.#items[this.#head] = undefined
    if (this.size > 0) this.#head++
    // Moving the rest only once half the array is empty keeps the average cost of a step constant.
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}

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

export interface BatchOptions {
  readonly subscription: EventSubscription
  /** By the emulator's clock, in milliseconds since 1970. */
  readonly now: number
  readonly timeToLiveMs: number
  readonly sizeOf: (event: AcceptedEvent, subscription: EventSubscription) => number
  /** Called with each event that is too old to be sent. */
  readonly expired: (event: PendingEvent) => void
}

/**
 * Takes the events of the next request out of a queue: one, or with batching several that had the same number of
 * attempts.
 */
export function takeBatch(queue: Fifo<PendingEvent>, options: BatchOptions): PendingEvent[] {
  const { subscription, now } = options
  const batching = batchingOf(destinationOf(subscription.properties))
  const batch: PendingEvent[] = []
  let bytes = 0
  for (let next = queue.peek(); next; next = queue.peek()) {
    if (now - next.acceptedAt >= options.timeToLiveMs) {
      queue.shift()
      options.expired(next)
      continue
    }
    if (batching) {
      bytes += options.sizeOf(next.event, subscription)
      const fits = batch.length < batching.maxEvents && bytes <= batching.preferredBytes
      // The first event is sent whatever its size.
      if (batch[0] && !(fits && next.attempts === batch[0].attempts)) break
    }
    queue.shift()
    batch.push(next)
    if (!batching) break
  }
  return batch
}
