import { type BlobItem, BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { createBlobDeadLetterStore } from '../../src/dead-letters/blob-dead-letter-store.ts'
import { shareAzurite } from '../delivery/azurite.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'
import { warningThatSays } from '../support/warning.ts'

const minute = 60_000
const azurite = shareAzurite()

/** Each test has a container of its own. */
const toContainer = (blobContainerName: string) => ({
  deadLetterDestination: {
    endpointType: 'StorageBlob' as const,
    properties: { resourceId: storageAccountId, blobContainerName },
  },
})

const clientOf = (container: string) =>
  BlobServiceClient.fromConnectionString(azurite.connectionString).getContainerClient(container)

async function listBlobs(container: ContainerClient): Promise<BlobItem[]> {
  const blobs: BlobItem[] = []
  for await (const blob of container.listBlobsFlat()) blobs.push(blob)
  return blobs
}

describe('dead-lettering to a blob container', () => {
  it('writes a blob that the real client finds under its path, and reads', async () => {
    const deadLetterStore = createBlobDeadLetterStore(azurite.connectionString, { createsContainer: true })
    const grid = await openEventGrid({ delivery: { deadLetterStore } })
    const warned = warningThatSays('container made')
    grid.subscribe(toContainer('made'))
    grid.subscriber.answer({ status: 400 }, { status: 400 })
    await publish(grid, [cloudEvent({ data: 'café' })])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    const container = clientOf('made')
    // It says that Azure would not have done that.
    expect(String(await warned)).toMatch(/container made .* was created .*Azure does not create it/)
    const blobs = await listBlobs(container)
    expect(blobs.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^SUB1\/2026\/1\/5\/14\/[0-9a-f-]{36}\.json$/),
    ])
    expect(grid.records.deadLetters.last?.blobPath).toBe(`made/${blobs[0]?.name}`)
    expect(blobs[0]?.properties.contentType).toBe('application/json')
    const content = await container.getBlobClient(blobs[0]?.name ?? '').downloadToBuffer()
    expect(JSON.parse(content.toString())).toMatchObject([{ id: 'e1', data: 'café', deliveryattempts: 1 }])
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(await listBlobs(container)).toHaveLength(2)
  })

  it('drops them, as Azure does, where the container does not exist, and says at once that it will', async () => {
    const grid = await openEventGrid({
      delivery: { deadLetterStore: createBlobDeadLetterStore(azurite.connectionString) },
    })
    grid.subscribe(toContainer('missing'))
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(10 * minute)
    await grid.engine.idle()
    expect(grid.records.warnings.all()).toMatchObject([
      {
        subscriptionName: 'Sub1',
        message: expect.stringMatching(/container missing: it does not exist, and Event Grid/),
      },
    ])
    await grid.clock.advance(240 * minute)
    await grid.engine.idle()
    const [letter] = grid.records.deadLetters
    expect(letter?.events).toHaveLength(1)
    expect(letter).not.toHaveProperty('blobPath')
    const container = clientOf('missing')
    expect(await container.exists()).toBe(false)
  })

  it('finds a container that is made later', async () => {
    const grid = await openEventGrid({
      delivery: { deadLetterStore: createBlobDeadLetterStore(azurite.connectionString) },
    })
    grid.subscribe(toContainer('later'))
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    const container = clientOf('later')
    await container.create()
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(await listBlobs(container)).toHaveLength(1)
  })

  it('counts a store that does not answer as away', async () => {
    const away = 'DefaultEndpointsProtocol=http;AccountName=a;AccountKey=AA==;BlobEndpoint=http://127.0.0.1:1/a;'
    const grid = await openEventGrid({ delivery: { deadLetterStore: createBlobDeadLetterStore(away) } })
    grid.subscribe(toContainer('letters'))
    grid.subscriber.answer({ status: 400 })
    await publish(grid, [cloudEvent()])
    await grid.clock.advance(5 * minute)
    await grid.engine.idle()
    expect(grid.records.deadLetters.length).toBe(0)
    expect(grid.engine.pending()).toBe(1)
  })
})
