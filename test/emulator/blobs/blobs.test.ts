/** Blobs of a real Azurite raise events, with the real client of its blobs. */
import { BlobSASPermissions, BlobServiceClient, ContainerSASPermissions } from '@azure/storage-blob'
import { describe, expect, it } from 'vitest'
import { account, accountId, clientOptions, openBlobs } from './open-blobs.ts'

const guid = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/)

describe('a blob that is written', () => {
  it('raises BlobCreated with what Azure tells of it', async () => {
    const { uploads, events, storage } = await openBlobs()
    const { etag, requestId } = await uploads
      .getBlockBlobClient('a b/ü.txt')
      .upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/plain' } })
    expect(await events()).toEqual([
      {
        specversion: '1.0',
        id: guid,
        source: accountId,
        type: 'Microsoft.Storage.BlobCreated',
        subject: '/blobServices/default/containers/uploads/blobs/a b/ü.txt',
        time: expect.stringMatching(/Z$/),
        data: {
          api: 'PutBlob',
          clientRequestId: guid,
          requestId,
          eTag: etag?.replaceAll('"', ''),
          contentType: 'text/plain',
          contentLength: 5,
          blobType: 'BlockBlob',
          accessTier: 'Default',
          url: `${storage.blobEndpoint}/uploads/a b/ü.txt`,
          sequencer: expect.stringMatching(/^[\dA-F]{32}[\da-f]{16}$/),
          storageDiagnostics: { batchId: guid },
        },
      },
    ])
  })
})

it('x', async () => {
    const { uploads, events } = await openBlobs()
    const blob = uploads.getBlockBlobClient('b')
    await blob.uploadData(Buffer.alloc(3000), { blockSize: 1000, maxSingleShotSize: 100 })
    await (await uploads.getBlockBlobClient('c').beginCopyFromURL(blob.url)).pollUntilDone()
    await blob.setAccessTier('Archive')
    await blob.setAccessTier('Hot')
    await blob.delete()
    console.log(JSON.stringify(await events(), null, 1))
    const more = ['1','2','3'].map((n) => uploads.getBlockBlobClient(n))
    for (const m of more) await m.upload('x', 1)
    await events()
    await uploads.getBlobBatchClient().deleteBlobs(more)
    console.log(JSON.stringify(await events(), null, 1))
})
