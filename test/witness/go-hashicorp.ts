// HashiCorp's SDK for Azure, of which Terraform's azurerm is made, in Go.
import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { openConsentingWebhook } from './consenting-webhook.ts'
import { goSteps, prepareGo } from './go-program.ts'
import type { Witness } from './witness.ts'

const folder = 'go-hashicorp'

export const goHashicorp: Witness = {
  name: "HashiCorp's Go SDK",
  prepare: () => prepareGo(folder),
  async run() {
    await using webhook = await openConsentingWebhook()
    await using emulator = await EventGridEmulator.start({
      ingress: [{ from: 'https://hashicorp.example.com/', to: webhook.to }],
      clients: [{ roles: [{ role: 'Owner' }] }],
      // Without it the SDK waits ten seconds before it asks for the state of an operation.
      operationRetryAfter: 1,
    })
    const { tenantId, subscriptionId, clientId, clientSecret, endpoints } = emulator
    const [client] = emulator.clients()
    return await goSteps(folder, emulator, {
      ...{ tenantId, subscriptionId, clientId, clientSecret, objectId: client?.objectId },
      resourceManager: endpoints.resourceManager,
      webhook: 'https://hashicorp.example.com/events',
      examples: join(import.meta.dirname, '../../examples/terraform'),
    })
  },
}
