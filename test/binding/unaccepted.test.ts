/** Deliveries whose Entra token is not accepted: who hears of it, and why. */
import { expect, it } from 'vitest'
import { managementOf } from '../support/azure-clients.ts'
import { openWorld, publicUrl, type World } from '../support/open-world.ts'

const entra = { deliveryAuthentication: 'entra' }

/** Lets Event Grid deliver with a token for this audience. */
async function deliverFor(world: World, audience: string): Promise<void> {
  const { eventSubscriptions } = managementOf(world.emulator)
  await eventSubscriptions.beginUpdateAndWait(String(world.fields.scope).slice(1), 'orders', {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: publicUrl,
      azureActiveDirectoryTenantId: world.emulator.tenantId,
      azureActiveDirectoryApplicationIdOrUri: audience,
    },
  })
}

it('tells log, health and counts which claim is wrong, what was expected and what came, until a delivery is accepted', async () => {
  const world = await openWorld({ emulator: { retrySchedule: [50] } })
  const { binding, emulator, log } = world
  await world.init(entra)
  await deliverFor(world, 'https://other.example.com/?code=marked-secret')
  await binding.invoke('create', { order: 1 })
  await emulator.records.deliveries.waitFor(({ status }) => status === 503)
  const came = 'aud is https://other.example.com/?(redacted); expected: '
  await expect
    .poll(() => binding.health())
    .toMatchObject({
      status: 'degraded',
      input: {
        reasons: [expect.stringContaining(`its token is for another audience (${came}${emulator.clientId} or api://`)],
        unaccepted: { audience: expect.any(Number), signature: 0 },
      },
    })
  expect(binding.health().input?.unaccepted.audience).toBeGreaterThan(0)
  const line = log.lines.find(({ message }) => message === 'put off a delivery: its Entra token is not accepted')
  expect(line?.fields).toMatchObject({ status: 503, claim: 'aud', came: expect.stringContaining('other.example.com') })
  expect(JSON.stringify([log.lines, binding.health()])).not.toMatch(/marked-secret|eyJ/)

  await deliverFor(world, emulator.clientId)
  await emulator.settled()
  expect(binding.health().status).toBe('healthy')
})
