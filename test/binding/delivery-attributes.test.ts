import type { DeliveryAttributeMappingUnion } from '@azure/arm-eventgrid'
import { expect, it, onTestFinished } from 'vitest'
import { Binding, type EventHandler, type ReceivedEvent } from '../../src/index.ts'
import { managementOf } from '../support/azure-clients.ts'
import { type Fields, openWorld } from '../support/open-world.ts'

/** Names that proxies and transports use for their own headers, too. */
const declared = ['X-Correlation-Id', 'x-request-id', 'From', 'Range', 'cf-team', 'X-Azure-Team', 'tenant']

/** An event subscription for which an operator declares attributes, and a binding that starts after that and adds its credential. */
async function openDeclared(
  deliveryAttributeMappings: DeliveryAttributeMappingUnion[],
  onEvent: EventHandler,
  more: Fields = {},
) {
  const { emulator, binding: before, fields, init } = await openWorld()
  const { eventSubscriptions } = managementOf(emulator)
  await init()
  await eventSubscriptions.beginUpdateAndWait((fields.scope ?? '').slice(1), 'orders', {
    destination: { endpointType: 'WebHook', endpointUrl: fields.subscriberEndpoint, deliveryAttributeMappings },
  })
  await before.close()
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent })
  onTestFinished(() => binding.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}`)
  await binding.init({ ...fields, ...more })
  return { emulator, binding }
}

it('hands each of 400 concurrent deliveries the attributes of its own event, whatever they are called', async () => {
  const handled: ReceivedEvent[] = []
  let underWay = 0
  let most = 0
  const full = Promise.withResolvers<void>()
  const { emulator, binding } = await openDeclared(
    declared.map((name) => ({ type: 'Dynamic', name, sourceField: 'data.own' })),
    async (event) => {
      most = Math.max(most, ++underWay)
      if (most === 8) full.resolve()
      // Others come while it runs.
      await full.promise
      handled.push(event)
      underWay--
    },
    { maxConcurrency: '8' },
  )
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
