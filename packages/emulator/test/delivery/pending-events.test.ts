import { expect, it } from 'vitest'
import { cloudEvent, openEventGrid } from '../event-grid.ts'

/** An event that waits for its second try at an endpoint that is held back, and what the buttons of the page ask. */
async function openWaiting() {
  const grid = await openEventGrid({ probation: { afterFailures: 1 } })
  const { emulator, subscriber } = grid
  const subscriptionId = await grid.subscribe()
  const { proxy } = emulator
  const headers = { 'content-type': 'application/json', origin: proxy }
  const ask = async (what: 'try' | 'redeliver', form: object) => {
    const answer = await fetch(`${proxy}/page/${what}`, { method: 'POST', headers, body: JSON.stringify(form) })
    await emulator.idle()
    return answer.status
  }
  const raise = async (id: string) => {
    emulator.raise('orders', [cloudEvent({ id })])
    await emulator.idle()
    return emulator.events().events.at(-1)?.key
  }
  subscriber.answer({ status: 404 })
  const key = await raise('e1')
  const ids = () => subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
  return { grid, subscriptionId, key, ids, ask, raise }
}

it('what waits is tried at once on demand, though its endpoint is held back, and counts on', async () => {
  const { grid, subscriptionId, ids, ask } = await openWaiting()
  expect(await ask('try', { subscriptionId: subscriptionId.toUpperCase() })).toBe(200)
  expect(ids()).toEqual(['e1', 'e1'])
  expect(grid.records.deliveries.last).toMatchObject({ deliveryCount: 1, outcome: 'delivered' })
  expect(await ask('try', { subscriptionId })).toBe(409)
  expect(await ask('try', { subscriptionId: '/nothing' })).toBe(409)
  expect(await ask('try', {})).toBe(404)
  await grid.clock.advance(3_600_000)
  expect(ids()).toHaveLength(2)
})

it('a demand ends the pause of the endpoint for events that were not tried yet', async () => {
  const { grid, subscriptionId, ids, ask, raise } = await openWaiting()
  const key = await raise('e2')
  expect([ids(), grid.emulator.pending]).toEqual([['e1'], 2])
  // One that does not wait: the pause alone ends.
  expect(await ask('try', { subscriptionId, key })).toBe(200)
  expect(ids()).toEqual(['e1', 'e2'])
})

it('an event is delivered again on demand to one event subscription, whatever its filter says', async () => {
  const { grid, subscriptionId, key, ids, ask } = await openWaiting()
  expect(await ask('redeliver', { subscriptionId, key })).toBe(409)
  await ask('try', { subscriptionId, key })
  await grid.subscribe({ filter: { includedEventTypes: ['Other'] } })
  expect(await ask('redeliver', { subscriptionId: '/nothing', key })).toBe(404)
  expect(await ask('redeliver', { subscriptionId, key })).toBe(200)
  expect(ids()).toEqual(['e1', 'e1', 'e1'])
  expect(grid.emulator.pending).toBe(0)
})

it('an event is counted for each event subscription', async () => {
  const { grid } = await openWaiting()
  await grid.subscribe({}, { name: 'other' })
  expect(grid.emulator.pending).toBe(1)
  grid.emulator.raise('orders', [cloudEvent({ id: 'e2' })])
  expect(grid.emulator.pending).toBe(3)
  await grid.emulator.idle()
  expect(grid.emulator.pending).toBe(2)
})
