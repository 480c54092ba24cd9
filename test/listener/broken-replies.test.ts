/** What a host does to the reply of a delivery must neither end its event nor keep a free call. */
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { cloudEventText, openListener } from './open-listener.ts'

const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`)

const handlers = [
  { when: 'at once', handler: () => undefined },
  { when: 'later', handler: async () => undefined },
]

/** A host that breaks a part of the reply to some deliveries. */
const breaking = (part: 'code' | 'send') => (server: FastifyInstance) =>
  server.addHook('preHandler', async ({ headers }, reply) => {
    if (headers['x-broken'] !== undefined) reply[part] = () => expect.fail('broken by the host')
  })

describe.each(handlers)('for a handler that resolves $when', ({ handler }) => {
  it('answers 500 where the host has broken the reply, handles those beside it, and remembers the event', async () => {
    const input = { maxConcurrency: 2 }
    const { deliver, events, listener } = await openListener({ input, fastify: breaking('code'), handler })
    const isBroken = (index: number) => index % 4 === 0
    const answers = await Promise.all(
      ids.map((id, index) => deliver(cloudEventText(id), isBroken(index) ? { 'x-broken': 'yes' } : {})),
    )
    expect(answers.map(({ status }) => status)).toEqual(ids.map((_, index) => (isBroken(index) ? 500 : 200)))
    expect(events.map(({ cloudEvent }) => cloudEvent.id).sort()).toEqual([...ids].sort())
    expect(listener.status()).toMatchObject({ running: 0, waiting: 0, answered: { 200: 30, 500: 10 } })
    expect((await deliver(cloudEventText(ids[0] ?? ''), { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(events).toHaveLength(ids.length)
  })

  it('closes the connection where even `send` is broken', async () => {
    const { deliver, events, listener } = await openListener({ fastify: breaking('send'), handler })
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
