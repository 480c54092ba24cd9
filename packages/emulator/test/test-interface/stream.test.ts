import { once } from 'node:events'
import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { openShop } from '../page/open-page.ts'

it('streams all there is, then each change', async () => {
  const { emulator, publish } = await openShop()
  const messages = await openStream(emulator)
  expect(await messages.next('state')).toMatchObject({ events: [], topics: [{ name: 'orders' }] })
  await publish({ type: 'Shop.OrderPaid' })
  expect(await messages.next('events')).toMatchObject([{ type: 'Shop.OrderPaid' }])
  emulator.addTopic({ name: 'returns' })
  expect(await messages.next('resources')).toMatchObject({ topics: [{ name: 'orders' }, { name: 'returns' }] })
  expect(await messages.next('figures')).toMatchObject({ totals: { published: 1 } })
})

it('shows everything anew when the emulator is reset', async () => {
  const { emulator, publish } = await openShop()
  const messages = await openStream(emulator)
  await messages.next('state')
  await publish({ type: 'Shop.OrderPaid' })
  await messages.next('events')
  await emulator.reset()
  expect(await messages.next('state')).toMatchObject({
    events: [],
    totals: { published: 0 },
    topics: [{ name: 'orders' }],
  })
})

it('serves sixteen streams, tells the seventeenth that there are too many, and takes another once one has left', async () => {
  const emulator = await startEmulator()
  const streams = await Promise.all(Array.from({ length: 16 }, () => openStream(emulator)))
  await Promise.all(streams.map((stream) => stream.next('state')))
  expect(await (await openStream(emulator)).first()).toBe('full')
  streams[0]?.leave()
  // The emulator hears of it a moment later.
  let answer: string
  do answer = await (await openStream(emulator)).first()
  while (answer === 'full')
  expect(answer).toBe('state')
})

/** Reads the stream of the page: server-sent events with JSON in them. */
async function openStream({ proxy }: EventGridEmulator) {
  const asked = request(`${proxy}/emulator/stream`).end()
  const [answer] = await once(asked, 'response')
  expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  onTestFinished(() => void asked.destroy())
  answer.setEncoding('utf8')
  const chunks: AsyncIterator<string> = answer[Symbol.asyncIterator]()
  let held = ''

  async function message(): Promise<{ readonly name: string; readonly value: unknown }> {
    for (;;) {
      const [whole = '', name, data] = /^(?:event: (.*)\ndata: (.*)|.*)\n\n/.exec(held) ?? []
      held = held.slice(whole.length)
      if (name !== undefined && data !== undefined) return { name, value: JSON.parse(data) }
      if (whole !== '') continue
      const { value, done } = await chunks.next()
      if (done) throw new Error('the stream has ended')
      held += value
    }
  }

  return {
    /** The name of the next message. */
    first: async () => (await message()).name,
    /** The value of the next message of that name; others are passed over. */
    async next(wanted: string): Promise<unknown> {
      for (;;) {
        const { name, value } = await message()
        if (name === wanted) return value
      }
    },
    leave: () => void asked.destroy(),
  }
}
