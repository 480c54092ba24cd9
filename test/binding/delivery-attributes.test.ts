import { setImmediate as nextTurn } from 'node:timers/promises'
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

it('hands each of 400 concurrent deliveries the attributes of its own event, whatever they are called', async () => {
  const { emulator, binding: before, fields, init } = await openWorld()
  const { eventSubscriptions } = managementOf(emulator)
  await init()
  await eventSubscriptions.beginUpdateAndWait((fields.scope ?? '').slice(1), 'orders', {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: fields.subscriberEndpoint,
      deliveryAttributeMappings: declared.map((name) => ({
        ...{ type: 'Dynamic' as const, name, sourceField: 'data.own' },
      })),
    },
  })
  await before.close()
  const handled: ReceivedEvent[] = []
  let underWay = 0
  let most = 0
  const binding = new Binding({
    endpoints: emulator.endpoints,
    async onEvent(event) {
      most = Math.max(most, ++underWay)
      // Others come and go while it runs.
      while (handled.length === 0 && most < 8) await nextTurn()
      handled.push(event)
      underWay--
    },
  })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}`)
  await binding.init({ ...fields, maxConcurrency: '8' })
  const events = Array.from({ length: 400 }, (_, index) => ({ own: `value-${index}` }))
  await Promise.all(events.map((data) => binding.invoke('create', data)))
  await emulator.settled()
  const owns = handled.map(({ cloudEvent, metadata }) => [
    cloudEvent.data,
    ...declared.map((name) => ({ own: metadata[name.toLowerCase()] })),
  ])
  expect(most).toBe(8)
  expect(new Set(owns.map(([own]) => JSON.stringify(own))).size).toBe(400)
  for (const [own, ...attributes] of owns) expect(attributes).toEqual(declared.map(() => own))
})
