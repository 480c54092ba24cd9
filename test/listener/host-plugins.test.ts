import { once } from 'node:events'
import { PassThrough, Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deliveryTokenHeader } from '../../src/core/delivery-credential.ts'
import { RejectEvent } from '../../src/core/event.ts'
import { createRoom } from '../../src/dispatch/room.ts'
import { Binding, type BindingOptions } from '../../src/index.ts'
import { request } from '../attack/target.ts'
import { eventually } from '../support/eventually.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { openConnection } from '../support/open-connection.ts'
import { openWorld } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'
import { cloudEventText, eventGridText, openListener, ours, proofLine } from './open-listener.ts'

const eventGrid = { 'webhook-request-origin': 'eventgrid.azure.net' }

/** What a host of ours may really add. */
const plugins: readonly { readonly name: string; readonly fastify: (server: FastifyInstance) => unknown }[] = [
  { name: '@fastify/cors', fastify: (server) => server.register(cors) },
  { name: '@fastify/cors for one origin', fastify: (server) => server.register(cors, { origin: 'https://a.example' }) },
  { name: '@fastify/rate-limit', fastify: (server) => server.register(rateLimit, { max: 1, timeWindow: '1 hour' }) },
  { name: '@fastify/helmet', fastify: (server) => server.register(helmet) },
  {
    name: 'a JSON parser of its own',
    fastify(server) {
      server.removeContentTypeParser('application/json')
      server.addContentTypeParser('application/json', { parseAs: 'string', bodyLimit: 10 }, (_request, _body, done) =>
        done(new Error('not what I parse')),
      )
    },
  },
  {
    name: 'parsers of every type',
    fastify(server) {
      server.addContentTypeParser(/^application\/.*json/, (_request, _body, done) => done(null, 'parsed'))
      server.addContentTypeParser('*', (_request, _body, done) => done(null, 'parsed'))
    },
  },
  {
    name: 'its own error handler and 404',
    fastify(server) {
      server.setErrorHandler((_error, _request, reply) => reply.code(400).send('of the host'))
      server.setNotFoundHandler((_request, reply) => reply.code(410).send('of the host'))
    },
  },
  { name: 'routes for every path', fastify: (server) => server.options('*', (_, reply) => reply.code(405).send()) },
  { name: 'hooks', fastify: (server) => server.addHook('onRequest', async (request) => void request.log.info('seen')) },
]

describe.each(plugins)('with $name in the server', ({ fastify }) => {
  it('handshakes, takes deliveries and refuses them as without it', async () => {
    const { request, deliver, events } = await openListener({
      fastify,
      handler({ cloudEvent: { id } }) {
        if (id === 'reject') throw new RejectEvent('never')
        if (id === 'fail') throw new Error('no')
      },
    })
    for (let round = 0; round < 3; round++) {
      const handshake = await request({ method: 'OPTIONS', headers: { ...eventGrid, origin: 'https://a.example' } })
      expect(handshake.status).toBe(200)
      expect(handshake.headers.get('webhook-allowed-origin')).toBe('eventgrid.azure.net')
    }
    const large = cloudEventText('large', { pad: 'x'.repeat(1_200_000) })
    expect((await deliver(large)).status).toBe(200)
    expect((await deliver(`[${eventGridText('grid')}]`, { 'content-type': 'application/json' })).status).toBe(200)
    expect((await deliver(cloudEventText('other'), { 'content-type': 'application/vnd.x+json' })).status).toBe(200)
    expect((await deliver(cloudEventText('fail'))).status).toBe(500)
    expect((await deliver(cloudEventText('reject'))).status).toBe(400)
    expect((await deliver('{', { 'content-type': 'application/json' })).status).toBe(400)
    expect((await deliver(cloudEventText('text'), { 'content-type': 'text/plain' })).status).toBe(415)
    const anonymous = await deliver('x', { 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': 'OTHERS' })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get('content-type')).toBe('application/problem+json')
    expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['large', 'grid', 'other', 'fail', 'reject'])
    expect(events[0]?.data.toString()).toBe(large)
  })
})

describe('the server of a host', () => {
  it('serves its own routes, with its own parsers, errors and not-found handler', async () => {
    const { request, deliver } = await openListener({
      fastify(server) {
        server.get('/ready', () => ({ ready: true }))
        server.post('/echo', (sent) => sent.body)
        server.get('/broken', () => {
          throw new Error('broken')
        })
        server.setErrorHandler((error, _request, reply) => reply.code(418).send(String(error)))
        server.setNotFoundHandler((_request, reply) => reply.code(410).send('gone'))
      },
    })
    expect(await (await request({}, '/ready')).json()).toEqual({ ready: true })
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' }
    expect(await (await request(sent, '/echo')).json()).toEqual({ a: 1 })
    expect((await request({}, '/broken')).status).toBe(418)
    expect((await request({}, '/nowhere')).status).toBe(410)
    expect((await deliver(cloudEventText('1'))).status).toBe(200)
  })

  it.each(['onRequest', 'preParsing', 'preHandler', 'onSend'] as const)(
    'ends no event by an error of its hook %s',
    async (name) => {
      const fail = async () => {
        throw Object.assign(new Error('of a hook'), { statusCode: 400 })
      }
      const { deliver, log } = await openListener({
        fastify(server) {
          server.addHook(name, fail)
          server.setErrorHandler((_error, _request, reply) => reply.code(400).send('of the host'))
        },
      })
      const answer = await deliver(cloudEventText('1'))
      expect(answer.status).toBe(500)
      expect(await answer.text()).not.toContain('of a hook')
      expect(log.text()).toContain('a request failed in the listener')
    },
  )

  it.each([
    { name: 'throws', onSend: () => fail('of a hook'), status: 500 },
    { name: 'rejects', onSend: () => Promise.reject(new Error('of a hook')), status: 500 },
    { name: 'answers another status', onSend: async (reply: FastifyReply) => void reply.code(503), status: 503 },
  ])('handles no event twice, and counts each answer once, where its hook onSend $name', async ({ onSend, status }) => {
    let isFirst = true
    const { deliver, events, listener } = await openListener({
      fastify(server) {
        server.addHook('onSend', async (_request, reply) => {
          if (isFirst) await onSend(reply)
          isFirst = false
        })
      },
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(status)
    isFirst = false
    expect((await deliver(cloudEventText('1'), { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(events).toHaveLength(1)
    await eventually(() => expect(listener.status().answered).toEqual({ [status]: 1, 200: 1 }))
  })

  it('counts deliveries once, taken or refused, where its hook onSend calls back with an error', async () => {
    const { deliver, listener } = await openListener({
      fastify(server) {
        server.addHook('onSend', (_request, _reply, _payload, done) => done(new Error('of a hook')))
      },
    })
    for (const body of [cloudEventText('1'), '{']) expect((await deliver(body)).status).toBe(500)
    expect(listener.status().answered).toEqual({ 500: 2 })
  })

  it('counts a delivery once whose sender goes before its hook onSend fails', async () => {
    const { listener, log } = await openListener({
      fastify(server) {
        server.addHook('onSend', async (_request, reply) => {
          const closed = once(reply.raw, 'close')
          sender.destroy()
          await closed
          throw new Error('of a hook')
        })
      },
    })
    const sender = await openConnection(listener.address.port)
    sender.write(
      request('POST /api/events HTTP/1.1', ['content-type: application/json', proofLine], cloudEventText('1')),
    )
    await eventually(() => expect(log.text()).toContain('a request failed in the listener'))
    expect(listener.status().answered).toEqual({ 200: 1 })
  })

  it('acknowledges an event though its hook onSend redirects the answer', async () => {
    const { deliver } = await openListener({
      fastify(server) {
        server.addHook('onSend', (_request, reply, _payload, done) => {
          if (reply.hasHeader('location')) return done()
          reply.redirect('/elsewhere')
        })
      },
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(200)
  })

  it('has hooks that see deliveries with the path that arrived, and plugins that get their end', async () => {
    const seen: string[] = []
    const { deliver, listener } = await openListener({
      input: { subscriberEndpoint: 'https://orders.example.com/hooks/:id/*' },
      fastify(server) {
        server.addHook('onRequest', async ({ originalUrl }) => void seen.push(originalUrl))
        server.addHook('onClose', async () => void seen.push('closed'))
      },
    })
    expect((await deliver(cloudEventText('1'), {}, '/hooks/:id/*?code=1')).status).toBe(200)
    await listener.close()
    expect(seen).toEqual(['/hooks/:id/*?code=1', 'closed'])
  })

  it('has hooks that see the body and the headers of a delivery, and replace them', async () => {
    const seen: unknown[] = []
    const { deliver, events } = await openListener({
      fastify(server) {
        server.addHook('onRequest', async (request) => {
          request.headers = { ...request.headers, [deliveryTokenHeader.toLowerCase()]: ours.text }
        })
        server.addHook('preValidation', async (request) => {
          seen.push(request.body)
          request.body = Buffer.from(cloudEventText('2'))
        })
      },
    })
    expect((await deliver(cloudEventText('1'), { [deliveryTokenHeader]: undefined })).status).toBe(200)
    expect(seen).toEqual([Buffer.from(cloudEventText('1'))])
    expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['2'])
  })

  it('has a hook that replaces the stream of the body', async () => {
    const fastify = (server: FastifyInstance) =>
      void server.addHook('preParsing', async (_request, _reply, payload) => Readable.from([await buffer(payload)]))
    const { deliver, events } = await openListener({ fastify })
    expect((await deliver(cloudEventText('é'))).status).toBe(200)
    expect(events.map(({ data }) => data.toString())).toEqual([cloudEventText('é')])
  })

  it.each([
    { name: 'a parsed object', body: { specversion: '1.0' } },
    { name: 'text', body: cloudEventText('1') },
    { name: 'nothing', body: undefined },
  ])('ends no event where a hook replaces the body by $name', async ({ body }) => {
    const { deliver, events, log } = await openListener({
      fastify: (server) =>
        void server.addHook('preValidation', async (request) => void Object.assign(request, { body })),
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(events).toHaveLength(0)
    expect(log.text()).toContain('a hook of the host has replaced the body by something that is no Buffer')
  })

  it.each([
    {
      name: 'breaks',
      stream: (payload: Readable) =>
        payload.pipe(new Transform({ transform: (_chunk, _encoding, done) => done(new Error('broken')) })),
    },
    {
      name: 'breaks after the request was read',
      stream: (payload: Readable) =>
        payload.pipe(
          new Transform({
            transform: (_chunk, _encoding, done) => done(),
            flush: (done) => void setImmediate(() => done(new Error('truncated'))),
          }),
        ),
    },
    {
      name: 'is destroyed',
      stream(payload: Readable) {
        const given = new PassThrough()
        payload.once('data', () => given.destroy())
        return given
      },
    },
    { name: 'gives objects', stream: () => Readable.from([{ specversion: '1.0' }]) },
    { name: 'gives text', stream: () => Readable.from([cloudEventText('1')]) },
  ])('answers 500 where the stream of its hook preParsing $name', async ({ stream }) => {
    const { deliver, events, log } = await openListener({
      fastify: (server) =>
        void server.addHook('preParsing', (_request, _reply, payload, done) => done(null, stream(payload))),
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(events).toHaveLength(0)
    expect(log.text()).toContain('a request failed in the listener')
  })

  it('gives the room of a body back whose sender goes, though the stream of its hook does not end', async () => {
    const room = createRoom(1_000)
    const { listener, deliver } = await openListener({
      room,
      fastify: (server) =>
        void server.addHook('preParsing', (request, _reply, payload, done) => {
          const copy = new PassThrough()
          payload.on('data', (chunk) => copy.write(chunk))
          payload.on('end', () => copy.end())
          copy.once('close', () => closed.resolve())
          done(null, request.headers['x-slow'] ? copy : payload)
        }),
    })
    const closed = Promise.withResolvers<void>()
    const head = 'POST /api/events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-slow: yes\r\n'
    const delivery = `${head}${proofLine}\r\ncontent-length: 901\r\n\r\n${' '.repeat(900)}`
    const sender = await openConnection(listener.address.port, delivery)
    const body = cloudEventText('1', { pad: 'x'.repeat(300) })
    await eventually(async () => expect(room.used()).toBe(901))
    sender.destroy()
    await closed.promise
    expect((await deliver(body)).status).toBe(200)
    await eventually(async () => expect(room.used()).toBe(0))
  })

  it('answers with the outcome of the event though its hook onRoute wraps handlers and sets error handlers', async () => {
    const { deliver, events } = await openListener({
      async handler({ cloudEvent: { id } }) {
        await new Promise((turn) => setImmediate(turn))
        if (id === 'fail') throw new Error('no')
      },
      fastify(server) {
        server.addHook('onRoute', (route) => {
          const { handler } = route
          route.handler = async function (request, reply) {
            return await handler.call(this, request, reply)
          }
          route.errorHandler = (_error, _request, reply) => reply.code(400).send('of the host')
        })
        server.addHook('preHandler', async ({ headers }) => {
          if (headers['x-break']) throw new Error('of a hook')
        })
      },
    })
    expect((await deliver(cloudEventText('fail'))).status).toBe(500)
    expect((await deliver(cloudEventText('1'))).status).toBe(200)
    expect((await deliver(cloudEventText('2'), { 'x-break': 'yes' })).status).toBe(500)
    expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['fail', '1'])
  })

  it('keeps a connection that it upgraded, though nothing moves on it', async () => {
    const { listener } = await openListener({
      limits: { connectionTimeoutMs: 50 },
      fastify(server) {
        server.server.on('upgrade', (_request, socket) => {
          socket.on('error', () => {})
          socket.on('data', (data: Buffer) => socket.write(data))
          socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
        })
      },
    })
    const { port } = listener.address
    const upgraded = await openConnection(port)
    const closed = once(upgraded, 'close')
    upgraded.write('GET /socket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n')
    await once(upgraded, 'data')
    // Opened later, one after the other. Each is closed because it is still, so the first would be too.
    for (let round = 0; round < 3; round++) await once((await openConnection(port)).resume(), 'close')
    const answered = Promise.race([once(upgraded, 'data'), closed])
    upgraded.write('x')
    expect(String(await answered)).toBe('x')
  })

  it('keeps a connection as long as a route of its own says', async () => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<string>()
    const { request, listener } = await openListener({
      limits: { connectionTimeoutMs: 50 },
      fastify: (server) =>
        void server.get('/poll', ({ socket }) => {
          socket.setTimeout(3_600_000)
          asked.resolve()
          return answer.promise
        }),
    })
    const answered = request({}, '/poll').then(({ status }) => status, String)
    await asked.promise
    for (let round = 0; round < 3; round++) await once((await openConnection(listener.address.port)).resume(), 'close')
    answer.resolve('late')
    expect(await answered).toBe(200)
  })

  it('sends a large answer of a route of its own to its end, however slowly it is read', async () => {
    const size = 64 * 2 ** 20
    // Half of what the answer takes, and more than a busy machine leaves a reader waiting.
    const { listener } = await openListener({
      limits: { connectionTimeoutMs: 1_500 },
      fastify: (server) => void server.get('/export', () => Buffer.alloc(size)),
    })
    const reader = await openConnection(listener.address.port)
    let received = 0
    reader.on('data', (chunk) => {
      received += chunk.length
      reader.pause()
      setTimeout(() => reader.resume(), 1)
    })
    const closed = once(reader, 'close')
    reader.write('GET /export HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    await closed
    expect(received).toBeGreaterThan(size)
  })

  it('does not end an event that arrives at a path without a route, however large or broken it is', async () => {
    const { deliver, events } = await openListener()
    for (const body of ['{', cloudEventText('1', { pad: 'x'.repeat(1_200_000) })]) {
      const answer = await deliver(body, { 'content-type': 'application/json' }, '/rewritten')
      expect(answer.status).toBe(404)
    }
    expect(events).toHaveLength(0)
  })

  it.each(['onRequest', 'onSend'] as const)('ends no event at such a path where its hook %s fails', async (name) => {
    const { deliver } = await openListener({
      fastify: (server) =>
        void server.addHook(name, async () => {
          throw Object.assign(new Error('no'), { statusCode: 400 })
        }),
    })
    expect((await deliver(cloudEventText('1'), {}, '/rewritten')).status).toBe(500)
  })

  it.each<[how: string, hook: (request: FastifyRequest) => Promise<unknown>]>([
    ['takes a piece of', ({ raw }) => once(raw, 'data')],
    ['reads all of', ({ raw }) => buffer(raw)],
  ])('ends no event where its hook %s the stream of the body', async (_how, hook) => {
    const { deliver, log } = await openListener({ fastify: (server) => void server.addHook('onRequest', hook) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(log.text()).toContain('a hook of the host has read the stream of the body')
  })
})

/** A binding that is not initialised yet, whose host adds this to the server. */
async function openWith(fastify: NonNullable<BindingOptions['fastify']>) {
  const world = await openWorld()
  const binding = new Binding({ endpoints: world.emulator.endpoints, logger: world.log, fastify })
  onTestFinished(() => binding.close())
  return { world, binding }
}

describe('the option fastify of Binding', () => {
  it.each([
    { name: 'throws', fastify: () => fail('no database') },
    { name: 'rejects', fastify: async () => fail('no database') },
    {
      name: 'throws, with a hook onClose that fails',
      fastify(server: FastifyInstance) {
        server.addHook('onClose', async () => fail('of the hook'))
        fail('no database')
      },
    },
    {
      name: 'registers a plugin that rejects',
      fastify: (server: FastifyInstance) => void server.register(async () => fail('no database')),
    },
    {
      name: 'takes a route of ours',
      fastify: (server: FastifyInstance) => void server.post('/api/events', () => 'mine'),
      says: '/api/events',
    },
    { name: 'rejects with nothing', fastify: () => Promise.reject(), says: '' },
    { name: 'rejects with an object without a text', fastify: () => Promise.reject(Object.create(null)), says: '' },
    {
      name: 'rejects with an object that cannot be read',
      fastify: () => Promise.reject(new Proxy({}, { getPrototypeOf: () => fail('not to be read') })),
      says: '',
    },
  ])('that $name fails init with PLUGIN_FAILED, and the port is free', async ({ fastify, says = 'no database' }) => {
    const { world, binding } = await openWith(fastify)
    for (let time = 0; time < 2; time++) {
      const error = await refusal(binding.init(world.fields))
      expect(error).toMatchObject({ code: 'PLUGIN_FAILED', message: expect.stringContaining(says) })
      expect(binding.address()).toBeUndefined()
    }
    await world.init()
    expect(world.binding.address()).toBeDefined()
  })

  it('leaves no timer behind where it fails, though its hook onClose fails too', async () => {
    const time = createManualClock()
    const opening = openListener({
      clock: time.clock,
      fastify(server) {
        server.addHook('onClose', async () => fail('no database'))
        fail('no plugin')
      },
    })
    expect(await refusal(opening)).toMatchObject({ code: 'PLUGIN_FAILED' })
    expect(time.pending()).toBe(0)
  })

  it('fails for a stranger: no delivery of ours is counted', async () => {
    const { deliver, listener } = await openListener({
      fastify: (server) =>
        server.addHook('onRequest', async ({ headers }) => {
          if (headers[deliveryTokenHeader] === undefined) fail('not from here')
        }),
    })
    const stranger = { [deliveryTokenHeader]: undefined, 'aeg-subscription-name': 'OTHER' }
    expect((await deliver(cloudEventText('1'), stranger)).status).toBe(500)
    expect(listener.status()).toMatchObject({ answered: {}, strangers: { 500: 1 }, recent: { total: 0, bad: 0 } })
    expect(listener.status().lastRefused).toBeUndefined()
    const named = { [deliveryTokenHeader]: undefined }
    expect((await deliver(cloudEventText('2'), named)).status).toBe(500)
    expect(listener.status()).toMatchObject({ answered: { 500: 1 }, recent: { total: 1, bad: 1 } })
  })

  it.each(['onClose', 'preClose'] as const)('adds a hook %s that fails: close ends all the same', async (name) => {
    const { world, binding } = await openWith((server) => void server.addHook(name, async () => fail('no database')))
    await binding.init(world.fields, { subscription: 'background' })
    await binding.close()
    expect(world.log.text()).toContain('a hook of the host failed while the listener closed')
    expect(world.log.text()).toContain('no database')
  })

  it('adds a hook onClose that fails: init says why it has failed', async () => {
    const { world, binding } = await openWith(
      (server) => void server.addHook('onClose', async () => fail('no database')),
    )
    await world.init()
    const fields = { ...world.fields, handshakePort: String(world.binding.address()?.port) }
    expect(await refusal(binding.init(fields))).toMatchObject({ code: 'PORT_UNAVAILABLE' })
  })

  it('adds a hook onClose that hangs: the listener is closed after ten seconds', async () => {
    const { clock, advance } = createManualClock()
    const [began, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { listener, request, log } = await openListener({
      clock,
      fastify: (server) =>
        void server.addHook('onClose', () => {
          began.resolve()
          return ended.promise
        }),
    })
    const closed = listener.close()
    await began.promise
    advance(10_000)
    await closed
    expect(log.text()).toContain('has not ended')
    await expect(request({ method: 'OPTIONS' })).rejects.toThrow()
    ended.resolve()
  })

  it('is awaited before the listener is up', async () => {
    const order: string[] = []
    const { world, binding } = await openWith(async (server) => {
      await new Promise((turn) => setImmediate(turn))
      order.push(`listening: ${server.server.listening}`)
      server.addHook('onListen', async () => void order.push('listening'))
    })
    await binding.init(world.fields, { subscription: 'background' })
    expect(order).toEqual(['listening: false', 'listening'])
  })

  it('that is not a function is a TypeError', () => {
    // @ts-expect-error: an object
    expect(() => new Binding({ fastify: {} })).toThrow(/fastify must be a function/)
  })
})

function fail(message: string): never {
  throw new Error(message)
}
