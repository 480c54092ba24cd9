// Accepted events into queues of matching subscriptions; redelivery, restoration after restart.
import type { AcceptedEvent, SourcedEvents } from '../model/events/accepted-event.ts'
import type { GiveUpReason } from '../model/events/delivery-outcome.ts'
import type { EventSubscription } from '../model/resources/model.ts'
import type { Store } from '../model/resources/store.ts'
import type { Clock } from '../model/time/clock.ts'
import type { PendingBound } from '../model/time/pending-bound.ts'
import type { EventWatcher } from '../records/event-watcher.ts'
import type { Journal, JournalEntry } from '../state/journal.ts'
import type { PendingEvent } from './pending-event.ts'
import type { SubscriptionQueues } from './queue/subscription-queues.ts'

export interface IntakeOptions {
  readonly clock: Clock
  readonly store: Store
  readonly journal: Journal
  readonly watcher?: EventWatcher
  /** Takes a persisted event of a Queue event subscription; false for any other. */
  readonly restoreElsewhere?: (entry: JournalEntry) => boolean
  readonly queues: SubscriptionQueues
  /** Whether the emulator delivers to the destination of a subscription. */
  readonly isDelivered: (subscription: EventSubscription) => boolean
  readonly bound: PendingBound
  readonly sizeOf: (event: AcceptedEvent, subscription: EventSubscription) => number
  readonly giveUp: (subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason) => void
}

/** Puts events into the queues of the subscriptions that want them. */
export function createIntake(options: IntakeOptions) {
  const { clock, store, journal, watcher, queues, bound, sizeOf } = options

  function restoreEntry(entry: JournalEntry): void {
    if (options.restoreElsewhere?.(entry)) return
    const { row, subscriptionId, event, acceptedAt, state } = entry
    const subscription = store.subscriptions.get(subscriptionId)
    if (!subscription || !options.isDelivered(subscription)) {
      journal.settled(subscriptionId, row)
      return
    }
    const { due, givenUp, ...attempts } = state
    const restored = { event, row, hold: bound.hold(sizeOf(event, subscription), 1), acceptedAt, ...attempts }
    if (givenUp) {
      options.giveUp(subscription, restored, givenUp)
      return
    }
    // In every provisioning state: events accepted before a change are still delivered.
    const { queue } = queues.find(subscriptionId) ?? queues.add(subscription)
    queue.add(restored, due)
    watcher?.queued(subscription, event)
  }

  return {
    /** Takes new events; returns those that a subscription wants. Throws if the journal cannot be written: then none is taken. */
    accept(accepted: readonly SourcedEvents[]): ReadonlySet<AcceptedEvent> {
      const routed = accepted.flatMap(({ sources, events }) => {
        const open = sources.flatMap((source) => queues.openOf(source))
        return events.map((event) => ({ event, takers: open.filter(({ queue }) => queue.matches(event)) }))
      })
      const acceptedAt = clock.now()
      const rows = journal.accepted(
        routed.map(({ event, takers }) => ({
          event,
          subscriptionIds: takers.map(({ subscription }) => subscription.id),
        })),
        acceptedAt,
      )
      for (const { sources, events } of accepted) watcher?.accepted(sources[0], events)
      for (const [index, { event, takers }] of routed.entries()) {
        const [first] = takers
        const hold = first && bound.hold(sizeOf(event, first.subscription), takers.length)
        for (const { queue, subscription } of takers) {
          queue.add({ event, row: rows[index], hold, acceptedAt, attempts: 0 })
          watcher?.queued(subscription, event)
        }
      }
      return new Set(routed.flatMap(({ event, takers }) => (takers.length > 0 ? [event] : [])))
    },
    /** Accepts an event again for one subscription; false if the subscription accepts no events. */
    redeliver(subscriptionId: string, event: AcceptedEvent): boolean {
      const taker = queues.find(subscriptionId)
      if (!taker) return false
      const { queue, subscription } = taker
      const acceptedAt = clock.now()
      const [row] = journal.accepted([{ event, subscriptionIds: [subscription.id] }], acceptedAt)
      queue.add({ event, row, hold: bound.hold(sizeOf(event, subscription), 1), acceptedAt, attempts: 0 })
      watcher?.queued(subscription, event)
      return true
    },
    /** Takes the events that the journal has from an earlier run. */
    restore(): void {
      let last: AcceptedEvent | undefined
      for (const entry of journal.entries()) {
        // The journal lists an event once for each of its subscriptions, one after the other.
        if (entry.event !== last) {
          watcher?.accepted(store.subscriptions.get(entry.subscriptionId)?.scope ?? '', [entry.event])
        }
        last = entry.event
        restoreEntry(entry)
      }
    },
  }
}
