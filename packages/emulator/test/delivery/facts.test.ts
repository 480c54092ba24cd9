import { expect, it } from 'vitest'
import { openWorld } from '../../../../test/support/open-world.ts'
import { cloudEvent, gridEvent, openEventGrid, publish } from '../event-grid.ts'

it('events of one topic may overtake each other: one that failed does not hold up the next', async () => {
  const grid = await openEventGrid({ topic: { inputSchema: 'EventGridSchema' }, concurrency: 1 })
  await grid.subscribe({ eventDeliverySchema: 'EventGridSchema' })
  grid.subscriber.answer({ status: 500 })
  await publish(grid, [gridEvent({ id: 'first' }), gridEvent({ id: 'second' })])
  await grid.clock.advance(10_000)
  expect(grid.subscriber.deliveries().map(({ body }) => JSON.parse(body)[0].id)).toEqual(['first', 'second', 'first'])
})

it.each(['1.0', '2.0'] as const)(
  'a receiver that checks tokens takes a delivery that bears one of version %s',
  async (version) => {
    const world = await openWorld({ emulator: { deliveryTokenVersion: version } })
    await world.init({ deliveryAuthentication: 'entra' })
    world.emulator.raise(world.emulator.topic().id, [cloudEvent({ id: 'for-entra' })])
    await world.emulator.idle()
    expect(world.handled.map(({ cloudEvent: { id } }) => id)).toEqual(['for-entra'])
    expect(world.emulator.records.deliveries.last).toMatchObject({ status: 200, outcome: 'delivered' })
  },
)
