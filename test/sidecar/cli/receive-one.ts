/**
 * An application in a shell into which the emulator's lines were pasted: nothing but them tells it where Azure is. It publishes one event
 * and prints it as it comes back. Arguments: scope, topic endpoint, access key.
 */
import { Binding } from '../../../src/index.ts'

const { AZURE_TENANT_ID = '', AZURE_CLIENT_ID = '', AZURE_CLIENT_SECRET = '', AZURE_SUBSCRIPTION_ID = '' } = process.env
const [scope = '', topicEndpoint = '', accessKey = ''] = process.argv.slice(2)

const received = Promise.withResolvers<string>()
const binding = new Binding({ onEvent: async ({ cloudEvent }) => received.resolve(JSON.stringify(cloudEvent.data)) })
const ready = binding.init({
  tenantId: AZURE_TENANT_ID,
  subscriptionId: AZURE_SUBSCRIPTION_ID,
  clientId: AZURE_CLIENT_ID,
  clientSecret: AZURE_CLIENT_SECRET,
  subscriberEndpoint: 'https://pasted.example/api/events',
  handshakePort: '0',
  scope,
  topicEndpoint,
  accessKey,
})
const listening = async () => {
  for (;;) {
    const address = binding.address()
    if (address) return address
    await new Promise((resolve) => setImmediate(resolve))
  }
}
const address = await Promise.race([listening(), ready.then(() => binding.address())])
console.log(`listens on port ${address?.port}`)
await ready
await binding.invoke('create', { order: 'one' })
console.log(`received ${await received.promise}`)
await binding.close()
