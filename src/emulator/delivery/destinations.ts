import { destinationOf, type EventSubscription } from '../model/model.ts'
import type { Records } from '../records/record-types.ts'
import { firstChannel } from './channel.ts'
import { createDeliver, type DeliverOptions } from './deliver.ts'
import type { DeliverySettings } from './delivery-options.ts'
import type { DeliveryTokenOptions } from './delivery-tokens.ts'
import type { EventTexts } from './event-texts.ts'
import { createStorageQueueChannels } from './storage-queues.ts'
import { createValidator, type ValidatorOptions } from './validation.ts'
import { createWebhookChannels } from './webhook-channel.ts'
import { createWebhookClient, type WebhookClientOptions } from './webhook-client.ts'
import type { WorkCounter } from './work-counter.ts'

export interface DestinationOptions
  extends DeliverOptions,
    DeliveryTokenOptions,
    ValidatorOptions,
    WebhookClientOptions {
  readonly records: Pick<Records, 'deliveries' | 'handshakes'>
}

/** Sends requests to the destinations of subscriptions: handshakes and events. Counts them as work under way. */
export function createDestinations(
  options: DestinationOptions,
  { storageQueues }: Pick<DeliverySettings, 'storageQueues'>,
  { texts, work }: { readonly texts: EventTexts; readonly work: WorkCounter },
) {
  const client = createWebhookClient(options)
  const validator = createValidator(options, {
    close: client.close,
    send(request) {
      work.begin()
      return client.send(request).finally(work.end)
    },
  })
  const channels = firstChannel(
    createWebhookChannels(options, { client, texts }),
    ...(storageQueues ? [createStorageQueueChannels(storageQueues, texts)] : []),
  )
  return {
    validate: validator.validate,
    confirmValidation: validator.confirm,
    /** Whether the emulator delivers to the destination of a subscription. */
    isDelivered: (subscription: EventSubscription) => channels(subscription) !== undefined,
    deliver: createDeliver(options, { channels, work }),
    close() {
      validator.close()
      client.close()
    },
  }
}

/**
 * Why the events of a subscription are not delivered; undefined where they are. A namespace topic gets them by forwarding.
 */
export function undeliveredReason(
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
