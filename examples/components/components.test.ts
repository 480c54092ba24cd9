import { readdirSync, readFileSync } from 'node:fs'
import { ClientSecretCredential } from '@azure/identity'
import { Binding, parseComponents } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { expect, it, onTestFinished } from 'vitest'

const tenantId = '7e57ed00-0000-4000-8000-000000000001'
const subscriptionId = '5ab5c21b-0000-4000-8000-000000000002'
const clientId = 'c11e0700-0000-4000-8000-000000000003'

// The demo runs demo.yaml.
const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.yaml') && file !== 'demo.yaml')

it.each(files)('%s takes and publishes events on the emulator', async (file) => {
  const emulator = await EventGridEmulator.start({
    clients: [{ tenantId, clientId }],
    subscriptions: [{ id: subscriptionId, resourceGroups: ['shop'] }],
    topics: [{ name: 'orders' }],
  })
  onTestFinished(() => emulator.close())
  const { endpoint, key } = emulator.topic('orders')
  const [component] = parseComponents(readFileSync(`${import.meta.dirname}/${file}`, 'utf8'), {
    file,
    env: { TOPIC_ENDPOINT: endpoint },
    secrets: {
      'event-grid': {
        clientSecret: emulator.clientSecret,
        accessKey: key,
        deliveryToken: 'sixteen-characters-at-least',
      },
    },
  })
  if (!component) throw new Error(`${file} holds no component`)

  const handled: unknown[] = []
  const binding = new Binding({
    endpoints: emulator.endpoints,
    onEvent: ({ cloudEvent }) => void handled.push(cloudEvent.data),
    // A managed identity is to be had on Azure's machines only.
    ...(component.properties.azureCredential === 'managedIdentity' && { credential: signIn(emulator) }),
  })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
  await binding.init(onFreePort(component))

  const data = { amount: 12.5 }
  const { input, output } = binding.health()
  if (output) await binding.invoke('create', data, { metadata: { type: 'order.paid' } })
  else
    emulator.raise(emulator.topic('orders').id, [
      { specversion: '1.0', id: '1', source: '/shop', type: 'order.paid', data },
    ])
  await emulator.settled()
  expect(handled).toEqual(input ? [data] : [])
  expect(emulator.figures()).toMatchObject({ published: 1 })
})

function signIn({ tenantId, clientId, clientSecret, endpoints }: EventGridEmulator): ClientSecretCredential {
  return new ClientSecretCredential(tenantId, clientId, clientSecret, {
    authorityHost: endpoints.authorityHost,
    disableInstanceDiscovery: true,
    tlsOptions: { ca: endpoints.ca },
  })
}

type Component = ReturnType<typeof parseComponents>[number]

/** The port that the component asks for may be taken on the machine of the test. */
function onFreePort(component: Component): Component {
  const { handshakePort, ...properties } = component.properties
  return { ...component, properties: handshakePort === undefined ? properties : { ...properties, handshakePort: '0' } }
}
