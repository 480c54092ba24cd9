// Life of undelivered events: accepted, restored after a restart, sent, given up, dead-lettered after the delay, dropped.
import { realTimers } from '../../../../src/support/time/clock.ts'
import { createDeadLetterWriter, deadLetterRetries, warningsTo } from '../dead-letters/write-dead-letters.ts'
import {
  type AcceptedEvent,
  deliveredText,
  type GiveUpReason,
  heldByEvent,
  type SourcedEvents,
} from '../model/events/accepted-event.ts'
import { deliveredBy, type EventSubscription, takingEvents } from '../model/resources/event-subscription.ts'
import type { CancelTimer, Clock } from '../model/time/clock.ts'
import { createSettledWaiters, type WorkCounter } from '../model/time/work-counter.ts'
import { endOf } from '../records/event-fate.ts'
import type { JournalEntry } from '../state/journal.ts'
import type { DeliveryOptions } from './delivery-options.ts'
import { deadLetterDestinationOf, deadLetteredForm } from './queue/attempt-results.ts'
import {
  createSubscriptionQueue,
  type SubscriptionQueue,
  type SubscriptionQueueOptions,
} from './queue/subscription-queue.ts'
import type { PendingEvent } from './send/channel.ts'
import { deliverySchemaOf } from './send/delivery-request.ts'

export interface PendingEventsOptions extends DeliveryOptions, Pick<SubscriptionQueueOptions, 'deliver'> {
  /** Whether the emulator delivers to the destination of a subscription. */
  readonly isDelivered: (subscription: EventSubscription) => boolean
  /** Why it does not. */
  readonly undelivered: (subscription: EventSubscription) => string | undefined
}

/** The events from their acceptance until they are delivered, dead-lettered or dropped. */
export function createPendingEvents(options: PendingEventsOptions) {
  const { clock, store, trail, journal, settings, bound, work, isDelivered } = options
  /** By the ids of the subscriptions in lower case. */
  const queues = new Map<string, SubscriptionQueue>()
  let closed = false
  const count = () => [...queues.values()].reduce((sum, { size }) => sum + size, deadLetters.size)
  const waiters = createSettledWaiters(() => closed || count() === 0)
  const pump = createPump(clock, work, () => {
    for (const queue of queues.values()) queue.pump()
  })
  const deadLetters = createDeadLetterWriter({
    clock,
    records: options.records.deadLetters,
    store: settings.deadLetterStore,
    retries: deadLetterRetries,
    warn: warningsTo(options.records.warnings, clock),
    work,
    written: waiters.check,
  })

  function release({ hold }: Pick<PendingEvent, 'hold'>): void {
    bound.release(hold)
    waiters.check()
  }

  function sizeOf(event: AcceptedEvent, subscription: EventSubscription): number {
    return Buffer.byteLength(deliveredText(event, deliverySchemaOf(subscription)))
  }

  function giveUp(subscription: EventSubscription, pending: PendingEvent, reason: GiveUpReason): void {
    const { event, row, lastAttemptAt = clock.now() } = pending
    trail?.changed(subscription, event, { state: 'given up', reason })
    const forgotten = () => {
      journal.settled(subscription.id, row)
      release(pending)
    }
    const letter = {
      subscription,
      folder: subscription.name.toUpperCase(),
      destination: deadLetterDestinationOf(subscription),
      event: deadLetteredForm(pending, reason, deliverySchemaOf(subscription)),
      reason,
      done(blobPath: string | undefined) {
        forgotten()
        trail?.changed(subscription, event, endOf(blobPath))
      },
      forgotten,
    }
    deadLetters.add(letter, lastAttemptAt + settings.deadLetterDelay)
  }

  /** The queue of a subscription; undefined if none is delivered to. */
  const queueOf = (subscriptionId: string) => queues.get(subscriptionId.toLowerCase())

  function addQueue(subscription: EventSubscription): SubscriptionQueue {
    const queue = createSubscriptionQueue(subscription, { ...options, wakeAt: pump.wakeAt, release, sizeOf, giveUp })
    queues.set(subscription.id.toLowerCase(), queue)
    return queue
  }

  function removeQueue({ id }: Pick<EventSubscription, 'id'>, reason?: string): void {
    const queue = queueOf(id)
    if (!queue) return
    if (!closed) journal.forget(id)
    queue.drop()
    trail?.forgotten({ id }, reason)
    queues.delete(id.toLowerCase())
    waiters.check()
  }

  function addEvent(
    queue: SubscriptionQueue,
    subscription: EventSubscription,
    event: PendingEvent,
    due?: number,
  ): void {
    queue.add(event, due)
    trail?.changed(subscription, event.event, { state: 'queued' })
  }

  /** The subscriptions that take new events of a source, with their queues. */
  const openOf = (source: string) =>
    store.subscriptions.of(source).flatMap((stored) => {
      const subscription = takingEvents(stored)
      const queue = subscription && queueOf(subscription.id)
      return queue ? [{ queue, subscription }] : []
    })

  function restoreEntry({ row, subscriptionId, event, acceptedAt, state }: JournalEntry): void {
    const stored = store.subscriptions.get(subscriptionId)
    const subscription = stored && (deliveredBy(stored) ?? stored)
    if (!subscription || !isDelivered(subscription)) return void journal.settled(subscriptionId, row)
    const { due, givenUp, ...attempts } = state
    const restored = { event, row, hold: bound.hold(heldByEvent(event), 1), acceptedAt, ...attempts }
    if (givenUp) return void giveUp(subscription, restored, givenUp)
    // In every provisioning state: events accepted before a change are still delivered.
    addEvent(queueOf(subscriptionId) ?? addQueue(subscription), subscription, restored, due)
  }

  return {
    /**
     * Puts events into the queue of each event subscription of their sources whose filter matches. The events are already checked and
     * stamped. Returns those that an event subscription wants. Throws if the state file cannot be written: then no event is queued.
     */
    enqueue(accepted: readonly SourcedEvents[]): ReadonlySet<AcceptedEvent> {
      if (closed) return new Set()
      const routed = accepted.flatMap(({ sources, events }) => {
        const open = sources.flatMap(openOf)
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
      for (const { sources, events } of accepted) trail?.accepted(sources[0], events)
      for (const [index, { event, takers }] of routed.entries()) {
        const [first] = takers
        const hold = first && bound.hold(heldByEvent(event), takers.length)
        for (const { queue, subscription } of takers) {
          addEvent(queue, subscription, { event, row: rows[index], hold, acceptedAt, attempts: 0 })
        }
      }
      pump.soon()
      return new Set(routed.flatMap(({ event, takers }) => (takers.length > 0 ? [event] : [])))
    },
    /** Delivers an event to one subscription again, without its filter; false if the subscription accepts no events. */
    redeliver(subscriptionId: string, event: AcceptedEvent): boolean {
      const queue = closed ? undefined : queueOf(subscriptionId)
      const subscription = store.subscriptions.get(subscriptionId)
      if (!queue || !subscription) return false
      const acceptedAt = clock.now()
      const [row] = journal.accepted([{ event, subscriptionIds: [subscription.id] }], acceptedAt)
      const hold = bound.hold(heldByEvent(event), 1)
      addEvent(queue, subscription, { event, row, hold, acceptedAt, attempts: 0 })
      pump.soon()
      return true
    },
    /**
     * Tries the waiting events of a subscription at once, or that one alone, though its endpoint is held back. False if nothing
     * waits.
     */
    tryNow(subscriptionId: string, event?: AcceptedEvent): boolean {
      const queue = closed ? undefined : queueOf(subscriptionId)
      const subscription = store.subscriptions.get(subscriptionId)
      if (!queue || !subscription) return false
      const wasHeld = queue.heldUntil !== undefined
      const hastened = queue.hasten(event)
      for (const one of hastened) trail?.changed(subscription, one, { state: 'queued' })
      pump.soon()
      return wasHeld || hastened.length > 0
    },
    queue: queueOf,
    /** Loads the events that were pending when the emulator ended. To be called once, after the stored subscriptions. */
    restore(): void {
      let last: AcceptedEvent | undefined
      for (const entry of journal.entries()) {
        // The journal lists an event once for each of its subscriptions, one after the other.
        if (entry.event !== last) {
          trail?.accepted(store.subscriptions.get(entry.subscriptionId)?.scope ?? '', [entry.event])
        }
        last = entry.event
        if (!options.restoreElsewhere?.(entry)) restoreEntry(entry)
      }
      pump.soon()
    },
    /** To be called each time a subscription is stored: settings or provisioning state differ. */
    subscriptionChanged(subscription: EventSubscription): void {
      const settings = deliveredBy(subscription)
      // Before the first success there are none to deliver by; during an update, and after one that failed, the previous ones stay.
      if (closed || !settings) return
      if (!isDelivered(settings)) return void removeQueue(settings, options.undelivered(settings))
      const queue = queueOf(settings.id) ?? addQueue(settings)
      queue.use(settings)
      pump.soon()
    },
    /** To be called after a subscription left the store: its pending events are dropped. */
    subscriptionDeleted: (subscription: EventSubscription) => removeQueue(subscription),
    /** Forgets all events as if they had never been: nothing more is sent or recorded of them. */
    forget(): void {
      const all = [...queues.values()]
      queues.clear()
      for (const queue of all) {
        journal.forget(queue.id)
        queue.drop({ forget: true })
      }
      deadLetters.forget()
      for (const subscription of store.subscriptions.all()) {
        const settings = deliveredBy(subscription)
        if (settings && isDelivered(settings)) addQueue(settings)
      }
      waiters.check()
    },
    /** Number of events accepted and neither delivered, dead-lettered nor dropped yet. */
    pending: count,
    /** The queues with events that are neither delivered nor given up. */
    pendingQueues: () => [...queues.values()].filter(({ size }) => size > 0),
    pendingDeadLetters: deadLetters.pending,
    /** Sends what is due in the next turn of the event loop. */
    sendSoon: pump.soon,
    /** Resolves when no event is pending; later attempts and dead-letters count too. Rejects with the signal's reason. */
    settled: waiters.wait,
    /** Drops all events; those in the journal stay there. */
    close(): void {
      closed = true
      pump.close()
      deadLetters.close()
      for (const { id } of [...queues.values()]) removeQueue({ id })
      waiters.check()
    },
  }
}

/** Calls `run`, which sends everything that is due, when something is due. */
export function createPump(clock: Clock, work: WorkCounter, run: () => void) {
  let timer: { readonly due: number; readonly cancel: CancelTimer } | undefined
  let scheduled = false
  let closed = false
  return {
    /** Runs at this time at the latest, in milliseconds since 1970. */
    wakeAt(due: number): void {
      if (closed || (timer && timer.due <= due)) return
      timer?.cancel()
      const cancel = clock.setTimer(Math.max(due - clock.now(), 0), () => {
        timer = undefined
        run()
      })
      timer = { due, cancel }
    },
    /** Runs in the next turn of the event loop: the publisher is answered first, and events of one tick share a batch. */
    soon(): void {
      if (scheduled || closed) return
      scheduled = true
      work.begin()
      realTimers.setImmediate(() => {
        scheduled = false
        if (!closed) run()
        work.end()
      })
    },
    close(): void {
      closed = true
      timer?.cancel()
    },
  }
}
