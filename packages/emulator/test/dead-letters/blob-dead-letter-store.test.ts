import { createServer } from 'node:net'
import { type BlobItem, BlobServiceClient, type ContainerClient } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { listen } from '../../../../test/support/listen.ts'
import { createBlobDeadLetterStore } from '../../src/index.ts'
import { shareAzurite } from '../delivery/azurite.ts'
import { cloudEvent, type EventGrid, openEventGrid, publish } from '../event-grid.ts'
import { warningThatSays } from '../support/warning.ts'

const minute = 60_000
const azurite = shareAzurite()

/** An event that is given up, to be dead-lettered five minutes later. Each test has a container of its own. */
async function openGivenUp(
  blobContainerName: string,
  deadLetterStore = createBlobDeadLetterStore(azurite.connectionString),
) {
  const grid = await openEventGrid({ deadLetterStore })
  const properties = { resourceId: storageAccountId, blobContainerName }
  await grid.subscribe({ deadLetterDestination: { endpointType: 'StorageBlob', properties } })
  grid.subscriber.answer({ status: 400 }, { status: 400 })
  await publish(grid, [cloudEvent({ data: 'café' })])
  const container = BlobServiceClient.fromConnectionString(azurite.connectionString)
  return { grid, container: container.getContainerClient(blobContainerName) }
}

async function pass({ clock, emulator }: EventGrid, minutes: number): Promise<void> {
  await clock.advance(minutes * minute)
  await emulator.idle()
}

async function listBlobs(container: ContainerClient): Promise<BlobItem[]> {
  const blobs: BlobItem[] = []
  for await (const blob of container.listBlobsFlat()) blobs.push(blob)
  return blobs
}

describe('dead-lettering to a blob container', () => {
  it('writes a blob that the real client finds under its path, and reads', async () => {
    const store = createBlobDeadLetterStore(azurite.connectionString, { createsContainer: true })
    const warned = warningThatSays('container made')
    const { grid, container } = await openGivenUp('made', store)
    await pass(grid, 5)
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
    await pass(grid, 5)
    expect(await listBlobs(container)).toHaveLength(2)
  })

  it('drops them, as Azure does, where the container does not exist, and says at once that it will', async () => {
    const { grid, container } = await openGivenUp('missing')
    await pass(grid, 10)
    const message = expect.stringMatching(/container missing: it does not exist, and Event Grid/)
    expect(grid.records.warnings.all()).toMatchObject([{ subscriptionName: 'Sub1', message }])
    await pass(grid, 240)
    const [letter] = grid.records.deadLetters
    expect(letter?.events).toHaveLength(1)
    expect(letter).not.toHaveProperty('blobPath')
    expect(await container.exists()).toBe(false)
  })

  it('finds a container that is made later', async () => {
    const { grid, container } = await openGivenUp('later')
    await pass(grid, 5)
    await container.create()
    await pass(grid, 5)
    expect(await listBlobs(container)).toHaveLength(1)
  })

  it('counts a store that does not answer as away', async () => {
    const away = 'DefaultEndpointsProtocol=http;AccountName=a;AccountKey=AA==;BlobEndpoint=http://127.0.0.1:1/a;'
    const { grid } = await openGivenUp('letters', createBlobDeadLetterStore(away))
    await pass(grid, 5)
    expect(grid.records.deadLetters.length).toBe(0)
    expect(grid.emulator.pending).toBe(1)
  })

  it('counts a store that takes the connection and is silent as away', async () => {
    const silent = createServer((socket) => void socket.on('error', () => {}))
    const at = `http://127.0.0.1:${await listen(silent)}/a`
    const connection = `DefaultEndpointsProtocol=http;AccountName=a;AccountKey=AA==;BlobEndpoint=${at};`
    const { grid } = await openGivenUp('letters', createBlobDeadLetterStore(connection, { answerTimeoutMs: 100 }))
    await pass(grid, 5)
    expect(grid.records.deadLetters.length).toBe(0)
    expect(grid.emulator.pending).toBe(1)
  })
})
