import { expect, it } from 'vitest'
import { cloudEvent, gridEvent, openEventGrid, publish } from '../../event-grid.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => cloudEvent({ id: `e${index}` }))

it('has no more requests under way than it may, and counts all that is not delivered', async () => {
  const grid = await openEventGrid({ delivery: { concurrency: 2 } })
  const { id } = grid.subscribe()
  grid.subscriber.answer(undefined, undefined)
  await publish(grid, many(5))
  await grid.subscriber.received(2)
  const queue = grid.engine.queue(id)
  expect([queue?.id, queue?.underWay, queue?.size, queue?.nextTryAt, queue?.waits]).toEqual([id, 2, 5, 0, false])
  await grid.clock.advance(30_000)
  await grid.engine.idle()
  expect([queue?.underWay, queue?.size, grid.subscriber.deliveries().length]).toEqual([0, 2, 5])
})

it('counts the events of a batch under way', async () => {
  const grid = await openEventGrid()
  const { id } = grid.subscribe({ webhook: { maxEventsPerBatch: 3 } })
  grid.subscriber.answer(undefined)
  await publish(grid, many(3))
  await grid.subscriber.received(1)
  expect([grid.engine.queue(id)?.underWay, grid.engine.queue(id)?.nextTryAt]).toEqual([3, undefined])
})

it('matches by the newest filter, and nothing that has no form in its schema', async () => {
  const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
  const all = grid.subscribe({ eventDeliverySchema: 'CloudEventSchemaV1_0' })
  grid.subscribe({ eventDeliverySchema: 'CustomInputSchema' }, { name: 'custom' })
  grid.raise(grid.topic.id, [gridEvent()])
  await grid.engine.idle()
  grid.subscribe({ ...all.properties, filter: { includedEventTypes: ['Other'] } })
  grid.raise(grid.topic.id, [gridEvent(), gridEvent({ id: 'e2', eventType: 'Other' })])
  await grid.engine.idle()
  expect(grid.subscriber.deliveries().map(({ body }) => JSON.parse(body).id)).toEqual(['e1', 'e2'])
})

it('gives an event thirty attempts, and a day, by default', async () => {
  const grid = await openEventGrid({ delivery: { retrySchedule: [1_000] } })
  grid.subscribe()
  grid.subscriber.answerTo('/api/events?code=s3cret', { status: 500 })
  await publish(grid, [cloudEvent()])
  await grid.clock.advance(60_000)
  expect(grid.subscriber.deliveries()).toHaveLength(30)
  expect(grid.records.deadLetters.last?.reasons).toEqual(['MaxDeliveryAttemptsExceeded'])
})
