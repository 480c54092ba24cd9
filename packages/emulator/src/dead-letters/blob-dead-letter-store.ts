// Dead-letters written as blobs to a storage account (`@azure/storage-blob`), whose container must exist.
import type { BlobServiceClient } from '@azure/storage-blob'
import { requirePackage } from '../../../../src/support/process/runtime.ts'
import type { DeadLetterStore } from './write-dead-letters.ts'

/**
 * Writes dead-lettered events to blobs of one storage account, Azurite's or a real one, whichever accounts the
 * subscriptions name. The container must exist, as for Event Grid. The connection string stays in here, and is parsed at the first
 * write: a malformed one rejects every `write`.
 *
 * @param options.createsContainer makes a container that does not exist, which Event Grid never does. @default false
 * @throws Error that says what to install, where the package `@azure/storage-blob` is missing
 */
export function createBlobDeadLetterStore(
  connectionString: string,
  { createsContainer = false }: { readonly createsContainer?: boolean } = {},
): DeadLetterStore {
  // An optional peer dependency, since it is a quarter of what an installation would weigh.
  requirePackage('@azure/storage-blob', 12, 'dead-letters to blobs')
  let service: Promise<BlobServiceClient> | undefined
  const containers = new Set<string>()

  // Loaded at the first dead-letter: most emulators never write one, and the client takes a while to load.
  async function connect(): Promise<BlobServiceClient> {
    const { BlobServiceClient } = await import('@azure/storage-blob')
    // No retries of its own: Event Grid tries again by its own clock.
    return BlobServiceClient.fromConnectionString(connectionString, { retryOptions: { maxTries: 1 } })
  }

  return {
    async write({ container, path, content }) {
      service ??= connect()
      const client = (await service).getContainerClient(container)
      if (createsContainer && !containers.has(container)) {
        const { succeeded } = await client.createIfNotExists()
        if (succeeded) {
          process.emitWarning(
            `The container ${container} for dead letters did not exist, and was created (deadLetterCreatesContainer). ` +
              'Azure does not create it: it drops the dead letters.',
            'EmulatorWarning',
          )
        }
        containers.add(container)
      }
      const blob = client.getBlockBlobClient(path)
      await blob.upload(content, Buffer.byteLength(content), {
        blobHTTPHeaders: { blobContentType: 'application/json' },
      })
    },
  }
}
