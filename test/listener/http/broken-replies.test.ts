/** What a host does to the reply of a delivery must neither end its event nor keep a free call. */
import type { FastifyReply } from 'fastify'
import { expect, it } from 'vitest'
import { cloudEventText, openListener } from '../open-listener.ts'

const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`)

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

it.each<{ name: string; break: (reply: FastifyReply) => void }>([
  {
    name: 'whose code is broken',
    break(reply) {
      reply.code = () => expect.fail('broken by the host')
    },
  },
  {
    name: 'that cannot be sent at all',
    break(reply) {
      reply.send = () => expect.fail('broken by the host')
    },
  },
])('remembers the events of an answer $name', async ({ break: breakReply }) => {
  const { deliver, events } = await openListener({
    fastify: (server) =>
      server.addHook('preHandler', async ({ headers }, reply) => {
        if (headers['x-broken'] !== undefined) breakReply(reply)
      }),
    handler: () => {},
  })
  await deliver(cloudEventText('one'), { 'x-broken': 'yes' }).catch(() => {})
  for (const id of ['one', 'two']) await deliver(cloudEventText(id), { 'aeg-delivery-count': '1' })
  expect(events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['one', 'two'])
})

it('counts the answer of a hook that answers in place of the listener', async () => {
  const { deliver, events, listener } = await openListener({
    handler: async () => {},
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
