import { expect, it } from 'vitest'
import { storageAccountId } from '../../../../../test/support/azure-ids.ts'
import { cloudEvent, type EventGrid, openDelivered, openEventGrid, publish } from '../../event-grid.ts'

const second = 1_000

const deadLetterDestination = {
  endpointType: 'StorageBlob',
  properties: { resourceId: storageAccountId, blobContainerName: 'events' },
} as const

/** Until when the endpoint is held back, and whether an event waits for another try: as the page says it. */
async function queueOf({ emulator }: EventGrid) {
  const { subscriptions } = Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json())
  return [subscriptions[0].heldUntil, subscriptions[0].waits]
}

it('a failed try says when the next one is: after the pause of the endpoint, where it is held back', async () => {
  const grid = await openEventGrid({ probation: { afterFailures: 2 } })
  await grid.subscribe()
  const start = grid.clock.now()
  grid.subscriber.answer({ status: 404 }, { status: 404 })
  const send = async (id: string) => {
    await publish(grid, [cloudEvent({ id })])
    await grid.emulator.idle()
    return [grid.records.deliveries.last?.nextTryAt, grid.emulator.pending, ...(await queueOf(grid))]
  }
  expect(await send('a')).toEqual([start + 300 * second, 1, undefined, true])
  expect(grid.records.deliveries.last?.outcome).toBe('retry')
  await grid.clock.advance(100 * second)
  expect(await send('b')).toEqual([start + 400 * second, 2, start + 400 * second, true])
  expect(await send('c')).toEqual([start + 400 * second, 3, start + 400 * second, true])
  await grid.clock.advance(300 * second - 1)
  expect(grid.subscriber.deliveries()).toHaveLength(2)
  await grid.clock.advance(1)
  expect([grid.emulator.pending, ...(await queueOf(grid))]).toEqual([0, undefined, false])
  expect(grid.records.deliveries.last).not.toHaveProperty('nextTryAt')
})

it('a busy endpoint is held back for less time than its event waits', async () => {
  const grid = await openEventGrid({ probation: { afterFailures: 1 } })
  await grid.subscribe()
  grid.subscriber.answer({ status: 503 })
  await publish(grid, [cloudEvent()])
  await grid.emulator.idle()
  expect(grid.records.deliveries.last?.nextTryAt).toBe(grid.clock.now() + 30 * second)
})

it('an endpoint that has success is held back only after as many failures again', async () => {
  const grid = await openEventGrid({ probation: { afterFailures: 2 }, concurrency: 1 })
  await grid.subscribe()
  grid.subscriber.answer({ status: 500 }, { status: 200 }, { status: 500 })
  await publish(
    grid,
    ['a', 'b', 'c'].map((id) => cloudEvent({ id })),
  )
  await grid.emulator.idle()
  expect(await queueOf(grid)).toEqual([undefined, true])
})

it.each([
  { how: 'is delivered', status: 200, outcome: 'delivered' },
  { how: 'fails', status: 500, outcome: 'dropped' },
  { how: 'fails, and there would be dead letters', status: 500, outcome: 'dropped', deadLetterDestination },
])('a try under way when its event subscription goes is recorded as it ends: it $how', async (one) => {
  const { status, outcome, ...settings } = one
  const grid = await openEventGrid()
  await grid.subscribe('deadLetterDestination' in settings ? { deadLetterDestination } : {})
  grid.emulator.failNext({ route: 'delivery', delayMs: second })
  grid.subscriber.answer({ status })
  await publish(grid, [cloudEvent()])
  await grid.emulator.idle()
  await expect(grid.emulator.settled({ timeout: 0 })).rejects.toThrow('1 event, 1 awaiting an answer')
  grid.emulator.reconfigure({ ingress: () => grid.subscriber.url })
  await grid.emulator.idle()
  expect([grid.emulator.pending, grid.emulator.eventSubscriptions()]).toEqual([0, []])
  await grid.clock.advance(3_600 * second)
  expect(grid.records.deliveries.all()).toMatchObject([{ status, outcome }])
  expect(grid.records.deadLetters.length).toBe(0)
})

it('an event without an answer is dead-lettered with the outcome, without a status', async () => {
  const { grid, record } = await openDelivered(
    { ingress: () => 'http://127.0.0.1:1' },
    { retryPolicy: { maxDeliveryAttempts: 1 } },
  )
  const [letter] = grid.records.deadLetters.last?.events ?? []
  expect(letter).toMatchObject({ id: 'e1', deliveryattempts: 1, lastdeliveryoutcome: 'SocketError' })
  expect(letter).not.toHaveProperty('lasthttpstatuscode')
  expect(record).toMatchObject({ outcome: 'dropped' })
})
