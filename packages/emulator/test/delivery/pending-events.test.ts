import { expect, it } from 'vitest'
import { noJournal } from '../../src/state/journal.ts'
import { cloudEvent, openEventGrid, publish } from '../event-grid.ts'

const second = 1_000

/** An event that waits for its second try at an endpoint that is held back, and a journal that is written down. */
async function openWaiting(webhook = {}) {
  const lines: string[] = []
  const grid = await openEventGrid({
    delivery: { probation: { afterFailures: 1 } },
    journal: {
      ...noJournal,
      accepted: (events) =>
        events.map(({ event, subscriptionIds }, row) => {
          lines.push(`accepted ${event.body.value.id} ${subscriptionIds.length}`)
          return row
        }),
      tried: (_id, row, { attempts, due }) => void lines.push(`tried ${row} ${attempts} ${due ? 'due' : 'given up'}`),
      settled: (_id, row) => void lines.push(`settled ${row}`),
      forget: () => void lines.push('forget'),
    },
  })
  const subscription = grid.subscribe({ webhook })
  grid.subscriber.answer({ status: 404 })
  grid.raise(grid.topic.id, [cloudEvent()])
  await grid.engine.idle()
  const ids = () => grid.subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
  return { grid, subscription, ids, lines }
}

it('what waits is tried at once on demand, though its endpoint is held back, and counts on', async () => {
  const { grid, subscription, ids } = await openWaiting()
  const { engine } = grid
  expect(engine.tryNow(subscription.id.toUpperCase())).toBe(true)
  await engine.idle()
  expect(ids()).toEqual(['e1', 'e1'])
  expect(grid.records.deliveries.last).toMatchObject({ deliveryCount: 1, outcome: 'delivered' })
  expect(engine.tryNow(subscription.id)).toBe(false)
  expect(engine.tryNow('/nothing')).toBe(false)
  await grid.clock.advance(3_600 * second)
  expect(ids()).toHaveLength(2)
})

it('a demand ends the pause of the endpoint for events that were not tried yet', async () => {
  const { grid, subscription, ids } = await openWaiting()
  grid.raise(grid.topic.id, [cloudEvent({ id: 'e2' })])
  await grid.engine.idle()
  expect(ids()).toEqual(['e1'])
  const waits = grid.engine.pendingQueues()[0]
  expect([waits?.size, waits?.underWay]).toEqual([2, 0])
  // One that does not wait: the pause alone ends.
  expect(
    grid.engine.tryNow(subscription.id, { schema: 'CloudEventSchemaV1_0', body: { value: {}, members: new Map() } }),
  ).toBe(true)
  await grid.engine.idle()
  expect(ids()).toEqual(['e1', 'e2'])
})

it('an event is delivered again on demand to one event subscription, whatever its filter says', async () => {
  const { grid, subscription, ids, lines } = await openWaiting()
  const event = {
    schema: 'CloudEventSchemaV1_0',
    body: { value: { id: 'again' }, members: new Map([['id', '"again"']]) },
  } as const
  expect(grid.engine.redeliver('/nothing', event)).toBe(false)
  grid.engine.tryNow(subscription.id)
  await grid.engine.idle()
  grid.subscribe({ filter: { includedEventTypes: ['Other'] } })
  expect(grid.engine.redeliver(subscription.id, event)).toBe(true)
  expect(grid.engine.pending()).toBe(1)
  await grid.engine.settled()
  expect(ids()).toEqual(['e1', 'e1', 'again'])
  expect(lines).toEqual(['accepted e1 1', 'tried 0 1 due', 'settled 0', 'accepted again 1', 'settled 0'])
})

it('an event is counted for each event subscription, and its journal settled at each', async () => {
  const { grid, lines } = await openWaiting()
  grid.subscribe({}, { name: 'other' })
  expect(grid.engine.pending()).toBe(1)
  grid.raise(grid.topic.id, [cloudEvent({ id: 'e2' })])
  expect(grid.engine.pending()).toBe(3)
  expect(lines.at(-1)).toBe('accepted e2 2')
  await grid.engine.idle()
  expect(grid.engine.pending()).toBe(2)
})

it('forgotten events are never tried; what is published after that is', async () => {
  const { grid, ids, lines } = await openWaiting()
  const settled = grid.engine.settled()
  grid.engine.forget()
  await settled
  expect([grid.engine.pending(), lines.at(-1)]).toEqual([0, 'forget'])
  grid.raise(grid.topic.id, [cloudEvent({ id: 'e2' })])
  await grid.engine.idle()
  await grid.clock.advance(3_600 * second)
  expect(ids()).toEqual(['e1', 'e2'])
})

it('the end of its event subscription forgets an event, and ends a wait for it', async () => {
  const { grid, subscription, lines } = await openWaiting()
  const settled = grid.engine.settled()
  grid.store.subscriptions.delete(subscription)
  grid.engine.subscriptionDeleted(subscription)
  await settled
  expect([lines.at(-1), grid.engine.queue(subscription.id)]).toEqual(['forget', undefined])
  grid.engine.subscriptionDeleted(subscription)
  expect(lines.filter((line) => line === 'forget')).toHaveLength(1)
})

it('closed, it takes, delivers and tries nothing, and leaves the journal as it is', async () => {
  const { grid, subscription, ids, lines } = await openWaiting()
  const settled = grid.engine.settled()
  await grid.engine.close()
  await settled
  const before = [...lines]
  grid.raise(grid.topic.id, [cloudEvent({ id: 'e2' })])
  grid.engine.subscriptionChanged(subscription)
  expect([grid.engine.tryNow(subscription.id), grid.engine.pending(), grid.engine.queue(subscription.id)]).toEqual([
    false,
    0,
    undefined,
  ])
  await grid.clock.advance(3_600 * second)
  expect([ids(), lines]).toEqual([['e1'], before])
})

it('an event that is given up waits for its dead letter as long as the delay says', async () => {
  const grid = await openEventGrid({ delivery: { deadLetterDelay: 10 * second } })
  const properties = { resourceId: '/subscriptions/s/storageAccounts/letters', blobContainerName: 'dead' }
  grid.subscribe({
    retryPolicy: { maxDeliveryAttempts: 1 },
    deadLetterWithResourceIdentity: { deadLetterDestination: { endpointType: 'StorageBlob', properties } },
  })
  grid.subscriber.answer({ status: 500 })
  await publish(grid, [cloudEvent()])
  await grid.engine.idle()
  expect(grid.records.deliveries.last).toMatchObject({ outcome: 'dead-lettered' })
  expect(grid.engine.pendingDeadLetters()).toMatchObject([{ due: grid.clock.now() + 10 * second }])
  await grid.clock.advance(10 * second - 1)
  expect([grid.engine.pending(), grid.records.deadLetters.length]).toEqual([1, 0])
  await grid.clock.advance(1)
  expect(grid.engine.pending()).toBe(0)
  expect(grid.records.deadLetters.last?.blobPath).toMatch(/^dead\/SUB1\/2026\/1\/5\/14\//)
})
