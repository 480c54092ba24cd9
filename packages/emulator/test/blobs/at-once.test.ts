/** Calls of one blob that are under way at once: their events are in the order in which Azurite took them, and say what it took. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { azuriteAccount as account } from '../support/azurite-process.ts'
import { type BlobEvent, openBlobs, shareBlobs } from './open-blobs.ts'

shareBlobs()

/** A server that plays Azurite: it takes calls in the order in which their bodies are whole, and answers each after a random while. */
async function openSlowAnswers() {
  /** Bytes by entity tag, which is the number of the call. */
  const taken = new Map<string, number>()
  const blobs = new Map<string, { readonly tag: string; readonly bytes: number }>()
  const staged = new Map<string, number>()
  const serve = async (got: IncomingMessage, response: ServerResponse) => {
    const { pathname: name, searchParams: query } = new URL(got.url ?? '', 'http://azurite')
    const bytes = (await buffer(got)).length
    const source = got.headers['x-ms-copy-source']
    const before = blobs.get(name)
    const write = (length: number) => {
      const tag = String(taken.size + 1).padStart(6, '0')
      taken.set(tag, length)
      blobs.set(name, { tag, bytes: length })
    }
    if (query.get('comp') === 'block') staged.set(name, bytes)
    else if (query.get('comp') === 'blocklist') write(staged.get(name) ?? 0)
    else if (query.get('comp') === 'appendblock') write((before?.bytes ?? 0) + bytes)
    else if (typeof source === 'string') write(blobs.get(new URL(source).pathname)?.bytes ?? 0)
    else if (got.method === 'PUT') write(bytes)
    const { tag = '', bytes: length = 0 } = blobs.get(name) ?? {}
    await pause(Math.random() * 8)
    const isRead = got.method !== 'PUT'
    const headers = isRead ? { 'x-ms-blob-type': 'BlockBlob', 'content-length': length } : {}
    response.writeHead(isRead ? 200 : 201, { etag: `"${tag}"`, ...headers })
    response.end(got.method === 'GET' ? Buffer.alloc(length) : undefined)
  }
  const server = createServer((got, response) => void serve(got, response))
  return { azurite: `http://127.0.0.1:${await listen(server)}`, taken }
}

const byTag = (events: readonly BlobEvent[]) => events.map(({ data }) => [data.eTag, data.contentLength])

it('uploads, block lists, copies and appends raise what was taken, in that order', async () => {
  const { azurite, taken } = await openSlowAnswers()
  const { events, storage } = await openBlobs({ storage: [{ account, azurite }] })
  const call = (method: string, name: string, bytes: number, headers = {}) =>
    new Promise<void>((resolve, reject) => {
      const { origin } = new URL(storage.blobEndpoint)
      const sent = request(`${origin}/${account}/uploads/${name}`, { method, headers }, (answer) => {
        answer.resume().once('end', resolve)
      })
      sent.once('error', reject).end(Buffer.alloc(bytes))
    })
  const source = { 'x-ms-copy-source': `${storage.blobEndpoint}/uploads/source` }
  const whole = { 'x-ms-blob-type': 'BlockBlob' }
  const blocks = Buffer.from('<BlockList><Latest>YQ==</Latest></BlockList>')
  const commit = async (bytes: number) => {
    await call('PUT', 'b?comp=block&blockid=YQ==', bytes)
    await new Promise<void>((resolve) => {
      const { origin } = new URL(storage.blobEndpoint)
      const path = `${origin}/${account}/uploads/b?comp=blocklist`
      request(path, { method: 'PUT' }, (answer) => answer.resume().once('end', resolve)).end(blocks)
    })
  }
  await call('PUT', 'source', 7, whole)
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const bytes = 1 + Math.floor(Math.random() * 5000)
      if (index % 5 === 0) await call('PUT', 'b', 0, source)
      else if (index % 5 === 1) await call('PUT', 'source', bytes, whole)
      else if (index % 5 === 2) await commit(bytes)
      else if (index % 5 === 3) await call('PUT', 'b?comp=appendblock', bytes)
      else await call('PUT', 'b', bytes, whole)
      await call('GET', 'b', 0)
    }),
  )
  const raised = await events()
  const tags = raised.map(({ data }) => String(data.eTag))
  expect(raised.length).toBeGreaterThan(30)
  const own = (blob: string) =>
    raised.filter(({ subject }) => subject.endsWith(`/${blob}`)).map(({ data }) => data.eTag)
  expect(own('b')).toEqual(own('b').toSorted())
  expect(own('source')).toEqual(own('source').toSorted())
  const known = raised.filter(({ data }) => data.contentLength !== undefined)
  expect(known.length).toBeGreaterThan(20)
  expect(byTag(known)).toEqual(known.map(({ data }) => [data.eTag, taken.get(String(data.eTag))]))
  expect(new Set(tags).size).toBe(tags.length)
})

it('the last event of a blob is that of its content, by the real Azurite', async () => {
  const { uploads, events } = await openBlobs()
  const blob = uploads.getBlockBlobClient('b')
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      await blob.upload(Buffer.alloc(index), index)
      await blob.download()
    }),
  )
  const last = (await events()).at(-1)
  const { contentLength, etag } = await blob.getProperties()
  expect(last?.data).toMatchObject({ contentLength, eTag: etag?.replaceAll('"', '') })
})
