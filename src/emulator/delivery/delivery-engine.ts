import type { AcceptedEvent, SourcedEvents } from '../model/accepted-event.ts'
import type { GiveUpReason } from '../model/delivery-outcome.ts'
import type { EventSubscription } from '../model/model.ts'
import { createSettledWaiters } from '../model/settled-waiters.ts'
import type { Store } from '../model/store.ts'
import type { Records } from '../records/record-types.ts'
import { type Journal, type JournalEntry, noJournal } from '../state/journal.ts'
import { firstChannel } from './channel.ts'
import { createDeadLetterBox } from './dead-letter-box.ts'
import { createDeliver, type DeliverOptions } from './deliver.ts'
import { type DeliveryOptions, deliverySettings } from './delivery-options.ts'
import { deliverySchemaOf } from './delivery-request.ts'
import type { DeliveryTokenOptions } from './delivery-tokens.ts'
import { createEventTexts } from './event-texts.ts'
import { createIntake } from './intake.ts'
import { createPendingBytes, type PendingEvent } from './pending-event.ts'
import { createPump } from './pump.ts'
import { createStorageQueueChannels } from './storage-queue-channel.ts'
import { createSubscriptionQueue } from './subscription-queue.ts'
import { createSubscriptionQueues } from './subscription-queues.ts'
import { undeliveredReason } from './undelivered.ts'
import { createValidator, type ValidatorOptions } from './validation.ts'
import { createWebhookChannels } from './webhook-channel.ts'
import { createWebhookClient, type WebhookClientOptions } from './webhook-client.ts'
import { createWorkCounter } from './work-counter.ts'

export interface DeliveryEngineOptions
  extends DeliverOptions,
    DeliveryTokenOptions,
    ValidatorOptions,
    WebhookClientOptions {
  /** From 0 to just under 1; for jitter. */
  readonly random: () => number
  readonly store: Store
  readonly records: Records
  readonly delivery?: DeliveryOptions
  /** Where pending events are persisted. @default nowhere */
  readonly journal?: Journal
  /** Takes a persisted event of a Queue event subscription; false for any other. */
  readonly restoreElsewhere?: (entry: JournalEntry) => boolean
}

export type DeliveryEngine = ReturnType<typeof createDeliveryEngine>

/** The half of Event Grid that talks to subscribers. */
export function createDeliveryEngine(options: DeliveryEngineOptions) {
  const { clock, watcher, journal = noJournal } = options
  const settings = deliverySettings(options.delivery)
  const work = createWorkCounter()
  const texts = createEventTexts()
  const bytes = createPendingBytes()
  const client = createWebhookClient(options)
  const validator = createValidator(options, {
    close: client.close,
    send(request) {
      work.begin()
      return client.send(request).finally(work.end)
    },
  })
  const { storageQueues } = settings
  const channels = firstChannel(
    createWebhookChannels(options, { client, texts }),
    ...(storageQueues ? [createStorageQueueChannels(storageQueues, texts)] : []),
  )
  const deliver = createDeliver(options, { channels, work })
  const waiters = createSettledWaiters(() => closed || pending() === 0)
  let closed = false

  const pump = createPump(clock, work, () => {
    deadLetters.pump()
    for (const { queue } of queues.all()) queue.pump()
  })
  const release = ({ hold }: Pick<PendingEvent, 'hold'>) => {
    bytes.release(hold)
    waiters.check()
  }
  const shared = { ...options, settings, work, journal, wakeAt: pump.wakeAt, release }
  const deadLetters = createDeadLetterBox({ ...shared, written: waiters.check })
  const queues = createSubscriptionQueues((subscription) =>
    createSubscriptionQueue(subscription, { ...shared, sizeOf, giveUp, send: deliver }),
  )
  const intake = createIntake({
    ...options,
    delivers: (subscription) => channels(subscription) !== undefined,
    journal,
    queues,
    bytes,
    sizeOf,
    giveUp,
  })
  const pending = () => deadLetters.size + queues.size

  function sizeOf(event: AcceptedEvent, subscription: EventSubscription): number {
    return Buffer.byteLength(texts.text(event, deliverySchemaOf(subscription)))
  }

  function giveUp(subscription: EventSubscription, event: PendingEvent, reason: GiveUpReason): void {
    watcher?.givenUp(subscription, event.event, reason)
    deadLetters.add(subscription, { ...event, reason, outcome: event.lastOutcome ?? 'Probation' })
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
    /** Runs the handshake of the subscription's schema. Never rejects. Fails early when the signal aborts. */
    validate: validator.validate,
    /** Why the emulator does not deliver to the destination of a subscription; undefined if it does. */
    undelivered: (subscription: EventSubscription) => undeliveredReason(subscription, settings),
    /** Handles a call of a validation URL; false if the URL is unknown or expired. */
    confirmValidation: validator.confirm,
    /**
     * Accepts events for each subscription of their sources whose filter matches. The events are already checked and
     * stamped. Throws if the state file cannot be written: then no event is accepted.
     */
    accept(accepted: readonly SourcedEvents[]): void {
      if (closed) return
      intake.accept(accepted)
      pump.soon()
    },
    /** Delivers an event to one subscription again, without its filter; false if the subscription accepts no events. */
    redeliver(subscriptionId: string, event: AcceptedEvent): boolean {
      const taken = !closed && intake.redeliver(subscriptionId, event)
      if (taken) pump.soon()
      return taken
    },
    /** Whether the limit of pending events is reached. */
    full: () => pending() >= settings.maxPending || bytes.total >= settings.maxPendingBytes,
    /** To be called each time a subscription is stored: settings or provisioning state differ. */
    subscriptionChanged(subscription: EventSubscription): void {
      if (closed || !channels(subscription)) removeQueue(subscription)
      else if (queues.update(subscription)) pump.soon()
    },
    /** To be called after a subscription left the store: its pending events are dropped. */
    subscriptionDeleted: removeQueue,
    /** Loads the events that were pending when the emulator ended. To be called once, after the stored subscriptions. */
    restore() {
      intake.restore()
      pump.soon()
    },
    /** Events accepted and neither delivered, dead-lettered nor dropped yet. */
    pending,
    /** Resolves when nothing is under way or due now. Events that wait for a later attempt don't count. */
    async idle() {
      pump.soon()
      await work.idle()
    },
    /** As `idle`, but `stalled` soon if a subscriber is silent: a manual clock must advance to reach its time-out. */
    async quiet() {
      pump.soon()
      return work.quiet()
    },
    /** Resolves when no event is pending; later attempts and dead-letters count too. */
    settled: waiters.wait,
    async close() {
      closed = true
      pump.close()
      for (const { subscription } of [...queues.all()]) removeQueue(subscription)
      validator.close()
      client.close()
      waiters.check()
      await work.idle()
    },
  }
}
