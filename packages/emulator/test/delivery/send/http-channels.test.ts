import { expect, it } from 'vitest'
import { cloudEvent, openEventGrid, publish } from '../../event-grid.ts'

it('a token is used for a minute, for all deliveries to its audience and for no other', async () => {
  const grid = await openEventGrid()
  const azureActiveDirectoryTenantId = '11111111-1111-4111-8111-111111111111'
  const secured = (azureActiveDirectoryApplicationIdOrUri: string) => ({
    webhook: { azureActiveDirectoryTenantId, azureActiveDirectoryApplicationIdOrUri },
  })
  await grid.subscribe(secured('api://one'), { name: 'one' })
  await grid.subscribe(secured('api://one'), { name: 'too' })
  await grid.subscribe(secured('api://other'), { name: 'other' })
  await grid.subscribe({ webhook: { azureActiveDirectoryTenantId } }, { name: 'half' })
  for (const ms of [0, 59_999, 1]) {
    await grid.clock.advance(ms)
    await publish(grid, [cloudEvent()])
    await grid.emulator.idle()
  }
  const tokensOf = (name: string) =>
    grid.subscriber
      .deliveries()
      .filter(({ headers }) => headers['aeg-subscription-name'] === name)
      .map(({ headers }) => headers.authorization)
  const [first, second, third] = tokensOf('ONE')
  expect(second).toBe(first)
  expect(third).not.toBe(first)
  expect(tokensOf('TOO')).toEqual([first, first, third])
  expect(tokensOf('OTHER')).not.toContain(first)
  expect(tokensOf('HALF')).toEqual([undefined, undefined, undefined])
})
