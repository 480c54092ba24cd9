import { expect, it } from 'vitest'
import { cloudEvent, gridEvent, openEventGrid, publish } from '../../event-grid.ts'

it.each([
  { what: 'no more requests than it may', concurrency: 2, maxEventsPerBatch: 1, silent: 2, waits: 2 },
  { what: 'the events of a batch', concurrency: 1, maxEventsPerBatch: 3, silent: 1, waits: 3 },
])('counts as under way $what, and as pending all that is not delivered', async (given) => {
  const { concurrency, maxEventsPerBatch, silent, waits } = given
  const grid = await openEventGrid({ concurrency, answerTimeout: 2_000 })
  await grid.subscribe({ webhook: { maxEventsPerBatch } })
  grid.subscriber.answer(...Array.from({ length: silent }, () => undefined))
  await publish(
    grid,
    Array.from({ length: 5 }, (_, index) => cloudEvent({ id: `e${index}` })),
  )
  await grid.subscriber.received(silent)
  await expect(grid.emulator.settled({ timeout: 1 })).rejects.toThrow(`: 5 events, ${waits} awaiting an answer`)
  expect(grid.subscriber.deliveries()).toHaveLength(silent)
  await grid.emulator.idle()
  await expect(grid.emulator.settled({ timeout: 1 })).rejects.toThrow(`: ${waits} events, next try in`)
})

it('matches by the newest filter', async () => {
  const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' } })
  await grid.subscribe()
  grid.emulator.raise('orders', [gridEvent()])
  await grid.emulator.idle()
  await grid.subscribe({ filter: { includedEventTypes: ['Other'] } })
  grid.emulator.raise('orders', [gridEvent(), gridEvent({ id: 'e2', eventType: 'Other' })])
  await grid.emulator.idle()
  expect(grid.subscriber.deliveries().map(({ body }) => JSON.parse(body).id)).toEqual(['e1', 'e2'])
})

it('gives an event thirty attempts, and a day, by default', async () => {
  const grid = await openEventGrid({ retrySchedule: [1_000] })
  await grid.subscribe()
  grid.subscriber.answerTo('/api/events?code=s3cret', { status: 500 })
  await publish(grid, [cloudEvent()])
  await grid.clock.advance(60_000)
  expect(grid.subscriber.deliveries()).toHaveLength(30)
  expect(grid.records.deadLetters.last?.reasons).toEqual(['MaxDeliveryAttemptsExceeded'])
})
