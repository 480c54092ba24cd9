/** What a host does to the reply of a delivery must neither end its event nor keep a free call. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createRoom } from '../../src/dispatch/room.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { cloudEventText, openListener } from './open-listener.ts'

const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`)

const handlers = [
  { when: 'at once', handler: () => undefined },
  { when: 'later', handler: async () => undefined },
]

/** A host that breaks a part of the reply to some deliveries. */
const breaking = (part: 'code' | 'send') => (server: FastifyInstance) =>
  server.addHook('onRequest', async ({ headers }, reply) => {
    if (headers['x-broken'] !== undefined) reply[part] = () => expect.fail('broken by the host')
  })

describe.each(handlers)('for a handler that resolves $when', ({ handler }) => {
  it.each(['code', 'send'] as const)(
    'answers 500 where the host has broken `%s` of the reply, handles those beside it, and remembers the event',
    async (part) => {
      const input = { maxConcurrency: 2 }
      const { deliver, events, listener } = await openListener({ input, fastify: breaking(part), handler })
      const isBroken = (index: number) => index % 4 === 0
      const answers = await Promise.all(
        ids.map((id, index) => deliver(cloudEventText(id), isBroken(index) ? { 'x-broken': 'yes' } : {})),
      )
      expect(answers.map(({ status }) => status)).toEqual(ids.map((_, index) => (isBroken(index) ? 500 : 200)))
      expect(events.map(({ cloudEvent }) => cloudEvent.id).sort()).toEqual([...ids].sort())
      expect(listener.status()).toMatchObject({ running: 0, waiting: 0, answered: { 200: 30, 500: 10 } })
      expect((await deliver(cloudEventText(ids[0] ?? ''), { 'aeg-delivery-count': '1' })).status).toBe(200)
      expect(events).toHaveLength(ids.length)
    },
  )

  it.each([
    { name: 'begun an answer past Fastify', spoil: ({ raw }: FastifyReply) => void raw.write('{') },
    {
      name: 'broken `writeHead` of the answer',
      spoil: ({ raw }: FastifyReply) => void Object.assign(raw, { writeHead: () => expect.fail('broken by the host') }),
    },
  ])('closes the connection where the host has $name, and handles the next', async ({ spoil }) => {
    const { deliver, events, listener } = await openListener({
      fastify: (server) =>
        server.addHook('preHandler', async ({ headers }, reply) => {
          if (headers['x-broken'] !== undefined) spoil(reply)
        }),
      handler,
    })
    const spoilt = deliver(cloudEventText('spoilt'), { 'x-broken': 'yes' })
    await expect(spoilt.then((answer) => answer.text())).rejects.toThrow()
    expect((await deliver(cloudEventText('next'))).status).toBe(200)
    expect(events).toHaveLength(2)
    expect(listener.status()).toMatchObject({ running: 0, waiting: 0 })
  })
})

it('counts no delivery of ours where the host has broken the reply to a stranger', async () => {
  const { deliver, listener } = await openListener({ fastify: breaking('code') })
  const stranger = { 'x-broken': 'yes', 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': 'OTHERS' }
  expect((await deliver(cloudEventText('1'), stranger)).status).toBe(500)
  const status = listener.status()
  expect(status).toMatchObject({ answered: {}, lastRefused: undefined, recent: { total: 0 } })
  expect(status.strangers).toEqual({ 500: 1 })
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

it('answers 500 to a delivery that found no room and whose reply is broken, and handles the next', async () => {
  const room = createRoom(1)
  const taken = room.occupy(1)
  const time = createManualClock()
  const { deliver, events } = await openListener({
    ...{ room, clock: time.clock },
    fastify: breaking('code'),
  })
  const waits = time.waits((ms) => ms === 3_000)
  const broken = deliver(cloudEventText('broken'), { 'x-broken': 'yes' })
  await waits
  time.advance(3_000)
  expect((await broken).status).toBe(500)
  taken.release()
  expect((await deliver(cloudEventText('next'))).status).toBe(200)
  expect(events).toHaveLength(1)
})

it('puts deliveries off for a reason of ours while hanging handlers hold all room', async () => {
  const room = createRoom(2_000)
  const time = createManualClock()
  const { deliver, listener } = await openListener({
    ...{ room, clock: time.clock },
    handler: () => new Promise<void>(() => {}),
  })
  const text = (id: string) => cloudEventText(id, { pad: 'x'.repeat(1_500) })
  const putOff = async (id: string, count = 1) => {
    const waits = time.waits((ms) => ms === 3_000)
    const answers = Array.from({ length: count }, (_, index) => deliver(text(`${id}-${index}`)))
    await waits
    await expect.poll(room.waiting).toBe(count)
    time.advance(3_000)
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 503))
  }
  const hangs = deliver(text('hangs'))
  await expect.poll(() => listener.status().running).toBe(1)
  await putOff('early')
  expect(listener.status().recent).toMatchObject({ total: 1, bad: 0 })
  time.advance(25_000)
  expect((await hangs).status).toBe(503)
  await putOff('late', 5)
  expect(listener.status().recent).toMatchObject({ total: 7, bad: 5 })
})
