// An event subscription that exists already may have hyphens in its name; the specification's rule binds what the binding creates.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Binding, parseComponents } from 'eventgrid-binding'
import { expect, it, onTestFinished } from 'vitest'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { managementOf } from '../support/azure-clients.ts'
import { openPull, order } from '../support/open-pull.ts'
import { refusal } from '../support/refusal.ts'
import { startEmulator } from '../support/start-emulator.ts'

const yaml = readFileSync(join(import.meta.dirname, '../fixtures/components/hyphen-name.yaml'), 'utf8')
const [definition] = parseComponents(yaml)

/** An emulator with the event subscription `orders-app`, as Terraform makes one. */
async function openWorld() {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }], clients: [{ roles: [{ role: 'Owner' }] }] })
  const { id: scope } = emulator.topic('orders')
  return { emulator, scope }
}

it('receives by push with provisioning none', async () => {
  const { emulator, scope } = await openWorld()
  const received = Promise.withResolvers<string>()
  const binding = new Binding({
    endpoints: emulator.endpoints,
    onEvent: ({ cloudEvent }) => received.resolve(cloudEvent.id),
  })
  onTestFinished(() => binding.close())
  const properties = { ...definition?.properties, scope, deliveryAuthentication: 'none', handshakePort: '0' }
  await binding.init({ name: 'orders', properties })
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
  const { eventSubscriptions } = managementOf(emulator)
  const destination = { endpointType: 'WebHook', endpointUrl: 'https://orders.example.com/api/events' } as const
  const made = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
  await eventSubscriptions.beginCreateOrUpdateAndWait(scope.slice(1), 'orders-app', made)
  const { endpoint: topicEndpoint, key: accessKey } = emulator.topic('orders')
  await using publisher = new Binding({ endpoints: emulator.endpoints })
  await publisher.init({ topicEndpoint, accessKey })
  await publisher.invoke('create', order('first'))
  expect(await received.promise).toBe('first')
})

it('receives by pull with the key of the namespace alone', async () => {
  const namespaces = [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'orders-app' }] }] }]
  const { binding, byKey, publish, events } = await openPull({ emulator: { namespaces } })
  await binding.init({ name: 'orders', properties: { ...byKey, eventSubscriptionName: 'orders-app' } })
  await publish(order('first'))
  await expect.poll(() => events.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['first'])
})

it('takes the file as it stands, and with provisioning check', () => {
  expect(parseMetadata(definition?.properties ?? []).push?.eventSubscriptionName).toBe('orders-app')
  const credential = { tenantId: 't', clientId: 'c', clientSecret: 's', provisioning: 'check' }
  const subscriptionId = '5ab5c21b-0000-4000-8000-000000000002'
  const checked = parseMetadata({ ...definition?.properties, ...credential, subscriptionId })
  expect(checked.push?.eventSubscriptionName).toBe('orders-app')
})

it.each([
  { name: 'push', fields: {} },
  {
    name: 'pull with a credential',
    fields: {
      deliveryMode: 'pull',
      namespaceTopic: `/subscriptions/s/resourceGroups/g/providers/Microsoft.EventGrid/namespaces/n/topics/t`,
    },
  },
])('refuses such a name where it would create the event subscription: $name', async ({ fields }) => {
  const all = { ...definition?.properties, provisioning: 'manage', tenantId: 't', clientId: 'c', clientSecret: 's' }
  await using binding = new Binding()
  const subscriptionId = '5ab5c21b-0000-4000-8000-000000000002'
  const { issues } = await refusal(binding.init({ ...all, subscriptionId, ...fields }))
  expect(issues).toMatchObject([
    { field: 'eventSubscriptionName', fix: expect.stringContaining('set provisioning: check, or none') },
  ])
})
