/** A valid input side, as one would write it. */
export const subscriptionId = '7b6b1e6f-0f6f-4a52-9a3d-2f3a0f7f5d11'

export const sampleInput = {
  tenantId: '0c6e1b5a-7a41-4a0c-9d3f-52d1c2f5b7aa',
  subscriptionId,
  clientId: '5a1d7c3e-9a50-4a4e-8f0a-8a5f7a1c0d22',
  clientSecret: 'marked-client-secret',
  subscriberEndpoint: 'https://app.example/api/events',
  handshakePort: '9000',
  scope: `/subscriptions/${subscriptionId}/resourceGroups/orders`,
} as const

/** A valid output side. */
export const sampleOutput = {
  accessKey: 'marked-access-key',
  topicEndpoint: 'https://orders.westeurope-1.eventgrid.azure.net/api/events',
} as const

export const storageAccount = `/subscriptions/${subscriptionId}/resourceGroups/orders/providers/Microsoft.Storage/storageAccounts/dead`
