// Sending to Azure Storage queues or Azurite (`@azure/storage-queue`), 30 s time-out; event as a message: JSON in
// base64, message time to live.
import type { QueueServiceClient } from '@azure/storage-queue'
import { messageOf } from '../../../../../src/support/process/error-code.ts'
import { requirePackage } from '../../../../../src/support/process/require-package.ts'
import { deliveredText } from '../../model/events/accepted-event.ts'
import type { DestinationProperties } from '../../model/resources/destination.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { Channel, WebhookResult } from './channel.ts'
import { deliverySchemaOf } from './delivery-request.ts'

/** A storage queue, as an event subscription names it. */
export interface StorageQueue {
  /** Resource id of the storage account. */
  readonly storageAccountId: string
  readonly name: string
  /** Seconds that a message is kept; -1 for ever. Absent: the storage service's default, 7 days. */
  readonly timeToLiveSeconds?: number
}

/** What became of a message. */
export type StorageQueueResult = Pick<WebhookResult, 'status' | 'body' | 'failure' | 'hint'> & {
  /** The queue's URL at the storage account that was asked. @default that of Azure */
  readonly target?: string
}

/** Storage queues that events are delivered to. */
export interface StorageQueues {
  /** The URL of a queue, for records. */
  urlOf(queue: StorageQueue): URL
  /** Puts a message into a queue. Never rejects: a failure has a status, or says why there is no answer. */
  send(queue: StorageQueue, text: string): Promise<StorageQueueResult>
}

/** Longest wait for an answer, in real milliseconds. */
const timeoutMs = 30_000

/**
 * Puts messages into the queues of one storage account, Azurite's or a real one, whichever accounts the subscriptions
 * name. A queue must exist, as for Event Grid. The connection string stays in here.
 *
 * @throws Error that says what to install, where the package `@azure/storage-queue` is missing
 */
export function createStorageQueues(connectionString: string): StorageQueues {
  requirePackage('@azure/storage-queue', 12, 'deliveries to storage queues')
  let service: Promise<QueueServiceClient> | undefined

  async function connect(): Promise<QueueServiceClient> {
    const { QueueServiceClient } = await import('@azure/storage-queue')
    // No retries of its own: Event Grid tries again by its own clock.
    return QueueServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } })
  }

  return {
    urlOf: ({ storageAccountId, name }) =>
      new URL(`https://${storageAccountId.split('/').at(-1)}.queue.core.windows.net/${name}`),
    async send({ name, timeToLiveSeconds }, text) {
      let target: string | undefined
      const asked = () => (target === undefined ? {} : { target })
      try {
        service ??= connect()
        const queue = (await service).getQueueClient(name)
        target = queue.url
        const answer = await queue.sendMessage(text, {
          abortSignal: AbortSignal.timeout(timeoutMs),
          ...(timeToLiveSeconds !== undefined && { messageTimeToLive: timeToLiveSeconds }),
        })
        return { status: answer._response.status, ...asked() }
      } catch (error) {
        const message = messageOf(error)
        const status = statusOf(error)
        if (status === undefined) return { failure: { outcome: failureOf(error), message }, ...asked() }
        return { status, body: message, ...(status === 404 && { hint: 'the queue does not exist' }), ...asked() }
      }
    },
  }
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
    ? error.statusCode
    : undefined
}

function failureOf(error: unknown): 'TimedOut' | 'SocketError' {
  return error instanceof Error && error.name === 'AbortError' ? 'TimedOut' : 'SocketError'
}

/**
 * Delivers to storage queues: each event is one message, its JSON in base64 and no array in either schema
 * (MicrosoftDocs/azure-docs issue 102923; a message that dapr/components-contrib issue 232 shows).
 */
export function createStorageQueueChannels(queues: StorageQueues | undefined) {
  return (subscription: EventSubscription, destination: DestinationProperties<'StorageQueue'>): Channel | string => {
    if (!queues) return noAccount
    const queue = storageQueueOf(destination)
    const schema = deliverySchemaOf(subscription)
    const url = queues.urlOf(queue)
    return {
      url,
      shownUrl: `${queue.storageAccountId}/queueServices/default/queues/${queue.name}`,
      secretHeaders: new Set(),
      async prepare([{ event }]) {
        const body = deliveredText(event, schema)
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

const noAccount =
  'The emulator has no storage account to deliver to: give storageQueueConnectionString in the configuration, ' +
  'or the option storageQueues.'

function storageQueueOf(destination: DestinationProperties<'StorageQueue'>): StorageQueue {
  const { resourceId, queueName, queueMessageTimeToLiveInSeconds: seconds } = destination
  return {
    storageAccountId: resourceId,
    name: queueName,
    ...(seconds !== undefined && { timeToLiveSeconds: seconds }),
  }
}
