// The assembly of handshakes, channels, queues and delivery; warning for destinations not delivered to; `idle`,
// `settled`, shutdown.
import { destinationOf, type EventSubscription } from '../model/resources/event-subscription.ts'
import type { DeliveryOptions, DeliverySettings } from './delivery-options.ts'
import { createValidator } from './handshake/run-handshake.ts'
import { createPendingEvents } from './pending-events.ts'
import { createDeliver } from './queue/deliver.ts'
import { firstChannel } from './send/channel.ts'
import { createStorageQueueChannels } from './send/storage-queues.ts'
import { createWebhookChannels } from './send/webhook-channel.ts'
import { createWebhookClient } from './send/webhook-client.ts'

export type DeliveryEngine = ReturnType<typeof createDeliveryEngine>

/** The half of Event Grid that talks to subscribers: handshakes and events. Counts their requests as work under way. */
export function createDeliveryEngine(options: DeliveryOptions) {
  const { settings, work } = options
  const client = createWebhookClient(options)
  const validator = createValidator(options, {
    send(request) {
      work.begin()
      return client.send(request).finally(work.end)
    },
  })
  const channels = firstChannel(
    createWebhookChannels(options, client),
    ...(settings.storageQueues ? [createStorageQueueChannels(settings.storageQueues)] : []),
  )
  const undelivered = (subscription: EventSubscription) => undeliveredReason(subscription, settings)
  const { sendSoon, close, ...pending } = createPendingEvents({
    ...options,
    isDelivered: (subscription) => channels(subscription) !== undefined,
    undelivered,
    deliver: createDeliver(options, channels),
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
      await work.idle()
    },
  }
}

/** A namespace topic gets its events by forwarding. */
function undeliveredReason(
  { properties }: EventSubscription,
  { storageQueues }: Pick<DeliverySettings, 'storageQueues'>,
): string | undefined {
  const type = destinationOf(properties)?.endpointType
  if (type === undefined || type === 'WebHook' || type === 'NamespaceTopic') return undefined
  if (type !== 'StorageQueue') return `The emulator does not deliver to destinations of the type ${type}.`
  if (storageQueues !== undefined) return undefined
  return (
    'The emulator has no storage account to deliver to: give storageQueueConnectionString in the configuration, ' +
    'or the option storageQueues.'
  )
}
