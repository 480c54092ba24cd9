import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it } from 'vitest'
import { request } from '../attack/target.ts'
import { cloudEventText, openListener, proofLine } from './open-listener.ts'

/** Deliveries that arrive at the same time are worked off together; each is still a request of its own. */
const ids = Array.from({ length: 150 }, (_, index) => `event-${index}`)

const head = ['content-type: application/cloudevents+json', proofLine]

/** A body of so many bytes, or of as few as an event has. */
function bodyOf(id: string, bytes = 0): string {
  const pad = bytes - cloudEventText(id, { pad: '' }).length
  return cloudEventText(id, pad > 0 ? { pad: 'x'.repeat(pad) } : {})
}

/** Deliveries that are sent in one piece: their bodies end in the same turn of the event loop. The last one closes the connection. */
const pipelined = (bytes?: number) =>
  ids
    .map((id) => {
      const connection = `connection: ${id === ids.at(-1) ? 'close' : 'keep-alive'}`
      return request('POST /api/events HTTP/1.1', [...head, `x-store: ${id}`, connection], bodyOf(id, bytes))
    })
    .join('')

it.each<{ bytes?: number; together: number }>([
  { together: 32 },
  // Those whose bodies have more than 65,536 bytes together wait no longer.
  { bytes: 8_192, together: 9 },
])('works off $together deliveries together, each in its own asynchronous context', async ({ bytes, together }) => {
  const store = new AsyncLocalStorage<unknown>()
  let arrived = 0
  const waiting: number[] = []
  const seen: unknown[] = []
  const { raw } = await openListener({
    input: { maxConcurrency: 256 },
    fastify(server) {
      server.addHook('preHandler', async () => void arrived++)
      server.addHook('preHandler', ({ headers }, _reply, done) => store.run(headers['x-store'], done))
    },
    async handler({ cloudEvent: { id } }) {
      waiting.push(arrived - waiting.length)
      seen.push([id, store.getStore()])
    },
  })
  await raw(pipelined(bytes))
  expect(Math.max(...waiting)).toBe(together)
  expect(seen.toSorted()).toEqual(ids.map((id) => [id, id]).toSorted())
})

it('keeps the deliveries of two components apart that arrive together', async () => {
  const store = new AsyncLocalStorage<unknown>()
  const open = async (component: string, maxConcurrency: number) => {
    const seen: unknown[] = []
    const { raw } = await openListener({
      input: { maxConcurrency },
      fastify(server) {
        server.addHook('preHandler', (_request, _reply, done) => store.run(component, done))
      },
      async handler({ cloudEvent: { id } }) {
        seen.push(`${id} of ${store.getStore()}`)
      },
    })
    return { raw, seen, expected: ids.map((id) => `${id} of ${component}`) }
  }
  const components = [await open('orders', 256), await open('invoices', 1)]
  await Promise.all(components.map(({ raw }) => raw(pipelined())))
  for (const { seen, expected } of components) expect(seen.toSorted()).toEqual(expected.toSorted())
})
