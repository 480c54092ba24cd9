import { createServer, type Server } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../../../src/core/secret.ts'
import { forwardedMetadata } from '../../../../src/dispatch/handler.ts'
import { createAppChannel } from '../../../../src/sidecar/host/app/app-channel.ts'
import { listen } from '../../../support/listen.ts'

async function open(server: Server, maxConcurrency = 10, onGone = () => {}) {
  const port = await listen(server)
  const channel = createAppChannel({ address: '127.0.0.1', port, maxConcurrency, onGone })
  onTestFinished(() => channel.close())
  return channel
}

const eventWith = (metadata: Readonly<Record<string, string>> = {}, signal = AbortSignal.timeout(10_000)) => ({
  data: Buffer.from('{"id":"1"}'),
  metadata,
  signal,
})

it.each([
  { status: 200, expected: 'taken' },
  { status: 204, expected: 'taken' },
  { status: 300, expected: 'the application answered 300' },
  { status: 302, expected: 'the application answered 302' },
  { status: 404, expected: 'the application answered 404' },
  { status: 503, expected: 'the application answered 503' },
])('takes $status for what Dapr takes it for', async ({ status, expected }) => {
  const channel = await open(
    createServer((_request, response) => response.writeHead(status, { location: '/elsewhere' }).end()),
  )
  const outcome = await channel.deliver('orders', eventWith()).then(
    () => 'taken',
    (error: Error) => error.message,
  )
  expect(outcome).toBe(expected)
})

it.each([
  { status: 200, kind: 'subscribed' },
  { status: 405, kind: 'subscribed' },
  { status: 404, kind: 'refused' },
  { status: 500, kind: 'refused' },
])('reads $status to OPTIONS as $kind', async ({ status, kind }) => {
  const channel = await open(createServer((_request, response) => response.writeHead(status).end()))
  expect(await channel.probe('orders')).toMatchObject({ kind })
})

it('hands on what tells of the event and of its trace, and nothing else', async () => {
  const seen: string[] = []
  const channel = await open(
    createServer((request, response) => {
      seen.push(...Object.keys(request.headers))
      response.end()
    }),
  )
  const metadata = {
    'aeg-event-type': 'Notification',
    traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
    tracestate: 'a=1',
    authorization: 'x',
    'content-length': '1',
    other: 'y',
  }
  const cloudEvent = { specversion: '1.0', id: '1', source: '/', type: 't', data: null }
  const attributes = ['tenant', 'content-length', 'host', 'transfer-encoding']
  const declared = Object.fromEntries(attributes.map((name) => [name, '7']))
  const given = forwardedMetadata({
    cloudEvent,
    metadata: { ...metadata, ...declared, 'aeg-sas-key': 'x' },
    attributes,
  })
  await channel.deliver('orders', eventWith(given))
  const ofHttp = ['connection', 'content-length', 'content-type', 'host']
  expect(seen.sort()).toEqual(['aeg-event-type', ...ofHttp, 'tenant', 'traceparent', 'tracestate'])
})

it.each([
  { route: 'orders', expected: '/orders' },
  { route: '/from//Event Grid/../shop', expected: '/from/shop' },
  { route: 'Straße', expected: '/Stra%C3%9Fe' },
  { route: '\ud800', expected: '/%EF%BF%BD' },
])('posts to $expected for the route $route', async ({ route, expected }) => {
  const paths: (string | undefined)[] = []
  const channel = await open(
    createServer((request, response) => {
      paths.push(request.url)
      response.end()
    }),
  )
  await channel.deliver(route, eventWith())
  expect(paths).toEqual([expected])
})

it('sends an event again at once when a kept connection turns out to be closed', async () => {
  let posts = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    posts++
    // The second request of the first connection finds it closed.
    if (posts === 2) request.socket.resetAndDestroy()
    else response.end()
  })
  const channel = await open(server)
  await channel.deliver('orders', eventWith())
  await channel.deliver('orders', eventWith())
  expect(posts).toBe(3)
})

it('sends an event again by itself once only', async () => {
  const first = Promise.withResolvers<void>()
  let posts = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    posts++
    if (posts > 2) return void request.socket.resetAndDestroy()
    // Each of the first two has a connection of its own then.
    if (posts === 2) first.resolve()
    await first.promise
    response.end()
  })
  const channel = await open(server)
  await Promise.all([channel.deliver('orders', eventWith()), channel.deliver('orders', eventWith())])
  await expect(channel.deliver('orders', eventWith())).rejects.toThrow('could not be reached (ECONNRESET)')
  expect(posts).toBe(4)
})

it('does not wait for the end of a long answer', async () => {
  const channel = await open(createServer((_request, response) => response.write(Buffer.alloc(65_537))))
  await channel.deliver('orders', eventWith())
})

it('takes an application that leaves its questions unanswered for unwell, and for one that does not subscribe', async () => {
  const channel = await open(createServer(() => {}))
  const answers = await Promise.all([channel.healthy('/'), channel.probe('orders')])
  expect(answers).toEqual([false, { kind: 'silent' }])
})

it('leaves no connection open that only showed that somebody listens', async () => {
  const closed = Promise.withResolvers<void>()
  const server = createServer().on('connection', (socket) => socket.on('close', () => closed.resolve()))
  const channel = await open(server)
  expect(await channel.reachable()).toBe(true)
  await closed.promise
})

it('does not send an event again by itself that the application has answered, be it in part', async () => {
  let posts = 0
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => {
    posts++
    if (posts === 1) return void response.end()
    response.writeHead(200, { 'content-length': 100 }).write('half', () => response.socket?.resetAndDestroy())
  })
  const channel = await open(server)
  await channel.deliver('orders', eventWith())
  await expect(channel.deliver('orders', eventWith())).rejects.toThrow('could not be reached')
  expect(posts).toBe(2)
})

it('calls the application gone where nobody listens, not where a connection breaks', async () => {
  let gone = 0
  let posts = 0
  const server = createServer((request) => {
    posts++
    request.socket.resetAndDestroy()
  })
  const channel = await open(server, 10, () => gone++)
  await expect(channel.deliver('orders', eventWith())).rejects.toThrow('could not be reached')
  expect({ gone, posts }).toEqual({ gone: 0, posts: 1 })
  await new Promise((closed) => server.close(closed))
  await expect(channel.deliver('orders', eventWith())).rejects.toThrow('could not be reached')
  expect(gone).toBe(1)
})

it('calls the application gone also where there is no way to its address', async () => {
  let gone = 0
  const channel = createAppChannel({ address: '224.0.0.1', port: 9, maxConcurrency: 1, onGone: () => gone++ })
  onTestFinished(() => channel.close())
  await expect(channel.deliver('orders', eventWith())).rejects.toThrow('could not be reached')
  expect(gone).toBe(1)
})

it('sends no more requests at once than it is told', async () => {
  const held: (() => void)[] = []
  let most = 0
  let arrived = () => {}
  const server = createServer((_request, response) => {
    held.push(() => void response.end())
    most = Math.max(most, held.length)
    arrived()
  })
  const channel = await open(server, 2)
  const deliveries = Promise.all(Array.from({ length: 6 }, () => channel.deliver('orders', eventWith())))
  for (let released = 0; released < 6; ) {
    while (held.length < 2) await new Promise<void>((resolve) => (arrived = resolve))
    // Whatever else is on its way has arrived once another connection has been made and closed.
    await channel.reachable()
    released += held.length
    for (const release of held.splice(0)) release()
  }
  await deliveries
  expect(most).toBe(2)
})

it('ends its questions at its end, before their time is over', async () => {
  const [left, channel] = await Promise.all([open(createServer(() => {})), open(createServer(() => {}))])
  const later = left.probe('orders').then(() => 'the question before it')
  const asked = channel.probe('orders').then(() => 'the question')
  channel.close()
  expect(await Promise.race([later, asked])).toBe('the question')
})

it('asks the application while it has as many events as it takes at once', async () => {
  const arrived = Promise.withResolvers<void>()
  const channel = await open(
    createServer((request, response) => {
      if (request.method === 'POST') arrived.resolve()
      else response.end()
    }),
    1,
  )
  const giveUp = new AbortController()
  const delivery = channel.deliver('orders', eventWith({}, giveUp.signal))
  await arrived.promise
  const answers = Promise.all([channel.healthy('/'), channel.probe('orders')])
  // Neither question waits for the event to end.
  expect(await Promise.race([answers, delivery])).toEqual([true, { kind: 'subscribed' }])
  giveUp.abort()
  await expect(delivery).rejects.toThrow('did not answer in time')
})

it.each([
  { route: undefined, expected: '/orders' },
  { route: '', expected: '/orders' },
  { route: 'shop', expected: '/shop' },
  { route: '/shop/new', expected: '/shop/new' },
])('finds the events of a component at $expected for the route $route', async ({ route, expected }) => {
  const channel = await open(createServer())
  expect(channel.addressOf({ name: 'orders', route })).toBe(expected)
  expect(channel.refusal(expected, 404)).toContain(`OPTIONS ${expected} with 404`)
})

it('sends events and questions with the method, the type and the token that Dapr has for each', async () => {
  const asked: string[] = []
  const port = await listen(
    createServer(({ method, url, headers }, response) => {
      asked.push(`${method} ${url} ${headers['dapr-api-token']} ${headers['content-type']}`)
      response.end()
    }),
  )
  const channel = createAppChannel({ address: '127.0.0.1', port, maxConcurrency: 1, token: new Secret('right') })
  onTestFinished(() => channel.close())
  await channel.probe('orders')
  await channel.healthy('well')
  await channel.deliver('orders', eventWith({ 'content-type': 'text/plain' }))
  expect(asked).toEqual([
    'OPTIONS /orders right application/json',
    'GET /well right undefined',
    'POST /orders right application/json',
  ])
})

it.each([
  { status: 199, isWell: false },
  { status: 200, isWell: true },
  { status: 299, isWell: true },
  { status: 300, isWell: false },
  { status: 500, isWell: false },
])('takes $status to GET for well: $isWell', async ({ status, isWell }) => {
  const channel = await open(
    createServer((_request, response) => {
      // Node answers 1xx by itself only.
      response.socket?.end(`HTTP/1.1 ${status} It\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    }),
  )
  expect(await channel.healthy('/')).toBe(isWell)
})

it('finds an application that is not there neither reachable, nor well, nor subscribed', async () => {
  const server = createServer()
  const channel = await open(server)
  await new Promise((closed) => server.close(closed))
  expect(await channel.probe('orders')).toEqual({ kind: 'unreachable', why: 'ECONNREFUSED' })
  expect([await channel.reachable(), await channel.healthy('/')]).toEqual([false, false])
})
