import { ownDeliveryCredential } from '../../src/core/delivery-credential.ts'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import type { PushMetadata } from '../../src/metadata/typed/metadata.ts'

const scopeId = '/subscriptions/s1/resourceGroups/rg1'

/** A valid input side, with what a test changes of it. */
export const inputMetadata = (changes: Partial<PushMetadata> = {}): PushMetadata => ({
  credential: {
    kind: 'clientSecret',
    tenantId: 't1',
    clientId: 'c1',
    clientSecret: new Secret('client-secret-marked'),
  },
  environment: azureEnvironments.AzurePublicCloud,
  subscriptionId: 's1',
  clientId: 'c1',
  subscriberEndpoint: 'https://app.example.com/api/events?code=query-marked',
  handshakePort: 0,
  listenAddress: undefined,
  scope: { kind: 'resourceGroup', id: scopeId, subscriptionId: 's1', resourceGroup: 'rg1' },
  eventSubscriptionName: 'events1',
  settings: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
  replaceDestination: false,
  deliveryAuthentication: { kind: 'secret', sources: [new Secret('client-secret-marked')] },
  maxConcurrency: 256,
  maxRequestBytes: 4_194_304,
  handlerTimeoutMs: 25_000,
  subscriptionTimeoutMs: 120_000,
  provisioning: 'manage',
  ...changes,
})

/** The credential that its deliveries carry. */
export const header = ownDeliveryCredential(inputMetadata())?.reveal() ?? ''
/** What must never be seen outside of a request to Azure. */
export const marked = ['client-secret-marked', 'query-marked', header, 'operator-marked']
