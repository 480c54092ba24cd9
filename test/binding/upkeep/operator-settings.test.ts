/** What an operator set by the newest api-version, which older ones hide, stands after a repair; test/provision has the other writes. */
import { expect, it } from 'vitest'
import { sendArm } from '../../support/azure-clients.ts'
import { eventually } from '../../support/eventually.ts'
import { order } from '../../support/open-pull.ts'
import { openWorld, publicUrl } from '../../support/open-world.ts'

it('stands after the delivery credential was taken out and repaired', async () => {
  const { emulator, fields, handled, init } = await openWorld({ emulator: { retrySchedule: [20, 200, 1_000] } })
  const scope = fields.scope ?? ''
  const path = `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/orders?api-version=2025-02-15`
  const destination = {
    endpointType: 'WebHook',
    properties: { endpointUrl: publicUrl, minimumTlsVersionAllowed: '1.2' },
  }
  const properties = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
  const stands = async () => JSON.stringify((await sendArm(emulator, path)).body)
  await init()
  await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })
  await emulator.idle()
  expect(await stands()).not.toContain('X-EventGrid-Binding-Token')
  emulator.raise(scope, [order('one')])
  await eventually(() => expect(handled.map(({ cloudEvent }) => cloudEvent.id)).toEqual(['one']))
  expect(await stands()).toContain('X-EventGrid-Binding-Token')
  expect(await stands()).toContain('"minimumTlsVersionAllowed":"1.2"')
})
