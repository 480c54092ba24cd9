/** One blob endpoint for all accounts: who is meant by path or host name, copies between accounts, and accounts that are not there. */
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { text } from 'node:stream/consumers'
import {
  BlobSASPermissions,
  BlobServiceClient,
  ContainerSASPermissions,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { expect, it } from 'vitest'
import { freePort } from '../../../../test/support/free-port.ts'
import type { EventGridEmulatorOptions } from '../../src/index.ts'
import { azuriteAccount as account, azuriteKey, otherAccount } from '../support/azurite-process.ts'
import { accountId, type Blobs, clientOptions, openBlobs, shareBlobs } from './open-blobs.ts'

shareBlobs()

const otherId = accountId.replace(account, otherAccount)

/** The endpoint of both accounts, whose events a webhook gets. */
async function openBoth(options: EventGridEmulatorOptions = {}) {
  const scopes = [accountId, otherId]
  const eventSubscriptions = scopes.map((scope) => {
    const properties = { eventDeliverySchema: 'CloudEventSchemaV1_0' }
    return { name: 'app', scope, endpoint: 'https://subscriber.example/', properties }
  })
  const both = await openBlobs({ eventSubscriptions, ...options }, {}, [account, otherAccount])
  const endpoint = both.emulator.storage()[1]?.blobEndpoint ?? ''
  const other = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(otherAccount, azuriteKey), clientOptions)
  const copies = other.getContainerClient('copies')
  await copies.createIfNotExists()
  return { ...both, copies }
}

it('has one port for all accounts, blobPort', async () => {
  const blobPort = await freePort()
  const { emulator } = await openBoth({ blobPort })
  expect(emulator.storage().map(({ blobEndpoint, httpsBlobEndpoint }) => [blobEndpoint, httpsBlobEndpoint])).toEqual(
    [account, otherAccount].map((name) => [
      `http://127.0.0.1:${blobPort}/${name}`,
      `https://127.0.0.1:${blobPort}/${name}`,
    ]),
  )
})

const readable = { permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 3_600_000) }

it.each<
  [how: string, copy: (from: string, to: ReturnType<Blobs['uploads']['getBlockBlobClient']>) => Promise<unknown>]
>([
  ['Copy Blob', async (from, to) => (await to.beginCopyFromURL(from)).pollUntilDone()],
  ['Copy Blob From URL', (from, to) => to.syncCopyFromURL(from)],
])(
  '%s from another account raises BlobCreated at the destination, with what is known of the source',
  async (_how, copy) => {
    const { uploads, copies, events } = await openBoth()
    const source = uploads.getBlockBlobClient('source')
    await source.upload('hello', 5, { blobHTTPHeaders: { blobContentType: 'text/css' } })
    await events()
    await copy(await source.generateSasUrl(readable), copies.getBlockBlobClient('copy'))
    const raised = await events()
    expect(raised).toMatchObject([
      {
        type: 'Microsoft.Storage.BlobCreated',
        source: otherId,
        subject: '/blobServices/default/containers/copies/blobs/copy',
        data: { api: 'CopyBlob', contentLength: 5, contentType: 'text/css', url: copies.getBlobClient('copy').url },
      },
    ])
  },
)

/** Puts a blob by hand, with a signature alone. */
async function put(blobs: Blobs, host: string, path: string, protocol = 'http') {
  const { port } = new URL(blobs.storage.blobEndpoint)
  const signed = await blobs.uploads.generateSasUrl({
    permissions: ContainerSASPermissions.parse('w'),
    expiresOn: readable.expiresOn,
  })
  const sent = (protocol === 'https' ? https : http).request({
    ...(protocol === 'https' && { ca: blobs.emulator.ca, servername: host }),
    ...{ host: '127.0.0.1', port, method: 'PUT', path: `${path}${new URL(signed).search}` },
    headers: { host: `${host}:${port}`, 'x-ms-blob-type': 'BlockBlob', 'content-length': 5 },
  })
  const [answer] = await once(sent.end('hello'), 'response')
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer), host: `${host}:${port}` }
}

it.each([
  { what: 'the first label of the host', host: `${account}.blob.localhost`, path: '', base: '' },
  {
    what: 'the first label of the host, over https',
    host: `${account}.blob.localhost`,
    path: '',
    base: '',
    protocol: 'https',
  },
  { what: 'the path, at an address', host: '127.0.0.1', path: `/${account}`, base: `/${account}` },
  { what: 'the path, at a name', host: 'emulator', path: `/${account}`, base: `/${account}` },
  {
    what: 'the path, at a name with dots',
    host: 'azurite.dev.svc.cluster.local',
    path: `/${account}`,
    base: `/${account}`,
  },
  { what: 'the path, at the host of Docker', host: 'host.docker.internal', path: `/${account}`, base: `/${account}` },
])('takes $what for the account', async ({ host, path, base, protocol = 'http' }) => {
  const blobs = await openBlobs()
  const answer = await put(blobs, host, `${path}/uploads/b`, protocol)
  expect([answer.status, answer.body]).toEqual([201, ''])
  expect(await blobs.events()).toMatchObject([
    {
      type: 'Microsoft.Storage.BlobCreated',
      subject: '/blobServices/default/containers/uploads/blobs/b',
      data: { url: `${protocol}://${answer.host}${base}/uploads/b` },
    },
  ])
})

it.each([
  {
    what: 'in the path',
    host: '127.0.0.1',
    path: '/another/uploads/b',
    said: 'host "127.0.0.1" nor the path "another"',
  },
  {
    what: 'in the host',
    host: 'another.blob.localhost',
    path: '/uploads/b',
    said: 'host "another.blob.localhost" nor the path "uploads"',
  },
  {
    what: 'of Azurite that is not in storage',
    host: 'x',
    path: `/${otherAccount}/uploads/b`,
    said: `nor the path "${otherAccount}"`,
  },
])('says so where it does not know the account $what', async ({ host, path, said }) => {
  const blobs = await openBlobs()
  const { status, headers, body } = await put(blobs, host, path)
  expect(status).toBe(404)
  expect(headers).toMatchObject({ 'content-type': 'application/xml', 'x-ms-error-code': 'ResourceNotFound' })
  expect(body).toContain('<Error><Code>ResourceNotFound</Code><Message>')
  expect(body).toContain(said)
  expect(body).toContain(`storage names ${account}.`)
  expect(await blobs.events()).toEqual([])
  expect(blobs.emulator.records.requests.last).toMatchObject({ route: 'blob', status: 404, code: 'ResourceNotFound' })
})
