/** Storage queues as destinations, on Azurite and with the real client of its queues. */
import { type QueueClient, QueueServiceClient } from '@azure/storage-queue'
import { describe, expect, it } from 'vitest'
import { managementOf, sendArm } from '../../../../test/support/azure-clients.ts'
import { destinationIds } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { createStorageQueues, ManualClock } from '../../src/index.ts'
import { shareAzurite } from './azurite.ts'

const minute = 60_000
const storageAccount = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop'
const order = { specversion: '1.0', id: 'e1', source: '/shop', type: 'Order.Placed', data: { name: 'café' } }

const azurite = shareAzurite('queue')

/** An emulator that delivers to Azurite, whose queue `letters` exists and is empty; its topic's event subscription names `queueName`. */
async function openQueue(settings: object = {}, queueName = 'letters') {
  const { connectionString } = azurite
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient('letters')
  await queue.createIfNotExists()
  await queue.clearMessages()
  const clock = new ManualClock()
  const emulator = await startEmulator({ clock, storageQueues: createStorageQueues(connectionString) })
  const made = await managementOf(emulator).eventSubscriptions.beginCreateOrUpdateAndWait(
    emulator.topic().id.slice(1),
    'letters',
    { destination: { endpointType: 'StorageQueue', resourceId: storageAccount, queueName }, ...settings },
  )
  return { emulator, clock, queue, made }
}

async function messages(queue: QueueClient): Promise<unknown[]> {
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 10 })
  return receivedMessageItems.map(({ messageText }) => JSON.parse(Buffer.from(messageText, 'base64').toString()))
}

describe('a storage queue', () => {
  it('gets each event as a message of its own, in base64', async () => {
    const { emulator, queue, made } = await openQueue({ eventDeliverySchema: 'CloudEventSchemaV1_0' })
    expect(made).toMatchObject({ provisioningState: 'Succeeded', destination: { queueName: 'letters' } })
    emulator.raise('orders', [order, { ...order, id: 'e2' }])
    await emulator.settled()
    expect(await messages(queue)).toEqual([order, { ...order, id: 'e2' }])
    expect(emulator.records.deliveries.all()).toMatchObject([
      { subscriptionName: 'letters', eventIds: ['e1'], status: 201, outcome: 'delivered', body: JSON.stringify(order) },
      { eventIds: ['e2'] },
    ])
    expect(emulator.records.warnings.length).toBe(0)
  })

  it('that does not exist is tried again after five minutes', async () => {
    const { emulator, clock, queue } = await openQueue({ eventDeliverySchema: 'CloudEventSchemaV1_0' }, 'later')
    emulator.raise('orders', [order])
    await emulator.idle()
    expect(emulator.records.deliveries.last).toMatchObject({
      status: 404,
      outcome: 'retry',
      error: 'the queue does not exist',
      url: `${storageAccount}/queueServices/default/queues/later`,
    })
    expect(emulator.pending).toBe(1)
    await clock.advance(4 * minute)
    expect(emulator.records.deliveries.length).toBe(1)
    await clock.advance(2 * minute)
    await emulator.idle()
    expect(emulator.records.deliveries.length).toBe(2)
    expect(await messages(queue)).toEqual([])
  })

  it('that refuses an event has it dead-lettered', async () => {
    const { emulator, clock } = await openQueue(
      {
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        retryPolicy: { maxDeliveryAttempts: 1 },
        deadLetterDestination: { endpointType: 'StorageBlob', resourceId: storageAccount, blobContainerName: 'dead' },
      },
      'later',
    )
    emulator.raise('orders', [order])
    await emulator.idle()
    await clock.advance(5 * minute)
    await emulator.idle()
    expect(emulator.records.deadLetters.last).toMatchObject({
      blobPath: expect.stringMatching(/^dead\/LETTERS\//),
      events: [{ id: 'e1', deadletterreason: 'MaxDeliveryAttemptsExceeded', lastdeliveryoutcome: 'NotFound' }],
    })
  })

  it('keeps a message as long as the event subscription says', async () => {
    const { emulator, queue } = await openQueue({
      destination: {
        endpointType: 'StorageQueue',
        resourceId: storageAccount,
        queueName: 'letters',
        queueMessageTimeToLiveInSeconds: 60,
      },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    })
    emulator.raise('orders', [order])
    await emulator.settled()
    const [message] = (await queue.receiveMessages()).receivedMessageItems
    expect((message?.expiresOn.getTime() ?? 0) - (message?.insertedOn.getTime() ?? 0)).toBe(60_000)
  })

  it('whose account does not answer is tried again', async () => {
    const away = 'DefaultEndpointsProtocol=http;AccountName=a;AccountKey=AA==;QueueEndpoint=http://127.0.0.1:1/a;'
    const emulator = await startEmulator({
      storageQueues: createStorageQueues(away),
      eventSubscriptions: [
        {
          name: 'letters',
          properties: {
            destination: {
              endpointType: 'StorageQueue',
              properties: { resourceId: storageAccount, queueName: 'letters' },
            },
          },
        },
      ],
    })
    await emulator.idle()
    emulator.raise('orders', [order])
    await emulator.idle()
    expect(emulator.records.deliveries.last).toMatchObject({
      outcome: 'retry',
      error: expect.stringMatching(/^SocketError: /),
    })
  })
})

describe('a destination that the emulator does not deliver to', () => {
  it.each<{ readonly type: 'HybridConnection' | 'StorageQueue'; readonly says: string }>([
    { type: 'HybridConnection', says: 'does not deliver to destinations of the type HybridConnection' },
    { type: 'StorageQueue', says: 'give storageQueueConnectionString in the configuration' },
  ])('$type is accepted, with a warning', async ({ type, says }) => {
    const emulator = await startEmulator()
    const resourceId = type === 'StorageQueue' ? storageAccount : destinationIds[type]
    const destination = { endpointType: type, properties: { resourceId, queueName: 'letters' } }
    const properties = { destination }
    const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/letters`
    const answer = await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })
    expect(answer.status).toBe(201)
    expect(emulator.records.warnings.all()).toMatchObject([
      { subscriptionName: 'letters', message: expect.stringContaining(says) },
    ])
    const page = await fetch(`${emulator.proxy}/emulator/state`)
    expect(await page.json()).toMatchObject({ subscriptions: [{ warning: expect.stringContaining(says) }] })
  })

  it('is not a namespace topic', async () => {
    const emulator = await startEmulator()
    const properties = {
      destination: { endpointType: 'NamespaceTopic', properties: { resourceId: destinationIds.NamespaceTopic } },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
    }
    const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/letters`
    expect((await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })).status).toBe(201)
    expect(emulator.records.warnings.length).toBe(0)
  })
})
