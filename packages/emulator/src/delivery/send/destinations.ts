/** Which kinds of destination the emulator delivers to: the channel of each, or why there is none. */
import { deliveredBy, destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import type { DeliveryOptions } from '../delivery-options.ts'
import type { Channel } from './channel.ts'
import { createHttpChannels } from './http-channels.ts'
import { createBrokerChannels } from './message-brokers.ts'
import { createStorageQueueChannels } from './storage-queues.ts'
import type { WebhookClient } from './webhook-client.ts'

/** The channel of an event subscription; undefined where the emulator does not deliver to its destination. */
export type Channels = (subscription: EventSubscription) => Channel | undefined

/** The destinations of event subscriptions. */
export function createDestinations(options: DeliveryOptions, client: WebhookClient) {
  const http = createHttpChannels(options, client)
  const storageQueues = createStorageQueueChannels(options.settings.storageQueues)
  const brokers = createBrokerChannels(options.settings)
  // A subscription is immutable, so that its channel is made once.
  const known = new WeakMap<EventSubscription, Channel | string>()

  /** A text says why there is no channel. */
  function channelOrReason(subscription: EventSubscription): Channel | string | undefined {
    const destination = destinationOf(subscription.properties)
    switch (destination?.endpointType) {
      case 'WebHook':
        return http.webHook(subscription, destination.properties)
      case 'AzureFunction':
        return http.azureFunction(subscription, destination.properties)
      case 'StorageQueue':
        return storageQueues(subscription, destination.properties)
      case 'ServiceBusQueue':
      case 'ServiceBusTopic':
        return brokers.channel('serviceBus', subscription, destination.properties.resourceId)
      case 'EventHub':
        return brokers.channel('eventHubs', subscription, destination.properties.resourceId)
      // A namespace topic gets its events by forwarding.
      case 'NamespaceTopic':
      case undefined:
        return undefined
      default:
        return `The emulator does not deliver to destinations of the type ${destination?.endpointType}.`
    }
  }

  function find(subscription: EventSubscription): Channel | string | undefined {
    const found = known.get(subscription) ?? channelOrReason(subscription)
    if (found !== undefined) known.set(subscription, found)
    return found
  }

  return {
    channel(subscription: EventSubscription): Channel | undefined {
      const found = find(subscription)
      return typeof found === 'string' ? undefined : found
    },
    /** Why the events of a subscription are not delivered; undefined where they are. */
    undelivered(subscription: EventSubscription): string | undefined {
      const found = find(subscription)
      return typeof found === 'string' ? found : undefined
    },
    /** Closes the connections of destinations that no event subscription has any more. */
    closeUnused(): void {
      brokers.closeOthers(() => {
        const all = options.store.subscriptions.all().flatMap((stored) => [stored, deliveredBy(stored) ?? stored])
        return all.flatMap(({ properties }) => {
          const destination = destinationOf(properties)?.properties ?? {}
          return 'resourceId' in destination ? [String(destination.resourceId)] : []
        })
      })
    },
    close: brokers.close,
  }
}
