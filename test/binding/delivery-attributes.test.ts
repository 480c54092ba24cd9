import { expect, it, onTestFinished } from 'vitest'
import { Binding, type ReceivedEvent } from '../../src/index.ts'
import { managementOf } from '../support/azure-clients.ts'
import { openWorld } from '../support/open-world.ts'

/** Names that proxies and transports use for their own headers, too. */
const declared = ['X-Correlation-Id', 'x-request-id', 'From', 'Range', 'cf-team', 'X-Azure-Team', 'tenant']
const credentials = ['X-Api-Key', 'Cookie']

it('hands over each delivery attribute that the event subscription declares, and never a credential', async () => {
  const { emulator, binding: before, fields, init } = await openWorld()
  const { eventSubscriptions } = managementOf(emulator)
  await init()
  await eventSubscriptions.beginUpdateAndWait((fields.scope ?? '').slice(1), 'orders', {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: fields.subscriberEndpoint,
      deliveryAttributeMappings: [...declared, ...credentials].map((name) => ({
        ...{ type: 'Static' as const, name, value: `value of ${name}`, isSecret: false },
      })),
    },
  })
  await before.close()
  // A start finds what an operator has declared, and adds the credential of the binding.
  const handled: ReceivedEvent[] = []
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent: (event) => void handled.push(event) })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}`)
  await binding.init(fields)
  await binding.invoke('create', { ok: true })
  await emulator.settled()
  const metadata = handled[0]?.metadata ?? {}
  expect(declared.map((name) => metadata[name.toLowerCase()])).toEqual(declared.map((name) => `value of ${name}`))
  for (const name of [...credentials, 'X-EventGrid-Binding-Token'])
    expect(metadata).not.toHaveProperty(name.toLowerCase())
})
