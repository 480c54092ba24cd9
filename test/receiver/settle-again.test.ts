import { expect, it, vi } from 'vitest'
import type { ReceivedEvent } from '../../src/index.ts'
import { order } from '../support/open-pull.ts'
import {
  bringsOnce,
  closeAtEnd,
  type NamespaceAnswer,
  openSide,
  type Script,
  scriptNamespace,
} from './scripted-namespace.ts'

async function open(script: Script, onEvent: (event: ReceivedEvent) => unknown = () => {}) {
  const world = await scriptNamespace(script)
  const opened = await openSide(world.properties, world.endpoints, async (event) => void (await onEvent(event)))
  closeAtEnd(opened, world)
  return { ...opened, world }
}

it.each<{ name: string; answer: NamespaceAnswer }>([
  { name: 'no answer', answer: { isCut: true } },
  { name: '200 with a page', answer: { body: '<html>' } },
  ...[401, 408, 429, 500, 503].map((status) => ({ name: `${status}`, answer: { status } })),
])('settles an event again after $name', async ({ answer }) => {
  const { side, world, advance, waits } = await open(bringsOnce(['one'], ({ index }) => (index === 0 ? answer : null)))
  advance(await waits((ms) => ms <= 200))
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 1 }, failedSettlements: 0 })
  expect(world.of('acknowledge')).toHaveLength(2)
})

it.each([400, 403, 404, 410, 499])('gives an event up whose settlement is answered %i, and says so', async (status) => {
  const { side, world, log } = await open(bringsOnce(['one'], () => ({ status })))
  await expect.poll(() => side.health().pull).toMatchObject({ settled: { acknowledge: 0 }, failedSettlements: 1 })
  expect(world.of('acknowledge')).toHaveLength(1)
  expect(log.text()).toContain('an event could not be settled (acknowledge), so Event Grid may deliver it again')
})

it('lengthens the pauses between the tries of a settlement, to five seconds at most', async () => {
  const { delays, advance, side } = await open(bringsOnce(['one'], ({ index }) => (index < 9 ? { status: 503 } : null)))
  await expect
    .poll(() => {
      advance(1_000)
      return side.health().pull
    })
    .toMatchObject({ settled: { acknowledge: 1 } })
  const bounds = [200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]
  // Another timer of this length: how long a request waits for the answer to the last one.
  const pauses = delays.filter((ms) => ms <= 5_000 && ms !== 1_000)
  for (const [index, bound] of bounds.entries()) expect(pauses[index]).toBeLessThanOrEqual(bound)
})

it.each([
  { count: 1, shown: '0' },
  { count: 2, shown: '1' },
  { count: 7, shown: '6' },
])('counts deliveries from 0, as by push: $count of the broker is $shown', async ({ count, shown }) => {
  const brings = { value: [{ brokerProperties: { lockToken: 'one', deliveryCount: count }, event: order('one') }] }
  const handler = vi.fn<(event: ReceivedEvent) => void>()
  const { side } = await open(({ operation, index }) => {
    if (operation !== 'receive') return null
    return index === 0 ? { body: JSON.stringify(brings) } : undefined
  }, handler)
  await expect.poll(() => side.health().pull?.settled).toMatchObject({ acknowledge: 1 })
  expect(handler.mock.calls[0]?.[0].metadata).toMatchObject({
    'aeg-delivery-count': shown,
    'aeg-subscription-name': 'APP',
  })
})

it.each([
  { name: 'twice where both were published', count: 1, status: 404, calls: 2 },
  { name: 'once where the second is a redelivery, as the first could not be settled', count: 2, status: 404, calls: 1 },
  { name: 'twice where somebody publishes them again once they were settled', count: 2, status: 200, calls: 2 },
])('handles the same bytes $name', async ({ count, status, calls }) => {
  const brings = (lockToken: string, deliveryCount: number) => ({
    body: JSON.stringify({ value: [{ brokerProperties: { lockToken, deliveryCount }, event: order('one') }] }),
  })
  const handler = vi.fn()
  const counts = () => side.health().pull
  const { side } = await open(async ({ operation, index }) => {
    if (operation !== 'receive') return index === 0 && status !== 200 ? { status } : null
    if (index !== 1) return index === 0 ? brings('first', 1) : undefined
    await expect.poll(counts).toMatchObject(status === 200 ? { settled: { acknowledge: 1 } } : { failedSettlements: 1 })
    return brings('second', count)
  }, handler)
  await expect.poll(counts).toMatchObject({ settled: { acknowledge: status === 200 ? 2 : 1 } })
  expect(handler).toHaveBeenCalledTimes(calls)
})

it('tells whether a handler runs', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const { side } = await open(bringsOnce(['one']), () => ended)
  expect(side.isHandling()).toBe(false)
  await expect.poll(() => side.isHandling()).toBe(true)
  end()
  await expect.poll(() => side.isHandling()).toBe(false)
})

it.each([
  { name: 'asks again at once after an empty answer that took a second', ms: 1_000, pauses: 0 },
  { name: 'pauses after an empty answer that came within a second', ms: 999, pauses: 1 },
])('$name', async ({ ms, pauses }) => {
  const asked = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<NamespaceAnswer>()
  const { side, delays, advance, world } = await open(({ index }) => {
    if (index > 0) return undefined
    asked.resolve()
    return answer.promise
  })
  await asked.promise
  advance(ms)
  answer.resolve({ body: '{"value":[]}' })
  await expect.poll(() => side.health().pull?.receives).toMatchObject({ 200: 1 })
  expect(delays.filter((delay) => delay === 500)).toHaveLength(pauses)
  advance(500)
  await expect.poll(() => world.of('receive')).toHaveLength(2)
})

it('names the reason alone where there is no remedy', async () => {
  const { log } = await open(({ index }) => (index === 0 ? { status: 503 } : undefined))
  await expect.poll(() => log.lines.map(({ message }) => message)).toContain('events cannot be received: status 503')
})
