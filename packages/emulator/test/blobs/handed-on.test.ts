/** A blob endpoint hands requests on as they are, in pieces, and ends both sides when one breaks off. */
import { once } from 'node:events'
import {
  Agent,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { azuriteAccount as account } from '../support/azurite-process.ts'
import { openBlobs, shareBlobs } from './open-blobs.ts'

shareBlobs()

const megabyte = 1024 * 1024
/** More than all buffers on the way hold. */
const size = 80 * megabyte
const path = `/${account}/uploads/b`
const put = { method: 'PUT', path, headers: { 'x-ms-blob-type': 'BlockBlob' } } as const

/** An emulator in front of a server of the test that plays Azurite. */
async function openFront(azurite: RequestListener) {
  const server = createServer(azurite)
  return openPort(await listen(server))
}

async function openPort(azurite: number) {
  const emulator = await startEmulator({ storage: [{ account, azurite: `http://127.0.0.1:${azurite}` }] })
  const port = Number(new URL(emulator.storage()[0]?.blobEndpoint ?? '').port)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const open = (options: RequestOptions) => request({ host: '127.0.0.1', port, agent, ...options })
  const raised = () => emulator.records.requests.filter(({ route, status }) => route === 'blob' && status < 300).length
  return { emulator, port, open, raised }
}

function headOf(sent: ReturnType<typeof request>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
  })
}

/** An answer with its body. */
async function answerOf(sent: ReturnType<typeof request>) {
  const answer = await headOf(sent)
  return {
    status: answer.statusCode,
    headers: answer.headers,
    rawHeaders: answer.rawHeaders,
    body: await buffer(answer),
  }
}

describe('80 MB', () => {
  it('pass in both directions, unchanged, and raise their length', async () => {
    const { uploads, events } = await openBlobs()
    const piece = Buffer.alloc(megabyte, 'a1b2')
    const blob = uploads.getBlockBlobClient('large')
    await blob.upload(() => Readable.from(Array(size / megabyte).fill(piece)), size)
    expect((await events()).map(({ data }) => data)).toMatchObject([{ api: 'PutBlob', contentLength: size }])
    let [bytes, equal] = [0, 0]
    for await (const got of (await blob.download()).readableStreamBody ?? []) {
      const part = Buffer.from(got)
      if (part.equals(Buffer.alloc(part.length, piece.subarray(bytes % 4, (bytes % 4) + 4)))) equal += part.length
      bytes += part.length
    }
    expect([bytes, equal]).toEqual([size, size])
  })

  it('that a slow Azurite takes are not held', async () => {
    const seen = { sent: 0, taken: 0, most: 0 }
    const { open } = await openFront(async (got, response) => {
      for await (const piece of got) {
        seen.taken += piece.length
        for (let turn = 0; turn < 3; turn++) await setImmediate()
      }
      response.writeHead(201).end()
    })
    const sent = open({ ...put, headers: { ...put.headers, 'content-length': size } })
    const answered = answerOf(sent)
    await sendAll(sent, seen)
    expect((await answered).status).toBe(201)
    expect(seen.taken).toBe(size)
    // What the system's own buffers hold is in it.
    expect(seen.most).toBeLessThan(40 * megabyte)
  })

  it('that a slow client takes are not held', async () => {
    const seen = { sent: 0, taken: 0, most: 0 }
    const { open } = await openFront(async (_got, response) => {
      response.writeHead(200, { 'content-length': size })
      await sendAll(response, seen)
    })
    const sent = open({ path }).end()
    const answer = await headOf(sent)
    for await (const piece of answer) {
      seen.taken += piece.length
      for (let turn = 0; turn < 3; turn++) await setImmediate()
    }
    expect(seen.taken).toBe(size)
    expect(seen.most).toBeLessThan(40 * megabyte)
  })
})

/** Sends 80 MB as fast as they are taken, and notes the most that were on their way. */
async function sendAll(to: NodeJS.WritableStream, seen: { sent: number; taken: number; most: number }) {
  const piece = Buffer.alloc(megabyte)
  for (; seen.sent < size; seen.sent += piece.length) {
    if (!to.write(piece)) await once(to, 'drain')
    seen.most = Math.max(seen.most, seen.sent - seen.taken)
  }
  to.end()
}

describe('a request', () => {
  it('keeps method, path, query, headers and body, and so does its answer', async () => {
    let seen: { method?: string | undefined; url?: string | undefined; rawHeaders: string[]; body: Buffer } | undefined
    const { open, port } = await openFront(async (got, response) => {
      seen = { method: got.method, url: got.url, rawHeaders: got.rawHeaders, body: await buffer(got) }
      response.sendDate = false
      response.writeHead(201, 'Made', [
        'X-Ms-Ünit'.replace('Ü', 'U'),
        'a',
        'x-ms-unit',
        'b',
        'ETag',
        '"0x1"',
        'Content-Length',
        '2',
      ])
      response.end('ok')
    })
    const target = `${path}%20%2f//x?comp=block&blockid=QQ%3D%3D&sig=a%2Fb+c&&x`
    const headers = [
      'Host',
      `127.0.0.1:${port}`,
      'X-MS-Date',
      'today',
      'x-ms-meta-A',
      '1',
      'x-ms-meta-a',
      ' 2',
      'Content-Length',
      '5',
    ]
    const sent = open({ method: 'PUT', path: target, headers })
    const answer = await headOf(sent.end('hello'))
    expect(seen).toMatchObject({ method: 'PUT', url: target, body: Buffer.from('hello') })
    expect(seen?.rawHeaders.slice(0, 10)).toEqual(
      [...headers.slice(0, 7), '2', ...headers.slice(8)].map((text) => text.trim()),
    )
    expect(seen?.rawHeaders.slice(10).map((text) => text.toLowerCase())).toEqual(['connection', 'keep-alive'])
    expect(answer.rawHeaders.slice(0, 8)).toEqual([
      'X-Ms-Unit',
      'a',
      'x-ms-unit',
      'b',
      'ETag',
      '"0x1"',
      'Content-Length',
      '2',
    ])
    expect([answer.statusCode, answer.statusMessage, (await buffer(answer)).toString()]).toEqual([201, 'Made', 'ok'])
  })

  it.each([
    { method: 'GET', length: undefined },
    { method: 'DELETE', length: undefined },
    { method: 'PUT', length: '0' },
    { method: 'POST', length: '0' },
  ])('$method without a body is sent without one', async ({ method, length }) => {
    const { port } = await openFront((got, response) => {
      response.end(JSON.stringify([got.headers['content-length'] ?? '', got.headers['transfer-encoding'] ?? '']))
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect((await buffer(socket)).toString()).toContain(JSON.stringify([length ?? '', '']))
  })

  it('by a name with dots reaches Azurite by another, which it would take for an account, but a copy, and so do questions', async () => {
    const seen: string[] = []
    const { open } = await openFront((got, response) => {
      seen.push(`${got.method} ${got.headers.host}`)
      response.writeHead(got.method === 'PUT' ? 201 : 202).end()
    })
    const host = 'azurite.dev.svc:10000'
    const copied = { host, 'x-ms-copy-source': `http://${host}${path}`, 'content-length': 0 }
    await answerOf(open({ method: 'DELETE', path: `${path}?sig=x`, headers: { host } }).end())
    await answerOf(open({ method: 'PUT', path: `${path}?comp=block&blockid=QQ==`, headers: copied }).end())
    await answerOf(open({ path, headers: { host: '[::1]:1' } }).end())
    expect(seen).toEqual(['HEAD localhost', 'DELETE localhost', `PUT ${host}`, 'GET [::1]:1'])
  })

  it('in chunks stays one', async () => {
    const { open } = await openFront(async (got, response) => {
      response.end(`${got.headers['transfer-encoding']} ${await buffer(got)}`)
    })
    const sent = open({ method: 'PUT', path })
    sent.write('one ')
    sent.end('two')
    expect((await answerOf(sent)).body.toString()).toBe('chunked one two')
  })

  it('asks before it sends its body, and sends none where Azurite does not want it', async () => {
    const server = createServer(async (got, response) => {
      response.writeHead(201).end(await buffer(got))
    })
    server.on('checkContinue', (got: IncomingMessage, response) => {
      if (got.url?.endsWith('no')) return response.writeHead(403, { 'content-length': 2 }).end('no')
      response.writeContinue()
      server.emit('request', got, response)
    })
    const { open } = await openPort(await listen(server))
    const asking = { ...put, headers: { expect: '100-continue', 'content-length': 5 } }
    const taken = open(asking)
    taken.flushHeaders()
    taken.once('continue', () => taken.end('hello'))
    expect(await answerOf(taken)).toMatchObject({ status: 201, body: Buffer.from('hello') })
    const refused = open({ ...asking, path: `${path}no` })
    refused.flushHeaders()
    refused.once('continue', () => refused.destroy(new Error('the body was asked for')))
    expect(await answerOf(refused)).toMatchObject({ status: 403, body: Buffer.from('no') })
    refused.destroy()
  })

  it('is not sent to where an answer points', async () => {
    const { open } = await openFront((_got, response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:1/elsewhere' }).end()
    })
    expect(await answerOf(open({ path }).end())).toMatchObject({
      status: 307,
      headers: { location: 'http://127.0.0.1:1/elsewhere' },
    })
  })

  it('of many goes over one connection of the client', async () => {
    const { open } = await openFront((_got, response) => response.end('ok'))
    const ports: (number | undefined)[] = []
    for (let each = 0; each < 3; each++) {
      const sent = open({ path }).end()
      await answerOf(sent)
      ports.push(sent.socket?.localPort)
    }
    expect(new Set(ports).size).toBe(1)
  })

  it('for a part, or for the head alone, gets that', async () => {
    const { uploads } = await openBlobs()
    const blob = uploads.getBlockBlobClient('b')
    await blob.upload('0123456789', 10)
    expect((await blob.downloadToBuffer(3, 4)).toString()).toBe('3456')
    expect(await blob.getProperties()).toMatchObject({ contentLength: 10, blobType: 'BlockBlob' })
  })
})

describe('where one side breaks off', () => {
  it('a client in the middle of an upload, Azurite sees it, and nothing is raised', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<boolean>()
    const { promise: began, resolve: begin } = Promise.withResolvers<void>()
    const { open, raised } = await openFront((got) => {
      got.once('data', () => begin())
      got.once('close', () => resolve(got.complete))
    })
    const sent = open({ ...put, headers: { ...put.headers, 'content-length': 1000 } })
    sent.on('error', () => {})
    sent.write('begin')
    await began
    sent.destroy()
    expect(await gone).toBe(false)
    expect(raised()).toBe(0)
  })

  it('a client that waits for the answer to its upload, the upload raises its event all the same', async () => {
    const { promise: came, resolve: come } = Promise.withResolvers<() => void>()
    const { open, emulator } = await openFront(async (got, response) => {
      await buffer(got)
      come(() => response.writeHead(201).end())
    })
    const sent = open({ ...put, headers: { ...put.headers, 'content-length': 5 } }).end('hello')
    sent.on('error', () => {})
    const answer = await came
    const closed = new Promise((resolve) => void sent.once('close', resolve))
    sent.destroy()
    await closed
    answer()
    const record = await emulator.records.requests.waitFor(({ route }) => route === 'blob')
    expect(record).toMatchObject({ status: 201, publish: { events: { count: 1 } } })
  })

  it('a client in the middle of a download, Azurite sees it', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<boolean>()
    const { open } = await openFront((_got, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('begin')
      response.once('close', () => resolve(response.writableFinished))
    })
    const sent = open({ path }).end()
    const answer = await headOf(sent)
    await once(answer, 'data')
    sent.destroy()
    expect(await gone).toBe(false)
  })

  it('Azurite in the middle of a download, the client sees it', async () => {
    const { open } = await openFront((_got, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('begin', () => response.destroy())
    })
    const sent = open({ path }).end()
    const answer = await headOf(sent)
    await expect(buffer(answer)).rejects.toMatchObject({ code: 'ECONNRESET' })
  })

  it.each<{ readonly when: string; readonly azurite: (socket: Socket) => void }>([
    { when: 'before the upload', azurite: (socket) => socket.destroy() },
    { when: 'in the middle of the upload', azurite: (socket) => socket.once('data', () => socket.destroy()) },
    { when: 'with what is no HTTP', azurite: (socket) => socket.once('data', () => socket.end('hello\r\n\r\n')) },
  ])('Azurite $when, the client gets an answer', async ({ azurite }) => {
    const { open, raised } = await openPort(
      await listen(
        createTcpServer((socket) => {
          socket.on('error', () => {})
          azurite(socket)
        }),
      ),
    )
    const sent = open({ ...put, headers: { ...put.headers, 'content-length': 5 * megabyte } })
    sent.end(Buffer.alloc(5 * megabyte))
    expect(await answerOf(sent)).toMatchObject({ status: 502, headers: { 'x-ms-error-code': 'AzuriteUnavailable' } })
    expect(raised()).toBe(0)
  })

  it('nobody is at the address of Azurite, page and records say what to do', async () => {
    const { open, emulator } = await openPort(1)
    const { status, headers, body } = await answerOf(
      open({ ...put, headers: { ...put.headers, 'content-length': 5 } }).end('hello'),
    )
    const words = /no answer from Azurite at http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED .*Start Azurite there/
    expect(status).toBe(502)
    expect(headers).toMatchObject({ 'x-ms-error-code': 'AzuriteUnavailable', 'content-type': 'application/xml' })
    expect(body.toString()).toMatch(words)
    const record = emulator.records.requests.last
    expect(record).toMatchObject({
      route: 'blob',
      status: 502,
      message: expect.stringMatching(words),
      publish: { topic: account },
    })
  })

  it('the emulator ends, open requests end with it', async () => {
    const { promise: came, resolve: come } = Promise.withResolvers<void>()
    const { open, emulator } = await openFront(() => come())
    const sent = open({ path }).end()
    const failed = once(sent, 'response')
    await came
    await emulator.close()
    await expect(failed).rejects.toMatchObject({ code: 'ECONNRESET' })
  })
})

it.each([
  { what: 'what is no HTTP', text: 'hello\r\n\r\n', status: 400 },
  {
    what: 'headers that are too long',
    text: `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`,
    status: 400,
  },
  { what: 'a request without a host', text: 'GET / HTTP/1.1\r\n\r\n', status: 400 },
])('refuses $what', async ({ text, status }) => {
  const { port } = await openFront((_got, response) => response.end())
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  const said = (await buffer(socket)).toString()
  expect(said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
})
