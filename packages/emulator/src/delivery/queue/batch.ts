// Which events share a request: `maxEventsPerBatch`, preferred bytes, same attempts, expired ones out.
import type { AcceptedEvent } from '../../model/events/accepted-event.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { PendingEvent } from '../pending-event.ts'
import { batchingOf, webhookOf } from '../send/delivery-request.ts'
import type { Fifo } from './fifo.ts'

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
  const webhook = webhookOf(subscription)
  const batching = webhook && batchingOf(webhook)
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
