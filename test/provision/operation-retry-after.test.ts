/** Azure sends `Retry-After: 10` with the 201 of a change. */
import { expect, it } from 'vitest'
import { openWorld } from '../support/open-world.ts'

it('init polls an operation at the pace of its status, not of the 201: it ends when the operation does', async () => {
  // To wait for it would take longer than subscriptionTimeout, and init would fail.
  const world = await openWorld({ emulator: { operationRetryAfter: 600, operationDelayMs: 300 } })
  await world.init()
  const polls = world.emulator.records.requests.filter(({ url }) => url.includes('/operationsStatus/'))
  expect(polls.length).toBeGreaterThan(1)
  expect(world.subscription()?.provisioningState).toBe('Succeeded')
  expect(world.binding.health().input?.status).toBe('healthy')
})
