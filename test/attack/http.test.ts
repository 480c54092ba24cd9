import { METHODS } from 'node:http'
import { describe, expect, it } from 'vitest'
import { openListener, proofLine } from '../listener/open-listener.ts'
import {
  eventText,
  expectNoEffect,
  expectOneLine,
  open,
  openTarget,
  request,
  statuses,
  type Target,
  tokenHeader,
  tokenOf,
  useEmulator,
} from './target.ts'

const world = useEmulator()

/** Headers of a delivery that would be handled. */
const proven = ({ clientSecret, scope }: Target) => [
  'content-type: application/json',
  'aeg-subscription-name: ORDERS',
  `${tokenHeader}: ${tokenOf(clientSecret, scope)}`,
]

const post = 'POST /api/events HTTP/1.1'

/** The statuses of the answers to an event with our token, sent with this first line. */
async function sendProven(target: Target, firstLine: string, headers: readonly string[] = []) {
  const lines = [...proven(target), ...headers, 'connection: close']
  return statuses(await target.exchange(request(firstLine, lines, eventText('1'))))
}

/** Methods that Fastify has routes for. */
const routed: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'])

describe('a handshake of', () => {
  it.each([
    'evil.example.com',
    'eventgrid.azure.us',
    'eventgrid.azure.net.evil.example.com',
    'xeventgrid.azure.net',
    'https://eventgrid.azure.net',
    'eventgrid.azure.net:443',
    'eventgrid.azure.net, evil.example.com',
    '*',
    'null',
    'eventgrid\u00ad.azure.net',
  ])('the spoofed origin %s gets no consent', async (origin) => {
    const target = await openTarget(world())
    const answer = await target.exchange(
      request('OPTIONS /api/events HTTP/1.1', [`webhook-request-origin: ${origin}`, 'connection: close']),
    )
    expect(statuses(answer)).toEqual([200])
    expect(answer.toLowerCase()).not.toContain('webhook-allowed-origin')
    expectNoEffect(target)
  })
})

describe('a request that two readers could read in two ways closes the connection, and what it hides is not read:', () => {
  const chunked = 'transfer-encoding: chunked'
  it.each<{ name: string; headers: readonly string[]; body?: string }>([
    { name: 'Content-Length and chunks', headers: ['content-length: 4', chunked] },
    { name: 'a space before the colon', headers: ['content-length: 4', 'transfer-encoding : chunked'] },
    { name: 'a folded header', headers: ['content-length: 4', 'transfer-encoding:', ' chunked'] },
    { name: 'a bare LF', headers: ['content-length: 4', 'x: y\ntransfer-encoding: chunked\ncontent-length: 4'] },
    { name: 'a chunk of an overflowing size', headers: [chunked], body: 'fffffffffffffffff\r\n' },
  ])('$name', async ({ headers, body = '0\r\n\r\n' }) => {
    const target = await openTarget(world())
    const hidden =
      `${post}\r\nhost: x\r\n${proven(target).join('\r\n')}\r\n` +
      `content-length: ${eventText('1').length}\r\nconnection: close\r\n\r\n${eventText('1')}`
    const head = [post, 'host: x', ...proven(target), ...headers].join('\r\n')
    expect(await target.exchange(`${head}\r\n\r\n${body}${hidden}`)).toBe('')
    expectNoEffect(target)
  })
})

describe('behind a delivery that is still handled, and not answered in its place, is', () => {
  it.each([
    { name: 'what is no request', follows: () => 'EVIL\r\n\r\n' },
    {
      name: 'a delivery whose body breaks',
      follows: (headers: readonly string[]) =>
        [post, 'host: x', ...headers, 'transfer-encoding: chunked', '', 'EVIL\r\n'].join('\r\n'),
    },
  ])('$name', async ({ follows }) => {
    const target = await openTarget(world(), {
      onEvent: () => new Promise(() => {}),
      fields: { handlerTimeout: '100ms' },
    })
    const delivery = request(post, proven(target), eventText('1'))
    expect(await target.exchange(delivery + follows(proven(target)))).toBe('')
    expectNoEffect(target)
  })
})

describe('a head', () => {
  it.each([
    { name: 'of one header over 64 KiB', head: `${post}\r\nhost: x\r\nx: ${'x'.repeat(70_000)}\r\n\r\n` },
    { name: 'of ten thousand headers', head: `${post}\r\nhost: x\r\n${'x: y123456\r\n'.repeat(10_000)}\r\n` },
    {
      name: 'with a target of over 64 KiB',
      head: `POST /api/events?${'x'.repeat(70_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
    },
    { name: 'that goes on for ten megabytes', head: `${post}\r\nhost: x\r\nx: ${'x'.repeat(10_000_000)}` },
  ])('$name is answered 431', async ({ head }) => {
    const target = await openTarget(world())
    const answer = await target.exchange(head)
    expect(statuses(answer)).toEqual([431])
    expect(answer).toMatch(/application\/problem\+json[\s\S]*"status":431/)
    expectNoEffect(target)
  })

  it('of five hundred headers proves nothing either', async () => {
    const target = await openTarget(world())
    const flood = Array.from({ length: 500 }, (_, index) => `x${index}: ${index}`)
    const answer = await target.exchange(request(post, [...flood, 'connection: close'], eventText('1')))
    expect(statuses(answer)).toEqual([401])
    expectNoEffect(target)
  })

  it('that comes too slowly is answered 408', async () => {
    const { listener, log, events } = await openListener({ limits: { headersTimeoutMs: 50, checkIntervalMs: 10 } })
    const socket = await open(listener.address.port)
    socket.write(`${post}\r\nhost: x\r\nx: `)
    expect(statuses(await socket.ended)).toEqual([408])
    expect(events).toEqual([])
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ code: 'ERR_HTTP_REQUEST_TIMEOUT' }])
  })
})

describe('a body', () => {
  it('that comes too slowly is answered 408, and brings no event', async () => {
    const { listener, log, events } = await openListener({
      limits: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkIntervalMs: 10 },
    })
    const socket = await open(listener.address.port)
    socket.write(`${post}\r\nhost: x\r\n${proofLine}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`)
    expect(statuses(await socket.ended)).toEqual([408])
    expect(events).toEqual([])
    expect(log.lines.map(({ fields }) => fields)).toEqual([{ code: 'ERR_HTTP_REQUEST_TIMEOUT' }])
  })

  it('of a stranger is not read: 1 GB is refused by its head', async () => {
    const target = await openTarget(world())
    const head = `${post}\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n`
    expect(statuses(await target.exchange(head))).toEqual([401])
    expectNoEffect(target)
  })

  it('of a stranger in endless chunks is cut off', async () => {
    const target = await openTarget(world())
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const socket = await open(target.port)
    socket.write(`${post}\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`)
    let sent = 0
    const more = () => {
      while (!socket.destroyed && sent < 1_000_000_000 && socket.write(chunk)) sent += chunk.length
    }
    socket.on('drain', more)
    more()
    expect(statuses(await socket.ended)).toEqual([401])
    expect(sent).toBeLessThan(50_000_000)
    expectNoEffect(target)
  })
})

describe('connections', () => {
  it('kept open without a request end by themselves', async () => {
    const { listener } = await openListener({ limits: { headersTimeoutMs: 50, checkIntervalMs: 10 } })
    const sockets = await Promise.all(Array.from({ length: 50 }, () => open(listener.address.port)))
    const answers = await Promise.all(sockets.map(({ ended }) => ended))
    expect(new Set(answers.flatMap(statuses))).toEqual(new Set([408]))
  })

  it('kept open after a request end when nothing has moved for too long', async () => {
    const { listener } = await openListener({ limits: { connectionTimeoutMs: 50 } })
    const socket = await open(listener.address.port)
    socket.write(request('OPTIONS /api/events HTTP/1.1', []))
    expect(statuses(await socket.ended)).toEqual([200])
  })

  it('on which nothing moves end, whatever state they are in', async () => {
    const { listener } = await openListener({
      limits: { connectionTimeoutMs: 50 },
      handler: () => new Promise(() => {}),
    })
    const socket = await open(listener.address.port)
    const delivery = request(post, [proofLine, 'content-type: application/json'], eventText('1'))
    socket.write(delivery)
    expect(await socket.ended).toBe('')
    const reused = await open(listener.address.port)
    reused.write(request('OPTIONS /api/events HTTP/1.1', []) + delivery)
    expect(statuses(await reused.ended)).toEqual([200])
  })

  it('by the thousand keep others out no longer than the time for a head', async () => {
    const { listener, deliver, events } = await openListener({
      limits: { maxConnections: 100, headersTimeoutMs: 300, checkIntervalMs: 50 },
    })
    const silent = await Promise.all(Array.from({ length: 1_000 }, () => open(listener.address.port)))
    await Promise.all(silent.map(({ ended }) => ended))
    expect((await deliver(eventText('1'))).status).toBe(200)
    expect(events).toHaveLength(1)
  })

  it('that ask for another protocol get an answer to their first request and none to what came with it', async () => {
    const target = await openTarget(world())
    const upgrade = ['connection: upgrade', 'upgrade: websocket']
    const answer = await target.exchange(
      request(post, [...proven(target), ...upgrade], eventText('1')) + request(post, proven(target), eventText('2')),
    )
    expect(statuses(answer)).toEqual([200])
    expect(target.handled.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['1'])
  })

  it('that pipeline a thousand requests get a thousand answers and one line of the log', async () => {
    const target = await openTarget(world())
    const last = request(post, ['connection: close'], '{}')
    const answers = await target.exchange(request(post, [], '{}').repeat(999) + last)
    expect(statuses(answers)).toHaveLength(1_000)
    expect(new Set(statuses(answers))).toEqual(new Set([401]))
    expectNoEffect(target)
  })
})

describe('a delivery with our token to', () => {
  it.each([
    '//api/events',
    '/api//events',
    '/api/events/',
    '/api/./events',
    '/api/x/../events',
    '/./api/events',
    '/../api/events',
    '/api%2fevents',
    '/api%2Fevents',
    '/api/%2e/events',
    '/%2e%2e/api/events',
    '/api/events%00',
    '/api/events%20',
    '/api/events;x=1',
    '/api\\events',
    '/API/EVENTS',
    '/api/events.json',
    '/?/api/events',
    '/x?y=/api/events',
    '*',
    'http://x/',
    'http://x/y/api/events',
    'http://x?/api/events',
    'http://x#/api/events',
    'http:///api/events/',
    '/%ap%69/events',
    '/api/events%',
  ])('%s is answered 404', async (path) => {
    const target = await openTarget(world())
    expect([[], [404]]).toContainEqual(await sendProven(target, `POST ${path} HTTP/1.1`))
    expectNoEffect(target)
  })

  it.each([
    '/api/events?x=../..',
    '/%61pi/events',
    '/hooks/events',
    '/api/events#x',
    'http://evil.example.com/api/events?x',
  ])('%s, another spelling of our path, is handled', async (path) => {
    const target = await openTarget(world())
    expect(await sendProven(target, `POST ${path} HTTP/1.1`)).toEqual([200])
    expect(target.handled).toHaveLength(1)
  })
})

it('a delivery with our token and without a Host is handled: 400 would end its event', async () => {
  const target = await openTarget(world())
  const body = eventText('1')
  const head = [post, ...proven(target), 'connection: close', `content-length: ${body.length}`]
  expect(statuses(await target.exchange(`${head.join('\r\n')}\r\n\r\n${body}`))).toEqual([200])
  expect(target.handled).toHaveLength(1)
})

describe('a request that says by a header it were another:', () => {
  it.each(['x-http-method-override', 'x-http-method', 'x-method-override', '_method'])(
    '%s makes no delivery of a GET',
    async (name) => {
      const target = await openTarget(world())
      expect(await sendProven(target, 'GET /api/events HTTP/1.1', [`${name}: POST`])).toEqual([405])
      expectNoEffect(target)
    },
  )

  it.each<{ name: string; headers: (token: string) => readonly string[]; path?: (token: string) => string }>([
    { name: 'a method override on a POST', headers: () => ['x-http-method-override: OPTIONS'] },
    {
      name: 'an event type in two lines',
      headers: () => ['aeg-event-type: Notification', 'aeg-event-type: SubscriptionValidation'],
    },
    { name: 'a path override', headers: () => ['x-original-url: /api/events', 'x-rewrite-url: /api/events'] },
    {
      name: 'a sender in front',
      headers: () => ['x-forwarded-for: 127.0.0.1', 'forwarded: for=127.0.0.1;proto=https'],
    },
    { name: 'the token in a header with underscores', headers: (token) => [`x_eventgrid_binding_token: ${token}`] },
    { name: 'the token in a cookie', headers: (token) => [`cookie: ${tokenHeader}=${token}`] },
    { name: 'the token as bearer', headers: (token) => [`authorization: Bearer ${token}`] },
    { name: 'the token in the query', headers: () => [], path: (token) => `/api/events?${tokenHeader}=${token}` },
  ])('$name is answered 401', async ({ headers, path = () => '/api/events' }) => {
    const target = await openTarget(world())
    const token = tokenOf(target.clientSecret, target.scope)
    const lines = ['content-type: application/json', ...headers(token), 'connection: close']
    const answer = await target.exchange(request(`POST ${path(token)} HTTP/1.1`, lines, eventText('1')))
    expect(statuses(answer)).toEqual([401])
    expectNoEffect(target, [token])
  })

  it('the token in a trailer is answered 401', async () => {
    const target = await openTarget(world())
    const token = tokenOf(target.clientSecret, target.scope)
    const body = `${eventText('1').length.toString(16)}\r\n${eventText('1')}\r\n0\r\n${tokenHeader}: ${token}\r\n\r\n`
    const head = `${post}\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: ${tokenHeader}\r\n`
    expect(statuses(await target.exchange(`${head}\r\n${body}`))).toEqual([401])
    expectNoEffect(target, [token])
  })

  it('every other method that Node knows is answered 405, or 404 where Fastify has no route for it', async () => {
    const target = await openTarget(world())
    // CONNECT asks for a tunnel: Node ends it without an answer.
    const methods = METHODS.filter((method) => !['POST', 'OPTIONS', 'CONNECT'].includes(method))
    for (const method of methods) {
      const answered = await sendProven(target, `${method} /api/events HTTP/1.1`)
      expect([method, ...answered]).toEqual([method, routed.has(method) ? 405 : 404])
    }
    expect(target.handled).toEqual([])
    expect(target.lines()).toHaveLength(2)
  })

  it.each([
    { name: 'CONNECT', line: 'CONNECT evil.example.com:443 HTTP/1.1' },
    { name: 'an unknown method', line: 'EVIL /api/events HTTP/1.1' },
    { name: 'a method in lower case', line: 'post /api/events HTTP/1.1' },
    { name: 'HTTP/2 over plain text', line: 'PRI * HTTP/2.0' },
    { name: 'HTTP/3.0', line: 'POST /api/events HTTP/3.0' },
  ])('$name opens nothing', async ({ line }) => {
    const target = await openTarget(world())
    expect(await sendProven(target, line)).toEqual([])
    expect(target.handled).toEqual([])
    expect(target.lines().length).toBeLessThanOrEqual(1)
  })

  it('an upgrade to another protocol stays what it is', async () => {
    const target = await openTarget(world())
    const upgrade = ['connection: upgrade', 'upgrade: h2c', 'http2-settings: AAMAAABkAARAAAAAAAIAAAAA']
    const answer = await target.exchange(request('GET /api/events HTTP/1.1', [...upgrade, 'connection: close']))
    expect(statuses(answer)).toEqual([405])
    expectOneLine(target)
  })
})
