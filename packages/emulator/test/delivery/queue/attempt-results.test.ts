import { expect, it } from 'vitest'
import { cloudEvent, openEventGrid, publish } from '../../event-grid.ts'

const second = 1_000

it('a failed try says when the next one is: after the pause of the endpoint, where it is held back', async () => {
  const grid = await openEventGrid({ delivery: { probation: { afterFailures: 2 } } })
  const { id } = grid.subscribe()
  const start = grid.clock.now()
  const queue = () => grid.engine.queue(id)
  grid.subscriber.answer({ status: 404 }, { status: 404 })
  await publish(grid, [cloudEvent({ id: 'a' })])
  await grid.engine.idle()
  expect(grid.records.deliveries.last).toMatchObject({ outcome: 'retry', nextTryAt: start + 300 * second })
  expect([queue()?.heldUntil, queue()?.nextTryAt, queue()?.waits]).toEqual([undefined, start + 300 * second, true])
  await grid.clock.advance(100 * second)
  await publish(grid, [cloudEvent({ id: 'b' })])
  await grid.engine.idle()
  expect(grid.records.deliveries.last?.nextTryAt).toBe(start + 400 * second)
  expect([queue()?.heldUntil, queue()?.nextTryAt]).toEqual([start + 400 * second, start + 400 * second])
  await publish(grid, [cloudEvent({ id: 'c' })])
  await grid.engine.idle()
  expect([queue()?.size, queue()?.nextTryAt]).toEqual([3, start + 400 * second])
  await grid.clock.advance(300 * second)
  expect([queue()?.size, queue()?.heldUntil, queue()?.nextTryAt, queue()?.waits]).toEqual([
    0,
    undefined,
    undefined,
    false,
  ])
  expect(grid.records.deliveries.last).not.toHaveProperty('nextTryAt')
})

it('a busy endpoint is held back for less time than its event waits', async () => {
  const grid = await openEventGrid({ delivery: { probation: { afterFailures: 1 } } })
  grid.subscribe()
  grid.subscriber.answer({ status: 503 })
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.records.deliveries.last?.nextTryAt).toBe(grid.clock.now() + 30 * second)
})

it('an endpoint that has success is held back only after as many failures again', async () => {
  const grid = await openEventGrid({ delivery: { probation: { afterFailures: 2 }, concurrency: 1 } })
  const { id } = grid.subscribe()
  grid.subscriber.answer({ status: 500 }, { status: 200 }, { status: 500 })
  await publish(
    grid,
    ['a', 'b', 'c'].map((name) => cloudEvent({ id: name })),
  )
  await grid.engine.idle()
  expect(grid.engine.queue(id)?.heldUntil).toBeUndefined()
})

it.each([
  { how: 'is delivered', status: 200, outcome: 'delivered' },
  { how: 'fails', status: 500, outcome: 'dropped' },
])('a try under way when its event subscription goes is recorded as it ends: it $how', async ({ status, outcome }) => {
  const grid = await openEventGrid()
  const subscription = grid.subscribe()
  grid.faults.add({ route: 'delivery', delayMs: second })
  grid.subscriber.answer({ status })
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.engine.queue(subscription.id)?.underWay).toBe(1)
  grid.store.subscriptions.delete(subscription)
  grid.engine.subscriptionDeleted(subscription)
  expect(grid.engine.pending()).toBe(0)
  await grid.clock.advance(3_600 * second)
  expect(grid.records.deliveries.all()).toMatchObject([{ status, outcome }])
  expect(grid.records.deadLetters.length).toBe(0)
})

it('an event without an answer is dead-lettered with the outcome, without a status', async () => {
  const grid = await openEventGrid()
  grid.subscribe({ retryPolicy: { maxDeliveryAttempts: 1 } })
  grid.subscriber.answer('drop')
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  const [letter] = grid.records.deadLetters.last?.events ?? []
  expect(letter).toMatchObject({ id: 'e1', deliveryattempts: 1, lastdeliveryoutcome: 'SocketError' })
  expect(letter).not.toHaveProperty('lasthttpstatuscode')
  expect(grid.records.deliveries.last).toMatchObject({ outcome: 'dropped' })
})
