import { type BlobItem, BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { createBlobDeadLetterStore } from '../../src/dead-letters/blob-dead-letter-store.ts'
import { startAzurite } from '../delivery/azurite.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'
import { warningThatSays } from '../support/warning.ts'

const minute = 60_000
const deadLetterDestination = {
  endpointType: 'StorageBlob',
  properties: { resourceId: storageAccountId, blobContainerName: 'letters' },
} as const

async function listBlobs(container: ContainerClient): Promise<BlobItem[]> {
  const blobs: BlobItem[] = []
  for await (const blob of container.listBlobsFlat()) blobs.push(blob)
  return blobs
}

describe('dead-lettering to a blob container', () => {
  it('writes a blob that the real client finds under its path, and reads', async () => {
    const connectionString = await startAzurite()
    const deadLetterStore = createBlobDeadLetterStore(connectionString, { createsContainer: true })
    const grid = await openEventGrid({ delivery: { deadLetterStore } })
    const warned = warningThatSays('container letters')
    grid.subscribe({ deadLetterDestination })
    grid.subscriber.answer({ status: 400 }, { status: 400 })
    await publish(grid, [cloudEvent({ data: 'café' })])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('letters')
    // It says that Azure would not have done that.
    expect(String(await warned)).toMatch(/container letters .* was created .*Azure does not create it/)
    const blobs = await listBlobs(container)
    expect(blobs.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^SUB1\/2026\/1\/5\/14\/[0-9a-f-]{36}\.json$/),
    ])
    expect(grid.records.deadLetters.last?.blobPath).toBe(`letters/${blobs[0]?.name}`)
    expect(blobs[0]?.properties.contentType).toBe('application/json')
    const content = await container.getBlobClient(blobs[0]?.name ?? '').downloadToBuffer()
    expect(JSON.parse(content.toString())).toMatchObject([{ id: 'e1', data: 'café', deliveryattempts: 1 }])
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(await listBlobs(container)).toHaveLength(2)
  })

  it('drops them, as Azure does, where the container does not exist, and says at once that it will', async () => {
    const connectionString = await startAzurite()
    const grid = await openEventGrid({ delivery: { deadLetterStore: createBlobDeadLetterStore(connectionString) } })
    grid.subscribe({ deadLetterDestination })
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(10 * minute)
    await grid.engine.idle()
    expect(grid.records.warnings.all()).toMatchObject([
      {
        subscriptionName: 'Sub1',
        message: expect.stringMatching(/container letters: it does not exist, and Event Grid/),
      },
    ])
    await grid.clock.advance(240 * minute)
    await grid.engine.idle()
    const [letter] = grid.records.deadLetters
    expect(letter?.events).toHaveLength(1)
    expect(letter).not.toHaveProperty('blobPath')
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('letters')
    expect(await container.exists()).toBe(false)
  })

  it('finds a container that is made later', async () => {
    const connectionString = await startAzurite()
    const grid = await openEventGrid({ delivery: { deadLetterStore: createBlobDeadLetterStore(connectionString) } })
    grid.subscribe({ deadLetterDestination })
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    const container = BlobServiceClient.fromConnectionString(connectionString).getContainerClient('letters')
    await container.create()
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(await listBlobs(container)).toHaveLength(1)
  })

  it('counts a store that does not answer as away', async () => {
    const away = 'DefaultEndpointsProtocol=http;AccountName=a;AccountKey=AA==;BlobEndpoint=http://127.0.0.1:1/a;'
    const grid = await openEventGrid({ delivery: { deadLetterStore: createBlobDeadLetterStore(away) } })
    grid.subscribe({ deadLetterDestination })
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(grid.records.deadLetters.length).toBe(0)
    expect(grid.engine.pending()).toBe(1)
  })
})
