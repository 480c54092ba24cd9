import { createServer, type RequestListener } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { listen } from '../../../../../test/support/listen.ts'
import { createWebhookClient } from '../../../src/delivery/send/webhook-client.ts'
import { ManualClock } from '../../../src/model/time/clock.ts'

/** A client, and what sends a request by it to a server that answers so. */
async function openClient(answer: RequestListener = (_request, response) => void response.end()) {
  const port = await listen(createServer(answer))
  const clock = new ManualClock()
  const client = createWebhookClient({
    clock,
    ingress: ({ hostname }) => (hostname === 'mapped.example' ? `http://127.0.0.1:${port}` : undefined),
    trustedCertificates: [],
  })
  onTestFinished(client.close)
  const url = new URL(`http://127.0.0.1:${port}/hook?code=1`)
  const send = (changes: Partial<Parameters<typeof client.send>[0]> = {}) =>
    client.send({ ...{ method: 'POST', url, headers: {}, timeoutMs: 30_000 }, ...changes })
  return { clock, client, url, send }
}

it('sends what it is given, the public host and the length of the body', async () => {
  const got: unknown[] = []
  const { send } = await openClient(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    got.push([
      request.method,
      request.url,
      request.headers.host,
      request.headers['content-length'],
      Buffer.concat(chunks).toString(),
    ])
    response.end()
  })
  await send({ url: new URL('https://mapped.example/hook?code=1'), body: 'é' })
  await send({ url: new URL('https://mapped.example:8443/'), method: 'OPTIONS' })
  expect(got).toEqual([
    ['POST', '/hook?code=1', 'mapped.example', '2', 'é'],
    ['OPTIONS', '/', 'mapped.example:8443', undefined, ''],
  ])
})

it('returns status, headers and the beginning of a body: 4,096 bytes, or 64 KiB where the answer is read', async () => {
  const { url, send } = await openClient((_request, response) => {
    response.writeHead(207, { 'set-cookie': ['a=1', 'b=2'], 'x-one': '1' }).end('x'.repeat(100_000))
  })
  const short = await send()
  expect(short).toMatchObject({ target: url.href, status: 207, headers: { 'set-cookie': 'a=1, b=2', 'x-one': '1' } })
  expect(short.body).toBe('x'.repeat(4_096))
  expect((await send({ readAnswer: true })).body).toBe('x'.repeat(65_536))
  expect(short).not.toHaveProperty('failure')
})

it('returns what came of an answer whose connection breaks', async () => {
  const { send } = await openClient((_request, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('begun', () => response.destroy())
  })
  expect(await send({ readAnswer: true })).toMatchObject({ status: 200, body: 'begun' })
})

it.each([204, 200])('takes an answer of %i without a body', async (status) => {
  const { send } = await openClient(
    (_request, response) => void response.writeHead(status, { 'content-length': 0 }).end(),
  )
  expect(await send()).toMatchObject({ status, body: '' })
})

it('has an attempt settled by its status, however long the body takes', async () => {
  let begun = () => {}
  const answered = new Promise<void>((resolve) => {
    begun = resolve
  })
  const { send } = await openClient((_request, response) => {
    response.writeHead(200)
    response.write('begun', begun)
  })
  const result = send()
  await answered
  expect(await result).toMatchObject({ status: 200, body: 'begun' })
})

it('ends a request without an answer at its time, however far a manual clock goes', async () => {
  const arrived = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const { clock, send } = await openClient((request) => {
    request.socket.once('close', () => closed.resolve())
    arrived.resolve()
  })
  const result = send({ timeoutMs: 500 })
  await arrived.promise
  await clock.advance(3_600_000)
  const { durationMs, failure } = await result
  expect(failure).toEqual({ outcome: 'TimedOut', message: 'No answer within 0.5 s.' })
  expect(durationMs).toBeGreaterThan(490)
  await closed.promise
})

it('gives a request up that is aborted, before it is sent too', async () => {
  const arrived = Promise.withResolvers<void>()
  let requests = 0
  const { send } = await openClient(() => {
    requests++
    arrived.resolve()
  })
  const gone = new AbortController()
  const result = send({ signal: gone.signal })
  await arrived.promise
  gone.abort()
  expect(await result).toMatchObject({ failure: { outcome: 'Aborted', message: 'The request was given up.' } })
  expect(await send({ signal: gone.signal })).toMatchObject({ failure: { outcome: 'Aborted' } })
  expect(requests).toBe(1)
})

it('fails a request that Node does not send', async () => {
  const { url, send } = await openClient()
  expect(await send({ headers: { 'a b': '1' } })).toEqual({
    target: url.href,
    durationMs: 0,
    failure: { outcome: 'Aborted', message: expect.stringContaining('a b') },
  })
})

it('reaches an IPv6 address', async () => {
  const server = createServer((request, response) => void response.end(request.headers.host))
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const { send } = await openClient()
  expect(await send({ url: new URL(`http://[::1]:${port}/`) })).toMatchObject({ status: 200, body: `[::1]:${port}` })
})
