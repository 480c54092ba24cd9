import { destinationOf, type EventSubscription } from '../model/model.ts'
import type { Channels } from './channel.ts'
import { deliverySchemaOf } from './delivery-request.ts'
import type { EventTexts } from './event-texts.ts'
import type { StorageQueue, StorageQueues } from './storage-queues.ts'

/**
 * Delivers to storage queues: each event is one message, its JSON in base64 and no array in either schema (MicrosoftDocs/azure-docs
 * issue 102923; a message that dapr/components-contrib issue 232 shows).
 */
export function createStorageQueueChannels(queues: StorageQueues, texts: EventTexts): Channels {
  return (subscription) => {
    const queue = storageQueueOf(subscription)
    if (!queue) return undefined
    const schema = deliverySchemaOf(subscription)
    const url = queues.urlOf(queue)
    return {
      url,
      shownUrl: `${queue.storageAccountId}/queueServices/default/queues/${queue.name}`,
      secretHeaders: new Set(),
      async prepare([{ event }]) {
        const body = texts.text(event, schema)
        return {
          headers: {},
          body,
          async send() {
            const started = performance.now()
            const answer = await queues.send(queue, Buffer.from(body).toString('base64'))
            return { target: url.href, durationMs: performance.now() - started, ...answer }
          },
        }
      },
    }
  }
}

function storageQueueOf({ properties }: EventSubscription): StorageQueue | undefined {
  const destination = destinationOf(properties)
  if (destination?.endpointType !== 'StorageQueue') return undefined
  const { resourceId, queueName, queueMessageTimeToLiveInSeconds: seconds } = destination.properties
  if (typeof resourceId !== 'string' || typeof queueName !== 'string') return undefined
  return {
    storageAccountId: resourceId,
    name: queueName,
    ...(typeof seconds === 'number' && { timeToLiveSeconds: seconds }),
  }
}
