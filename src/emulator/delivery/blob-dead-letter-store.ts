import type { BlobServiceClient } from '@azure/storage-blob'
import type { DeadLetterStore } from './dead-letter.ts'

/**
 * Writes dead-lettered events to blobs of one storage account, Azurite's or a real one, whichever accounts the
 * subscriptions name. A container that isn't there is made, which Event Grid itself does not do. The connection string
 * stays in here, and is first read when there is something to write: with one that can't be, every `write` rejects.
 */
export function createBlobDeadLetterStore(connectionString: string): DeadLetterStore {
  let service: Promise<BlobServiceClient> | undefined
  const containers = new Set<string>()

  async function connect(): Promise<BlobServiceClient> {
    // Loaded at the first dead-letter: most emulators never see one, and the client takes a while to load.
    const { BlobServiceClient } = await import('@azure/storage-blob')
    // No retries of its own: Event Grid tries again by its own clock.
    return BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } })
  }

  return {
    async write({ container, path, content }) {
      service ??= connect()
      const client = (await service).getContainerClient(container)
      if (!containers.has(container)) {
        await client.createIfNotExists()
        containers.add(container)
      }
      const blob = client.getBlockBlobClient(path)
      await blob.upload(content, Buffer.byteLength(content), {
        blobHTTPHeaders: { blobContentType: 'application/json' },
      })
    },
  }
}
