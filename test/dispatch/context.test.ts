/** A delivery has the asynchronous context of its own request, whenever and by whom it is begun or answered. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, it, vi } from 'vitest'
import { cloudEventText, openListener } from '../listener/open-listener.ts'
import { createManualClock } from '../support/manual-clock.ts'

/** A listener whose host gives each request a store of its own: the value of `x-store`. */
async function openWithStores(maxConcurrency: number, work: () => Promise<void>) {
  const store = new AsyncLocalStorage<unknown>()
  const clock = createManualClock()
  const handled: string[] = []
  const answered: string[] = []
  const opened = await openListener({
    input: { maxConcurrency },
    ...{ now: clock.now, clock: clock.clock },
    fastify(server) {
      server.addHook('preHandler', ({ headers }, _reply, done) => store.run(headers['x-store'], done))
      server.addHook('onSend', async ({ headers }) => void answered.push(`${headers['x-store']}: ${store.getStore()}`))
    },
    async handler({ metadata }) {
      handled.push(`${metadata['x-store']}: ${store.getStore()}`)
      await work()
      handled.push(`${metadata['x-store']}: ${store.getStore()}`)
    },
  })
  const deliver = (name: string, body: string, more: Record<string, string> = {}) =>
    opened.deliver(body, { 'x-store': name, ...more })
  return { ...opened, deliver, clock, handled, answered }
}

const own = (names: readonly string[]) => names.map((name) => `${name}: ${name}`)
const turn = () => new Promise<void>((done) => setImmediate(done))

it.each([
  { name: 'one event each', bodyOf: (id: string) => cloudEventText(id), events: 1 },
  {
    name: 'batches',
    bodyOf: (id: string) => `[${['a', 'b', 'c'].map((end) => cloudEventText(id + end)).join()}]`,
    events: 3,
  },
])('though it had to wait for a free call: $name', async ({ bodyOf, events }) => {
  const { deliver, handled, answered } = await openWithStores(2, turn)
  const names = Array.from({ length: 30 }, (_, index) => `request ${index}`)
  const answers = await Promise.all(names.map((name) => deliver(name, bodyOf(name))))
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200))
  const twice = Array.from({ length: 2 * events }, () => own(names)).flat()
  expect(handled.toSorted()).toEqual(twice.toSorted())
  expect(answered.toSorted()).toEqual(own(names).toSorted())
})

it('though it had joined the call of another, and was handled anew after that call', async () => {
  const ends: (() => void)[] = []
  const work = () => new Promise<void>((done) => void ends.push(done))
  const { deliver, handled, answered, clock } = await openWithStores(8, work)
  const again = { 'aeg-delivery-count': '1' }
  const first = deliver('first', cloudEventText('1'))
  await vi.waitFor(() => expect(ends).toHaveLength(1))
  clock.advance(25_000)
  await first
  const others = ['second', 'third'].map((name) =>
    deliver(name, `[${cloudEventText(`only ${name}`)},${cloudEventText('1')}]`, again),
  )
  await vi.waitFor(() => expect(ends).toHaveLength(3))
  ends[0]?.()
  await vi.waitFor(() => expect(ends).toHaveLength(4))
  for (const end of ends) end()
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200])
  expect(answered.toSorted()).toEqual(own(['first', 'second', 'third']))
  expect(new Set(handled)).toEqual(new Set(own(['first', 'second', 'third'])))
})
