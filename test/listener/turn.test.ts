import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it, onTestFinished, vi } from 'vitest'
import { cloudEventText, openListener, proof } from './open-listener.ts'

/** Deliveries that arrive at the same time are read together; each is still a request of its own. */
const ids = Array.from({ length: 40 }, (_, index) => `event-${index}`)

it('calls each handler in the asynchronous context of its own request', async () => {
  const store = new AsyncLocalStorage<unknown>()
  const seen = new Map<string, unknown>()
  const { raw } = await openListener({
    fastify: (server) =>
      server.addHook('preHandler', ({ headers }, _reply, done) => store.run(headers['x-store'], done)),
    handler: ({ cloudEvent: { id } }) => void seen.set(id, store.getStore()),
  })
  // Pipelined in one piece, so all bodies end in the same turn of the event loop.
  const requests = ids.map((id, index) => {
    const body = cloudEventText(id)
    const headers = {
      ...{ host: 'localhost', 'content-type': 'application/cloudevents+json', 'content-length': body.length, ...proof },
      ...{ 'x-store': `store of ${id}`, connection: index === ids.length - 1 ? 'close' : 'keep-alive' },
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    return ['POST /api/events HTTP/1.1', ...lines, '', body].join('\r\n')
  })
  const answers = await raw(requests.join(''))
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(ids.length)
  expect(seen).toEqual(new Map(ids.map((id) => [id, `store of ${id}`])))
})

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
