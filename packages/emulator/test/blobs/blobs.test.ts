/** Blobs of a real Azurite raise events, with the real client of its blobs. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import {
  AnonymousCredential,
  BlobServiceClient,
  type BlockBlobClient,
  type ContainerClient,
  ContainerSASPermissions,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ManualClock } from '../../src/index.ts'
import { azuriteAccount as account } from '../support/azurite-process.ts'
import { accountId, type BlobEvent, clientOptions, openBlobs, shareBlobs } from './open-blobs.ts'

shareBlobs()

const guid = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/)
/** What a client does, of the blob `b` or of its container. */
type Act = (blob: BlockBlobClient, uploads: ContainerClient) => Promise<unknown>

const block = (number: number) => Buffer.from(`block-${number}`).toString('base64')

/** Type, operation and blob of each event. */
const shown = (events: readonly BlobEvent[]) =>
  events.map(({ type, subject, data }) => [
    type.replace('Microsoft.Storage.', ''),
    data.api,
    subject.split('/blobs/')[1],
  ])

describe('an event of a blob', () => {
  it('has what Azure tells of it', async () => {
    const { uploads, events, storage } = await openBlobs()
    const { etag, requestId } = await uploads
      .getBlockBlobClient('a b/ü.txt')
      .upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/plain' } })
    expect(await events()).toEqual([
      {
        specversion: '1.0',
        id: expect.stringMatching(new RegExp(`^${requestId?.slice(0, -6)}[\\da-f]{6}$`)),
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

  it('has the topic of the account in the Event Grid schema', async () => {
    const { emulator, uploads, subscriber } = await openBlobs({
      eventSubscriptions: [
        {
          name: 'app',
          scope: accountId,
          endpoint: 'https://subscriber.example/',
          properties: { eventDeliverySchema: 'EventGridSchema' },
        },
      ],
    })
    await uploads.getBlockBlobClient('b').upload('hello', 5)
    await emulator.settled()
    expect(JSON.parse(subscriber.deliveries()[0]?.body ?? '')).toMatchObject([
      { topic: accountId, eventType: 'Microsoft.Storage.BlobCreated', dataVersion: '', metadataVersion: '1' },
    ])
  })

  it.each<{ what: string; act: Act; data: object; lacks?: readonly string[]; type?: string }>([
    {
      what: 'a block list',
      act: (blob) => blob.uploadData(Buffer.alloc(2500), { blockSize: 1000, maxSingleShotSize: 100 }),
      data: {
        api: 'PutBlockList',
        contentLength: 2500,
        contentType: 'application/octet-stream',
        accessTier: 'Default',
      },
    },
    {
      what: 'a block list of the account’s choice of tier and type',
      act: (blob) =>
        blob.uploadData(Buffer.alloc(2500), {
          ...{ blockSize: 1000, maxSingleShotSize: 100, tier: 'Cool' },
          blobHTTPHeaders: { blobContentType: 'image/png' },
        }),
      data: { api: 'PutBlockList', contentLength: 2500, contentType: 'image/png', accessTier: 'Cool' },
    },
    {
      what: 'a block list with blocks of before',
      act: async (blob) => {
        await blob.stageBlock(block(1), '12345', 5)
        await blob.commitBlockList([block(1)])
        await blob.stageBlock(block(2), '67', 2)
        await blob.commitBlockList([block(1), block(2), block(1)])
      },
      data: { api: 'PutBlockList', contentLength: 12 },
    },
    {
      what: 'an empty block list',
      act: (blob) => blob.commitBlockList([]),
      data: { api: 'PutBlockList', contentLength: 0 },
    },
    {
      what: 'a copy',
      act: async (blob, uploads) => {
        const source = uploads.getBlockBlobClient('source')
        await source.upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
        await (await blob.beginCopyFromURL(source.url)).pollUntilDone()
      },
      data: { api: 'CopyBlob', contentLength: 5, contentType: 'text/css', blobType: 'BlockBlob' },
    },
    {
      what: 'a copy that is done at once',
      act: async (blob, uploads) => {
        await uploads.getBlockBlobClient('source').upload('hello', 5)
        await blob.syncCopyFromURL(uploads.getBlockBlobClient('source').url)
      },
      data: { api: 'CopyBlob', contentLength: 5 },
    },
    {
      what: 'a page blob',
      act: (_blob, uploads) => uploads.getPageBlobClient('b').create(1024),
      data: { api: 'PutBlob', contentLength: 1024, blobType: 'PageBlob' },
    },
    {
      what: 'an append blob',
      act: (_blob, uploads) => uploads.getAppendBlobClient('b').create(),
      data: { api: 'PutBlob', contentLength: 0, blobType: 'AppendBlob' },
    },
    {
      what: 'a delete',
      act: async (blob) => {
        await blob.upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
        await blob.delete()
      },
      type: 'BlobDeleted',
      data: { api: 'DeleteBlob', contentType: 'text/css', blobType: 'BlockBlob' },
      lacks: ['eTag', 'contentLength', 'accessTier'],
    },
    {
      what: 'a delete with its snapshots',
      act: async (blob) => {
        await blob.upload('hello', 5)
        await blob.createSnapshot()
        await blob.delete({ deleteSnapshots: 'include' })
      },
      type: 'BlobDeleted',
      data: { api: 'DeleteBlob' },
    },
    {
      what: 'another tier',
      act: async (blob) => {
        await blob.upload('hello', 5, { tier: 'Hot' })
        await blob.setAccessTier('Cool')
      },
      type: 'BlobTierChanged',
      data: { api: 'SetBlobTier', accessTier: 'Cool', previousTier: 'Hot', contentLength: 5, blobType: 'BlockBlob' },
      lacks: ['eTag'],
    },
  ])('tells of $what', async ({ act, data, lacks = [], type = 'BlobCreated' }) => {
    const { uploads, events } = await openBlobs()
    await act(uploads.getBlockBlobClient('b'), uploads)
    const last = (await events()).at(-1)
    expect(last).toMatchObject({
      type: `Microsoft.Storage.${type}`,
      subject: '/blobServices/default/containers/uploads/blobs/b',
      data,
    })
    for (const name of lacks) expect(last?.data).not.toHaveProperty(name)
  })

  it('of a directory of Data Lake comes where it is deleted', async () => {
    const { emulator, uploads, events, storage } = await openBlobs()
    // What other clients make of a directory, and the one request of Data Lake's writes that Azurite takes.
    await uploads.getBlockBlobClient('d').upload('', 0, { metadata: { hdi_isfolder: 'true' } })
    await events()
    const { url } = await signed(uploads, ContainerSASPermissions.parse('d'))
    const [place, signature] = url.split('?')
    const answer = await fetch(`${place}/d?recursive=true&${signature}`, { method: 'DELETE' })
    expect(answer.status).toBe(202)
    const [event, ...others] = await events()
    expect(others).toEqual([])
    expect(event).toMatchObject({
      type: 'Microsoft.Storage.DirectoryDeleted',
      subject: '/blobServices/default/containers/uploads/blobs/d',
      data: {
        ...{ api: 'DeleteDirectory', requestId: answer.headers.get('x-ms-request-id') },
        ...{ url: `${storage.blobEndpoint}/uploads/d`, recursive: 'true' },
      },
    })
    expect(event?.data).not.toHaveProperty('contentLength')
    expect(emulator.events().events.at(-1)?.event).toMatchObject({ dataVersion: '1', metadataVersion: '1' })
  })

  it('of a tier that leaves the archive comes twice: initiated, and changed', async () => {
    const { uploads, events } = await openBlobs()
    const blob = uploads.getBlockBlobClient('b')
    await blob.upload('hello', 5, { tier: 'Archive' })
    await events()
    await blob.setAccessTier('Hot')
    const both = await events()
    expect(shown(both)).toEqual([
      ['AsyncOperationInitiated', 'SetBlobTier', 'b'],
      ['BlobTierChanged', 'SetBlobTier', 'b'],
    ])
    expect(both[1]?.data).toMatchObject({ accessTier: 'Hot', previousTier: 'Archive' })
  })

  it('of each blob of a batch comes for itself', async () => {
    const { uploads, events } = await openBlobs()
    const blobs = ['one', 'two', 'three'].map((name) => uploads.getBlockBlobClient(name))
    for (const blob of blobs.slice(0, 2)) await blob.upload('hello', 5, { tier: 'Hot' })
    await events()
    const tiers = await uploads.getBlobBatchClient().setBlobsAccessTier(blobs, 'Cool')
    expect(tiers).toMatchObject({ subResponsesSucceededCount: 2, subResponsesFailedCount: 1 })
    expect(shown(await events())).toEqual([
      ['BlobTierChanged', 'SetBlobTier', 'one'],
      ['BlobTierChanged', 'SetBlobTier', 'two'],
    ])
    const { subResponses } = await uploads.getBlobBatchClient().deleteBlobs(blobs)
    const deleted = await events()
    expect(shown(deleted)).toEqual([
      ['BlobDeleted', 'DeleteBlob', 'one'],
      ['BlobDeleted', 'DeleteBlob', 'two'],
    ])
    const ids = subResponses.slice(0, 2).map(({ headers }) => headers.get('x-ms-request-id'))
    expect(deleted.map(({ data }) => data.requestId)).toEqual(ids)
  })
})

describe('nothing is raised', () => {
  it.each<{ what: string; act: Act }>([
    { what: 'a block without a block list', act: (blob) => blob.stageBlock(block(1), 'hello', 5) },
    { what: 'metadata', act: (blob) => blob.setMetadata({ a: '1' }) },
    { what: 'HTTP headers', act: (blob) => blob.setHTTPHeaders({ blobContentType: 'text/css' }) },
    { what: 'tags', act: (blob) => blob.setTags({ a: '1' }) },
    { what: 'a lease', act: (blob) => blob.getBlobLeaseClient().acquireLease(15) },
    { what: 'a snapshot', act: (blob) => blob.createSnapshot() },
    {
      what: 'a snapshot that is deleted',
      act: async (blob) => blob.withSnapshot((await blob.createSnapshot()).snapshot ?? '').delete(),
    },
    {
      what: 'all snapshots that are deleted',
      act: async (blob) => {
        await blob.createSnapshot()
        await blob.delete({ deleteSnapshots: 'only' })
      },
    },
    { what: 'a download', act: (blob) => blob.downloadToBuffer() },
    { what: 'a list', act: (_blob, uploads) => uploads.listBlobsFlat().next() },
    { what: 'a container that is deleted with its blobs', act: (_blob, uploads) => uploads.delete() },
  ])('by $what', async ({ act }) => {
    const { uploads, events } = await openBlobs()
    const blob = uploads.getBlockBlobClient('b')
    await blob.upload('hello', 5)
    await events()
    await act(blob, uploads)
    expect(await events()).toEqual([])
  })

  it('by more bytes in an append blob', async () => {
    const { uploads, events } = await openBlobs()
    const blob = uploads.getAppendBlobClient('b')
    await blob.create()
    await events()
    await blob.appendBlock('hello', 5)
    expect(await events()).toEqual([])
  })

  it.each<{ what: string; act: Act; code: string }>([
    {
      what: 'a wrong key',
      act: (_blob, uploads) =>
        new BlobServiceClient(
          new URL(uploads.url).href.replace('/uploads', ''),
          new StorageSharedKeyCredential(account, Buffer.alloc(64).toString('base64')),
          clientOptions,
        )
          .getContainerClient('uploads')
          .getBlockBlobClient('b')
          .upload('hello', 5),
      code: 'AuthorizationFailure',
    },
    {
      what: 'a condition that does not hold',
      act: (_blob, uploads) =>
        uploads.getBlockBlobClient('kept').upload('hello', 5, { conditions: { ifNoneMatch: '*' } }),
      code: 'BlobAlreadyExists',
    },
    {
      what: 'a wrong digest',
      act: (blob) => blob.stageBlock(block(1), 'hello', 5, { transactionalContentMD5: Buffer.alloc(16) }),
      code: 'InvalidOperation',
    },
    {
      what: 'a block that is not there',
      act: (blob) => blob.commitBlockList([block(1)]),
      code: 'InvalidBlockList',
    },
    { what: 'a blob that is not there', act: (blob) => blob.delete(), code: 'BlobNotFound' },
    {
      what: 'a large upload that is refused before it was sent',
      act: (_blob, uploads) =>
        new BlobServiceClient(uploads.url.replace('/uploads', ''), new AnonymousCredential(), clientOptions)
          .getContainerClient('uploads')
          .getBlockBlobClient('b')
          .upload(Buffer.alloc(50_000_000), 50_000_000),
      code: 'AuthorizationFailure',
    },
  ])('where Azurite refuses $what', async ({ act, code }) => {
    listenToConnections()
    const { uploads, events } = await openBlobs()
    await uploads.getBlockBlobClient('kept').upload('hello', 5)
    await events()
    await expect(act(uploads.getBlockBlobClient('b'), uploads)).rejects.toMatchObject({ code })
    expect(await events()).toEqual([])
  })
})

/**
 * The emulator may end while a client still sends what was refused. Node listens no more to the connection of a request that has its
 * answer, and an error that nobody listens to ends the process.
 */
function listenToConnections(): void {
  const listen = (message: unknown) => {
    if (isRecord(message) && message.socket instanceof Socket) message.socket.on('error', () => {})
  }
  subscribe('net.client.socket', listen)
  onTestFinished(() => void unsubscribe('net.client.socket', listen))
}

describe('what no request says of a blob', () => {
  const delivered = { blobType: 'BlockBlob', contentType: 'text/css' }

  it.each([
    { who: 'a signature that may read', permissions: 'rwd', data: delivered, lacks: [] },
    { who: 'a signature that may not read', permissions: 'wd', data: {}, lacks: ['blobType', 'contentType'] },
    { who: 'the key, which signs one request alone', data: {}, lacks: ['blobType', 'contentType'] },
  ])('is asked with what the caller may: $who', async ({ permissions, data, lacks }) => {
    const { uploads, direct, events } = await openBlobs()
    await direct.getBlockBlobClient('b').upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
    const client =
      permissions === undefined ? uploads : await signed(uploads, ContainerSASPermissions.parse(permissions))
    await client.getBlockBlobClient('b').delete()
    const [event] = await events()
    expect(event).toMatchObject({ type: 'Microsoft.Storage.BlobDeleted', data })
    for (const name of lacks) expect(event?.data).not.toHaveProperty(name)
  })

  it('is asked of Azurite for a copy, a block list and a tier', async () => {
    const { uploads, direct, events } = await openBlobs()
    const source = direct.getBlockBlobClient('source')
    await source.upload('hello', 5, { tier: 'Hot', blobHTTPHeaders: { blobContentType: 'text/css' } })
    await direct.getBlockBlobClient('b').stageBlock(block(1), '1234567', 7)
    const client = await signed(uploads, ContainerSASPermissions.parse('rw'))
    await client.getBlockBlobClient('b').commitBlockList([block(1)])
    await client.getBlockBlobClient('source').setAccessTier('Cool')
    await client.getBlockBlobClient('copy').syncCopyFromURL(client.getBlockBlobClient('source').url)
    expect((await events()).map(({ data }) => data)).toMatchObject([
      { api: 'PutBlockList', contentLength: 7 },
      { api: 'SetBlobTier', contentLength: 5, accessTier: 'Cool', previousTier: 'Hot' },
      { api: 'CopyBlob', contentLength: 5, contentType: 'text/css' },
    ])
  })

  it('is known from a read that passed by', async () => {
    const { uploads, direct, events } = await openBlobs()
    await direct.getBlockBlobClient('b').upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
    await uploads.getBlockBlobClient('b').download(1, 2)
    await uploads.getBlockBlobClient('b').setAccessTier('Cool')
    expect((await events())[0]?.data).toMatchObject({
      contentLength: 5,
      contentType: 'text/css',
    })
  })

  it('is not told from what it was before', async () => {
    const { uploads, events } = await openBlobs()
    const blob = uploads.getBlockBlobClient('b')
    await blob.upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
    await blob.setHTTPHeaders({ blobContentType: 'text/plain' })
    await blob.delete()
    expect((await events()).at(-1)?.data).not.toHaveProperty('contentType')
  })
})

const later = () => new Date(Date.now() + 3_600_000)

/** A client of the container with a shared access signature alone. */
async function signed(uploads: ContainerClient, permissions: ContainerSASPermissions): Promise<ContainerClient> {
  const url = await uploads.generateSasUrl({ permissions, expiresOn: later() })
  const [, query] = url.split('?')
  const service = new BlobServiceClient(
    `${uploads.url.replace('/uploads', '')}?${query}`,
    new AnonymousCredential(),
    clientOptions,
  )
  return service.getContainerClient('uploads')
}

describe('the events of an account', () => {
  it('pass the filters of an event subscription', async () => {
    const { uploads, events } = await openBlobs(
      {},
      {
        subjectBeginsWith: '/blobServices/default/containers/uploads/blobs/in/',
        subjectEndsWith: '.csv',
        includedEventTypes: ['Microsoft.Storage.BlobCreated'],
        advancedFilters: [{ operatorType: 'StringIn', key: 'data.api', values: ['PutBlockList'] }],
      },
    )
    const inBlocks = { blockSize: 10, maxSingleShotSize: 10 }
    await uploads.getBlockBlobClient('in/a.csv').upload('hello', 5)
    await uploads.getBlockBlobClient('in/b.csv').uploadData(Buffer.alloc(20), inBlocks)
    await uploads.getBlockBlobClient('out/c.csv').uploadData(Buffer.alloc(20), inBlocks)
    await uploads.getBlockBlobClient('in/d.txt').uploadData(Buffer.alloc(20), inBlocks)
    await uploads.getBlockBlobClient('in/b.csv').delete()
    expect(shown(await events())).toEqual([['BlobCreated', 'PutBlockList', 'in/b.csv']])
  })

  it('go to event subscriptions of its system topic too, which ARM made', async () => {
    const { emulator, uploads, subscriber } = await openBlobs({
      eventSubscriptions: [],
      clients: [{ roles: [{ role: 'Contributor' }] }],
    })
    const topic = accountId.replace(/\/providers\/.*/, '/providers/Microsoft.EventGrid/systemTopics/blobs')
    const put = (path: string, body: object) =>
      sendArm(emulator, path, { method: 'PUT', body: JSON.stringify(body) }).then(({ status }) => status)
    expect(
      await put(topic, {
        location: 'westeurope',
        properties: { source: accountId, topicType: 'Microsoft.Storage.StorageAccounts' },
      }),
    ).toBe(200)
    const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://subscriber.example/' } }
    expect(await put(`${topic}/eventSubscriptions/nested`, { properties: { destination } })).toBe(201)
    const extension = `${accountId}/providers/Microsoft.EventGrid/eventSubscriptions/own`
    expect(await put(extension, { properties: { destination } })).toBe(201)
    await emulator.idle()
    await uploads.getBlockBlobClient('b').upload('hello', 5)
    await emulator.settled()
    expect(subscriber.deliveries()).toHaveLength(2)
  })

  it('are raised before the client has its answer', async () => {
    const { emulator, uploads } = await openBlobs({ retrySchedule: [60_000], clock: new ManualClock() })
    emulator.failNext({ route: 'delivery', status: 500 })
    await uploads.getBlockBlobClient('b').upload('hello', 5)
    expect(emulator.pending).toBe(1)
  })

  it('have growing sequencers, after a restart with a state file too', async () => {
    const state = `${await temporaryFolder()}/state`
    const clock = new ManualClock()
    const first = await openBlobs({ state, clock })
    const blob = first.uploads.getBlockBlobClient('b')
    for (const text of ['one', 'two']) await blob.upload(text, 3)
    const before = (await first.events()).map(({ data }) => String(data.sequencer))
    await first.emulator.close()
    const second = await openBlobs({ state, clock })
    await second.uploads.getBlockBlobClient('b').upload('six', 3)
    const after = (await second.events()).map(({ data }) => String(data.sequencer))
    const all = [...before, ...after]
    expect(all).toHaveLength(3)
    expect(all.toSorted()).toEqual(all)
    expect(new Set(all).size).toBe(3)
  })

  it('are recorded with the request, whose signature is not shown', async () => {
    const { emulator, uploads } = await openBlobs({ eventSubscriptions: [] })
    const client = await signed(uploads, ContainerSASPermissions.parse('w'))
    await client.getBlockBlobClient('b').upload('hello', 5)
    const [record] = emulator.records.requests.filter(({ route }) => route === 'blob')
    const first = [{ type: 'Microsoft.Storage.BlobCreated', id: guid }]
    expect(record).toMatchObject({
      method: 'PUT',
      status: 201,
      url: expect.stringMatching(/^\/devstoreaccount1\/uploads\/b\?.*sig=\(redacted\)/),
      publish: { topic: account, events: { count: 1, first }, unwanted: { count: 1, first } },
    })
  })
})

describe('the blob endpoint', () => {
  it('refuses writes, as a busy Azure Storage does, while too many events are pending', async () => {
    const { emulator, uploads } = await openBlobs({ maxPending: 1, clock: new ManualClock() })
    emulator.failNext({ route: 'delivery', status: 500 })
    await uploads.getBlockBlobClient('b').upload('hello', 5)
    await expect(uploads.getBlockBlobClient('c').upload('hello', 5)).rejects.toMatchObject({
      statusCode: 503,
      code: 'ServerBusy',
    })
    expect(await uploads.getBlockBlobClient('c').exists()).toBe(false)
  })

  it.each([
    {
      what: 'a status',
      fault: { status: 409, code: 'LeaseIdMissing', message: 'a <lease>' },
      fails: { statusCode: 409, code: 'LeaseIdMissing' },
    },
    { what: 'a status without a code', fault: { status: 500 }, fails: { statusCode: 500, code: 'InternalError' } },
    { what: 'a lost connection', fault: { drop: true }, fails: { code: 'ECONNRESET' } },
  ])('fails by $what when a test asks for it', async ({ fault, fails }) => {
    const { emulator, uploads, events } = await openBlobs()
    emulator.failNext({ route: 'blob', ...fault })
    await expect(uploads.getBlockBlobClient('b').upload('hello', 5)).rejects.toMatchObject(fails)
    expect(await events()).toEqual([])
    await uploads.getBlockBlobClient('b').upload('hello', 5)
    expect(await events()).toHaveLength(1)
  })
})
