/** What an operator set by the newest api-version, which older ones hide, stands after a repair; test/provision/upsert has the other writes. */
import { expect, it, onTestFinished } from 'vitest'
import { Binding } from '../../../src/index.ts'
import { sendArm } from '../../support/azure-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { order } from '../../support/open-pull.ts'
import { publicUrl } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'

/** An event subscription that an operator made, and a component that takes it over. */
async function openTakeover() {
  const emulator = await startEmulator({ retrySchedule: [20, 200, 1_000] })
  const { tenantId, subscriptionId, clientId, clientSecret } = emulator
  const { id: scope } = emulator.topic('orders')
  let latest: Binding | undefined
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${latest?.address()?.port ?? 1}${pathname}`)
  const path = `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/orders?api-version=2025-02-15`
  const destination = {
    endpointType: 'WebHook',
    properties: { endpointUrl: publicUrl, minimumTlsVersionAllowed: '1.2' },
  }
  const put = (more: object) =>
    sendArm(emulator, path, {
      method: 'PUT',
      body: JSON.stringify({
        properties: {
          destination,
          eventDeliverySchema: 'CloudEventSchemaV1_0',
          ...more,
        },
      }),
    })
  return {
    emulator,
    put,
    raise: (id: string) => emulator.raise(scope, [order(id)]),
    stands: async () => {
      const { body } = await sendArm(emulator, path)
      return JSON.stringify(body)
    },
    async start() {
      const handled: string[] = []
      const binding = new Binding({
        endpoints: emulator.endpoints,
        onEvent: ({ cloudEvent }) => void handled.push(cloudEvent.id),
      })
      latest = binding
      onTestFinished(() => binding.close())
      await binding.init({
        ...{ tenantId, subscriptionId, clientId, clientSecret, scope, subscriberEndpoint: publicUrl },
        ...{ handshakePort: '0', listenAddress: '127.0.0.1', eventSubscriptionName: 'orders' },
      })
      return { binding, handled }
    },
  }
}

it('stands after the delivery credential was taken out and repaired', async () => {
  const { emulator, put, start, stands, raise } = await openTakeover()
  const { handled } = await start()
  await put({})
  await emulator.idle()
  expect(await stands()).not.toContain('X-EventGrid-Binding-Token')
  raise('one')
  await eventually(() => expect(handled).toEqual(['one']))
  expect(await stands()).toContain('X-EventGrid-Binding-Token')
  expect(await stands()).toContain('"minimumTlsVersionAllowed":"1.2"')
})
