// Life of undelivered events: accepted, sent, given up, dead-lettered after the delay, dropped.
import type { AcceptedEvent, SourcedEvents } from '../model/events/accepted-event.ts'
import { deliveredText } from '../model/events/convert-schema.ts'
import type { GiveUpReason } from '../model/events/delivery-outcome.ts'
import type { EventSubscription } from '../model/resources/model.ts'
import { createSettledWaiters } from '../model/time/settled-waiters.ts'
import { createDeadLetterBox } from '../records/dead-letter-box.ts'
import type { Records } from '../records/record-types.ts'
import { createIntake, type IntakeOptions } from './intake.ts'
import type { PendingEvent } from './pending-event.ts'
import { createPump } from './pump.ts'
import { deadLetterDestinationOf, deadLetteredForm } from './queue/dead-letter.ts'
import { createSubscriptionQueue, type SubscriptionQueueOptions } from './queue/subscription-queue.ts'
import { createSubscriptionQueues } from './queue/subscription-queues.ts'
import type { Deliver } from './send/deliver.ts'
import { deliverySchemaOf } from './send/delivery-request.ts'

export interface PendingEventsOptions
  extends Omit<IntakeOptions, 'queues' | 'sizeOf' | 'giveUp'>,
    Pick<SubscriptionQueueOptions, 'random' | 'settings' | 'work'> {
  readonly records: Pick<Records, 'deadLetters'>
  readonly deliver: Deliver
}

/** The events from their acceptance until they are delivered, dead-lettered or dropped. */
export function createPendingEvents(options: PendingEventsOptions) {
  const { clock, watcher, journal, settings, bound, work, isDelivered, deliver } = options
  let closed = false
  const count = () => deadLetters.size + queues.size
  const waiters = createSettledWaiters(() => closed || count() === 0)
  const pump = createPump(clock, work, () => {
    for (const { queue } of queues.all()) queue.pump()
  })
  const release = ({ hold }: Pick<PendingEvent, 'hold'>) => {
    bound.release(hold)
    waiters.check()
  }
  const shared = { ...options, wakeAt: pump.wakeAt, release }
  const deadLetters = createDeadLetterBox({
    clock,
    records: options.records.deadLetters,
    store: settings.deadLetterStore,
    work,
    written: waiters.check,
  })
  const queues = createSubscriptionQueues((subscription) =>
    createSubscriptionQueue(subscription, { ...shared, sizeOf, giveUp, send: deliver }),
  )
  const intake = createIntake({ ...options, queues, sizeOf, giveUp })

  function sizeOf(event: AcceptedEvent, subscription: EventSubscription): number {
    return Buffer.byteLength(deliveredText(event, deliverySchemaOf(subscription)))
  }

  function giveUp(subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason): void {
    watcher?.givenUp(subscription, event.event, reason)
    const letter = {
      subscription,
      destination: deadLetterDestinationOf(subscription),
      event: deadLetteredForm(event, reason, deliverySchemaOf(subscription)),
      done(blobPath: string | undefined) {
        journal.settled(subscription.id, event.row)
        release(event)
        watcher?.deadLettered(subscription, [event.event], blobPath)
      },
    }
    deadLetters.add(letter, (event.lastAttemptAt ?? clock.now()) + settings.deadLetterDelay)
  }

  function removeQueue(subscription: EventSubscription): void {
    const removed = queues.find(subscription.id)
    if (!removed) return
    if (!closed) journal.forget(subscription.id)
    removed.queue.drop()
    watcher?.forgotten(subscription)
    queues.remove(subscription)
    waiters.check()
  }

  return {
    /**
     * Accepts events for each subscription of their sources whose filter matches. The events are already checked and
     * stamped. Returns those that a subscription wants. Throws if the state file cannot be written: then none is accepted.
     */
    accept(accepted: readonly SourcedEvents[]): ReadonlySet<AcceptedEvent> {
      if (closed) return new Set()
      const wanted = intake.accept(accepted)
      pump.soon()
      return wanted
    },
    /** Delivers an event to one subscription again, without its filter; false if the subscription accepts no events. */
    redeliver(subscriptionId: string, event: AcceptedEvent): boolean {
      const taken = !closed && intake.redeliver(subscriptionId, event)
      if (taken) pump.soon()
      return taken
    },
    /**
     * Tries the waiting events of a subscription at once, or that one alone, though its endpoint is held back. False if nothing
     * waits.
     */
    tryNow(subscriptionId: string, event?: AcceptedEvent): boolean {
      const found = closed ? undefined : queues.find(subscriptionId)
      if (!found) return false
      const { queue, subscription } = found
      const wasHeld = queue.heldUntil !== undefined
      const hastened = queue.hasten(event)
      for (const one of hastened) watcher?.queued(subscription, one)
      pump.soon()
      return wasHeld || hastened.length > 0
    },
    /** The queue of a subscription; undefined if none is delivered to. */
    queue: (subscriptionId: string) => queues.find(subscriptionId)?.queue,
    /** Loads the events that were pending when the emulator ended. To be called once, after the stored subscriptions. */
    restore(): void {
      intake.restore()
      pump.soon()
    },
    /** To be called each time a subscription is stored: settings or provisioning state differ. */
    subscriptionChanged(subscription: EventSubscription): void {
      if (closed || !isDelivered(subscription)) removeQueue(subscription)
      else if (queues.update(subscription)) pump.soon()
    },
    /** To be called after a subscription left the store: its pending events are dropped. */
    subscriptionDeleted: removeQueue,
    /** Number of events accepted and neither delivered, dead-lettered nor dropped yet. */
    pending: count,
    /** The event subscriptions with events that are neither delivered nor given up, with their queues. */
    pendingQueues: () => [...queues.all()].filter(({ queue }) => queue.size > 0),
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
      for (const { subscription } of [...queues.all()]) removeQueue(subscription)
      waiters.check()
    },
  }
}
