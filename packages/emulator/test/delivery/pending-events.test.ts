import { expect, it } from 'vitest'
import { cloudEvent, openEventGrid } from '../event-grid.ts'

/** An event that waits for its second try at an endpoint that is held back, and what is asked of the test interface. */
async function openWaiting() {
  const grid = await openEventGrid({ probation: { afterFailures: 1 } })
  const { emulator, subscriber } = grid
  const subscriptionId = await grid.subscribe()
  const { proxy } = emulator
  const ask = async (path: string, subscription?: string) => {
    const body = subscription && JSON.stringify({ subscription })
    const answer = await fetch(`${proxy}/emulator/${path}`, { method: 'POST', ...(body && { body }) })
    await emulator.idle()
    return answer.status
  }
  const tryAll = (subscription: string) => ask(`subscriptions/${encodeURIComponent(subscription)}/try-now`)
  const raise = async (id: string) => {
    emulator.raise('orders', [cloudEvent({ id })])
    await emulator.idle()
    return emulator.events().events.at(-1)?.key
  }
  subscriber.answer({ status: 404 })
  const key = await raise('e1')
  const ids = () => subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
  return { grid, subscriptionId, key, ids, ask, tryAll, raise }
}

it('what waits is tried at once on demand, though its endpoint is held back, and counts on', async () => {
  const { grid, subscriptionId, ids, tryAll } = await openWaiting()
  expect(await tryAll(subscriptionId.toUpperCase())).toBe(204)
  expect(ids()).toEqual(['e1', 'e1'])
  expect(grid.records.deliveries.last).toMatchObject({ deliveryCount: 1, outcome: 'delivered' })
  expect(await tryAll('Sub1')).toBe(409)
  expect(await tryAll('/nothing')).toBe(404)
  await grid.clock.advance(3_600_000)
  expect(ids()).toHaveLength(2)
})

it('a demand ends the pause of the endpoint for events that were not tried yet', async () => {
  const { grid, subscriptionId, ids, ask, raise } = await openWaiting()
  const key = await raise('e2')
  expect([ids(), grid.emulator.pending]).toEqual([['e1'], 2])
  // One that does not wait: the pause alone ends.
  expect(await ask(`events/${key}/try-now`, subscriptionId)).toBe(204)
  expect(ids()).toEqual(['e1', 'e2'])
})

it('an event is delivered again on demand to one event subscription, whatever its filter says', async () => {
  const { grid, subscriptionId, key, ids, ask } = await openWaiting()
  expect(await ask(`events/${key}/redeliver`, subscriptionId)).toBe(409)
  expect(await ask(`events/${key}/try-now`)).toBe(204)
  expect(await ask(`events/${key}/try-now`)).toBe(409)
  await grid.subscribe({ filter: { includedEventTypes: ['Other'] } })
  expect(await ask(`events/${key}/redeliver`, '/nothing')).toBe(404)
  expect(await ask('events/4711/redeliver')).toBe(404)
  expect(await ask(`events/${key}/redeliver`, 'sub1')).toBe(204)
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
