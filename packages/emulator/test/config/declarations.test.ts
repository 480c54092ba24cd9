import { expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { handshakeAgainMs } from '../../src/arm/subscriptions/provisioning.ts'
import { ManualClock } from '../../src/index.ts'
import { grant, startSubscriber } from '../subscriber.ts'

const endpoint = 'https://subscriber.example/api/events'

/** Starts an emulator whose declared event subscription `audit` has failed its first handshake. */
async function openFailed() {
  const subscriber = await startSubscriber()
  subscriber.onHandshake(() => ({ status: 503 }))
  const clock = new ManualClock()
  const ingress = [{ from: 'https://subscriber.example/', to: subscriber.url }]
  const emulator = await startEmulator({ clock, ingress, eventSubscriptions: [{ name: 'audit', endpoint }] })
  await emulator.idle()
  const states = () => emulator.eventSubscriptions().map(({ provisioningState }) => provisioningState)
  expect(states()).toEqual(['Failed'])
  subscriber.onHandshake(grant)
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/audit`
  const tryAgain = async () => {
    await clock.advance(handshakeAgainMs)
    await emulator.idle()
  }
  return { emulator, path, states, tryAgain }
}

it('does not bring back a declared event subscription that was deleted before the next handshake', async () => {
  const { emulator, path, states, tryAgain } = await openFailed()
  expect((await sendArm(emulator, path, { method: 'DELETE' })).status).toBe(202)
  await emulator.idle()
  await tryAgain()
  expect(states()).toEqual([])
})

it('does not undo a change of a declared event subscription that was made before the next handshake', async () => {
  const { emulator, path, tryAgain } = await openFailed()
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: endpoint } }
  const body = { properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0', labels: ['mine'] } }
  expect((await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify(body) })).status).toBe(201)
  await emulator.idle()
  await tryAgain()
  expect(emulator.eventSubscriptions()).toMatchObject([
    { provisioningState: 'Succeeded', properties: { labels: ['mine'] } },
  ])
})
