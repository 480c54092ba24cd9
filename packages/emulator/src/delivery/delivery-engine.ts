// The assembly of handshakes, destinations, queues and delivery; `idle`, `settled`, shutdown.
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import { createDeletionNotices } from './deletion-notice.ts'
import type { DeliveryOptions } from './delivery-options.ts'
import { createValidator } from './handshake/run-handshake.ts'
import { createPendingEvents } from './pending-events.ts'
import { createDeliver } from './queue/deliver.ts'
import { createDestinations } from './send/destinations.ts'
import { createWebhookClient } from './send/webhook-client.ts'

export type DeliveryEngine = ReturnType<typeof createDeliveryEngine>

/** The half of Event Grid that talks to subscribers: handshakes and events. Counts their requests as work under way. */
export function createDeliveryEngine(options: DeliveryOptions) {
  const { work } = options
  const client = createWebhookClient(options)
  const validator = createValidator(options, {
    send(request) {
      work.begin()
      return client.send(request).finally(work.end)
    },
  })
  const { channel, undelivered, ...destinations } = createDestinations(options, client)
  const notices = createDeletionNotices(options, channel)
  const { sendSoon, close, forget, ...pending } = createPendingEvents({
    ...options,
    isDelivered: (subscription) => channel(subscription) !== undefined,
    undelivered,
    deliver: createDeliver(options, channel),
  })

  return {
    /**
     * Runs the handshake of the subscription's schema, again while it waits if it is asked to. Never rejects. Fails early when the signal
     * aborts.
     */
    validate: validator.validate,
    /** Why the events of a subscription are not delivered; undefined where they are. */
    undelivered,
    /** Handles a call of a validation URL; false if the URL is unknown or expired. */
    confirmValidation: validator.confirm,
    ...pending,
    /** Forgets all events and notices as if they had never been. */
    forget() {
      notices.forget()
      forget()
    },
    /** Tells the endpoint of an event subscription that the event subscription was deleted. */
    tellDeleted: notices.tell,
    subscriptionChanged(subscription: EventSubscription): void {
      pending.subscriptionChanged(subscription)
      destinations.closeUnused()
    },
    subscriptionDeleted(subscription: EventSubscription): void {
      pending.subscriptionDeleted(subscription)
      destinations.closeUnused()
    },
    /** Whether the limit of pending events is reached. */
    full: options.bound.full,
    /** Resolves when nothing is under way or due now. Events that wait for a later attempt don't count. */
    async idle() {
      sendSoon()
      await work.idle()
    },
    async close() {
      close()
      validator.close()
      client.close()
      await destinations.close()
      await work.idle()
    },
  }
}
