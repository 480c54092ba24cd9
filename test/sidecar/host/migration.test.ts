import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { managementOf } from '../../support/azure-clients.ts'
import { listen } from '../../support/listen.ts'
import { openWorld, publicUrl } from '../../support/open-world.ts'

/** Says yes to every handshake, as Dapr's own binding does. Its port. */
async function openOldBinding(): Promise<number> {
  const server = createServer((request, response) => {
    const origin = String(request.headers['webhook-request-origin'])
    response.writeHead(200, { 'webhook-allowed-origin': origin, 'webhook-allowed-rate': '*' }).end()
  })
  return listen(server)
}

/** A world in which Dapr's own binding has made an event subscription, and whose component of the same YAML is ours from now on. */
async function migrate(component: string, fields: Readonly<Record<string, string>>) {
  const world = await openWorld()
  const { emulator, binding } = world
  const scope = emulator.topic('orders').id
  // The SDK puts the slash itself.
  const source = scope.slice(1)
  const old = await openOldBinding()
  emulator.setIngress(() => `http://127.0.0.1:${binding.address()?.port ?? old}/api/events`)
  const { eventSubscriptions } = managementOf(emulator)
  await eventSubscriptions.beginCreateOrUpdateAndWait(source, component, {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: publicUrl,
      azureActiveDirectoryTenantId: emulator.tenantId,
      azureActiveDirectoryApplicationIdOrUri: emulator.clientId,
    },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
  })
  const { eventSubscriptionName: _, ...same } = world.fields
  await binding.init({ name: component, properties: { ...same, ...fields } })
  const publish = async (id: string) => {
    emulator.raise(scope, [{ specversion: '1.0', id, source: '/shop', type: 'order.placed' }])
    await emulator.settled()
    return emulator.records.deliveries.filter(({ eventIds }) => eventIds.includes(id)).map(({ status }) => status)
  }
  const names = () => emulator.eventSubscriptions().map(({ name }) => name)
  return { ...world, eventSubscriptions, source, publish, names }
}

it("finds the event subscription of Dapr's binding under the component's name, where that is letters and digits", async () => {
  const { names, publish } = await migrate('orders', { deliveryAuthentication: 'entra' })
  expect(names()).toEqual(['orders'])
  expect(await publish('one')).toEqual([200])
})

it.each([
  { deliveryAuthentication: 'entra', statuses: [200, 200], fate: 'taken too, so every event comes twice' },
  { deliveryAuthentication: 'secret', statuses: [200, 401], fate: 'refused' },
])(
  'makes a second one where the name has hyphens: with $deliveryAuthentication what the first one sends is $fate',
  async ({ deliveryAuthentication, statuses }) => {
    const { names, publish, eventSubscriptions, source } = await migrate('my-orders', { deliveryAuthentication })
    expect(names()).toEqual(['my-orders', expect.stringMatching(/^myorders[0-9a-f]{8}$/)])
    expect((await publish('one')).toSorted()).toEqual(statuses)
    // What `az eventgrid event-subscription delete` does.
    await eventSubscriptions.beginDeleteAndWait(source, 'my-orders')
    expect(await publish('two')).toEqual([200])
  },
)

it("leaves with entra what Dapr's binding wants to find, so that going back writes nothing", async () => {
  const { subscription, emulator } = await migrate('orders', { deliveryAuthentication: 'entra' })
  expect(subscription()?.properties).toMatchObject({
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    destination: {
      endpointType: 'WebHook',
      properties: {
        endpointUrl: publicUrl,
        azureActiveDirectoryTenantId: emulator.tenantId,
        azureActiveDirectoryApplicationIdOrUri: emulator.clientId,
      },
    },
  })
  expect(JSON.stringify(subscription())).not.toMatch(/X-EventGrid-Binding-Token/i)
})
