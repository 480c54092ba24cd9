import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openWorld } from '../support/open-world.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

it('azureCredential: workloadIdentity is rehearsed on the emulator, by a token that it signs', async () => {
  const world = await openWorld()
  const { tenantId, clientId } = world.emulator
  const file = join(temporaryFolder(), 'token')
  writeFileSync(file, await world.emulator.assertion())
  vi.stubEnv('AZURE_FEDERATED_TOKEN_FILE', file)
  vi.stubEnv('AZURE_TENANT_ID', tenantId)
  vi.stubEnv('AZURE_CLIENT_ID', clientId)
  onTestFinished(() => void vi.unstubAllEnvs())
  await world.init({
    azureCredential: 'workloadIdentity',
    clientSecret: undefined,
    deliveryToken: 'a-token-of-the-deliveries-long-enough',
  })
  await world.roundTrip()
  expect(world.binding.health().status).toBe('healthy')
})
