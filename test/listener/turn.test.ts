import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { expect, it, onTestFinished, vi } from 'vitest'
import { request } from '../attack/target.ts'
import { eventually } from '../support/eventually.ts'
import { cloudEventText, openListener, proof } from './open-listener.ts'

/** Deliveries that arrive at the same time are read together; each is still a request of its own. */
const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`)

const delivery = [
  'content-type: application/cloudevents+json',
  ...Object.entries(proof).map(([name, value]) => `${name}: ${value}`),
]

/** Deliveries that are sent in one piece: their bodies end in the same turn of the event loop. The last one closes the connection. */
const pipelined = (events: readonly string[], headersOf: (id: string) => readonly string[] = () => []) =>
  events
    .map((id, index) => {
      const connection = `connection: ${index === events.length - 1 ? 'close' : 'keep-alive'}`
      return request('POST /api/events HTTP/1.1', [...delivery, ...headersOf(id), connection], cloudEventText(id))
    })
    .join('')

it('calls each handler in the asynchronous context of its own request', async () => {
  const store = new AsyncLocalStorage<unknown>()
  const seen = new Map<string, unknown>()
  const { raw } = await openListener({
    input: { maxConcurrency: 50 },
    fastify: (server) =>
      server.addHook('preHandler', ({ headers }, _reply, done) => store.run(headers['x-store'], done)),
    handler: ({ cloudEvent: { id } }) => void seen.set(id, store.getStore()),
  })
  const answers = await raw(pipelined(ids, (id) => [`x-store: store of ${id}`]))
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(ids.length)
  expect(seen).toEqual(new Map(ids.map((id) => [id, `store of ${id}`])))
})

it('leaves nothing behind in a process that follows asynchronous work', async () => {
  const begun = new Set<number>()
  let ended = 0
  const hook = createHook({
    init: (id, type) => void (type === 'EventGridDelivery' && begun.add(id)),
    destroy: (id) => void (begun.has(id) && ended++),
  }).enable()
  onTestFinished(() => void hook.disable())
  const { raw } = await openListener()
  await raw(pipelined(ids))
  await eventually(() => expect(ended).toBe(ids.length))
  expect(begun.size).toBe(ids.length)
})

it.each([
  { maxConcurrency: 256, together: 32 },
  { maxConcurrency: 8, together: 8 },
  { maxConcurrency: 1, together: 1 },
])(
  'works off $together deliveries together with maxConcurrency $maxConcurrency',
  async ({ maxConcurrency, together }) => {
    let arrived = 0
    const waiting: number[] = []
    const { raw } = await openListener({
      input: { maxConcurrency },
      fastify: (server) => server.addHook('preHandler', async () => void arrived++),
      handler: async () => void waiting.push(arrived - waiting.length),
    })
    await raw(pipelined(Array.from({ length: 150 }, (_, index) => String(index))))
    expect(waiting).toHaveLength(150)
    expect(Math.max(...waiting)).toBe(together)
  },
)

it.each([
  ['at once', () => undefined],
  ['later', async () => undefined],
])(
  'answers 500 where the host has broken the reply to a handler that resolves %s, and handles those beside it',
  async (_when, handler) => {
    const { deliver, events, listener } = await openListener({
      input: { maxConcurrency: 2 },
      fastify: (server) =>
        server.addHook('preHandler', async ({ headers }, reply) => {
          if (headers['x-broken'] !== undefined) reply.code = () => expect.fail('broken by the host')
        }),
      handler,
    })
    const isBroken = (index: number) => index % 4 === 0
    const answers = await Promise.all(
      ids.map((id, index) => deliver(cloudEventText(id), isBroken(index) ? { 'x-broken': 'yes' } : {})),
    )
    expect(answers.map(({ status }) => status)).toEqual(ids.map((_, index) => (isBroken(index) ? 500 : 200)))
    expect(events.map(({ cloudEvent }) => cloudEvent.id).sort()).toEqual([...ids].sort())
    expect(listener.status()).toMatchObject({ running: 0, waiting: 0, answered: { 200: 30, 500: 10 } })
  },
)

it.each([
  ['at once', () => undefined],
  ['later', async () => undefined],
])('closes the connection where even `send` is broken, for a handler that resolves %s', async (_when, handler) => {
  const { deliver, events, listener } = await openListener({
    fastify: (server) =>
      server.addHook('preHandler', async ({ headers }, reply) => {
        if (headers['x-broken'] !== undefined) reply.send = () => expect.fail('broken by the host')
      }),
    handler,
  })
  const [broken, ...others] = await Promise.allSettled(
    ids.map((id, index) => deliver(cloudEventText(id), index === 0 ? { 'x-broken': 'yes' } : {})),
  )
  expect(broken?.status).toBe('rejected')
  expect(others.map((other) => other.status === 'fulfilled' && other.value.status)).toEqual(others.map(() => 200))
  expect(events).toHaveLength(ids.length)
  expect(listener.status()).toMatchObject({ running: 0, waiting: 0 })
  // A redelivery of the event whose answer was lost is acknowledged, and not handled again.
  expect((await deliver(cloudEventText(ids[0] ?? ''), { 'aeg-delivery-count': '1' })).status).toBe(200)
  expect(events).toHaveLength(ids.length)
})

it('counts the answer of a hook that answers in place of the listener', async () => {
  const { deliver, events, listener } = await openListener({
    fastify: (server) =>
      server.addHook('preHandler', ({ headers }, reply, done) => {
        done()
        if (headers['aeg-delivery-count'] === '0') void reply.code(503).send('of the host')
      }),
  })
  expect((await deliver(cloudEventText('twice'))).status).toBe(503)
  expect((await deliver(cloudEventText('twice'), { 'aeg-delivery-count': '1' })).status).toBe(200)
  expect(events).toHaveLength(1)
  expect(listener.status().answered).toEqual({ 200: 1, 503: 1 })
})

it('answers 500 to a delivery whose log line fails, and handles the next', async () => {
  const broken = () => expect.fail('broken by the host')
  const { deliver, events } = await openListener({ logger: { debug() {}, info() {}, warn: broken, error: broken } })
  expect((await deliver('no JSON')).status).toBe(500)
  expect((await deliver(cloudEventText('next'))).status).toBe(200)
  expect(events).toHaveLength(1)
})

it('takes deliveries while a test has replaced the timers', async () => {
  const { deliver } = await openListener({ handler: () => undefined })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  expect((await deliver(cloudEventText('real'))).status).toBe(200)
})
