/** What a listener learns of its event subscription without a delivery. */
import { expect, it, onTestFinished } from 'vitest'
import { createInputSide } from '../../src/binding/input-side.ts'
import { parseMetadata } from '../../src/metadata/parse-metadata.ts'
import { credentialOf, managementOf } from '../support/azure-clients.ts'
import { captureLog } from '../support/captured-log.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { publicUrl } from '../support/open-world.ts'
import { startEmulator } from '../support/start-emulator.ts'
import { openWebhook } from '../support/webhook.ts'

async function openSide() {
  const emulator = await startEmulator()
  const topic = emulator.topic()
  const time = createManualClock()
  const { input } = parseMetadata(
    {
      tenantId: emulator.tenantId,
      subscriptionId: emulator.subscriptionId,
      clientId: emulator.clientId,
      clientSecret: emulator.clientSecret,
      subscriberEndpoint: `${publicUrl}?code=marked`,
      handshakePort: '0',
      listenAddress: '127.0.0.1',
      scope: topic.id,
      eventSubscriptionName: 'orders',
    },
    { credentialGiven: true, allowAnyPort: true },
  )
  if (!input) throw new Error('no input side')
  const side = await createInputSide(input, {
    endpoints: emulator.endpoints,
    hostCredential: credentialOf(emulator),
    logger: captureLog(),
    clock: time.clock,
    handler: () => () => undefined,
    fastify: undefined,
  })
  onTestFinished(() => side.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${side.address()?.port}${pathname}`)
  await side.start('wait', new AbortController().signal)
  const { eventSubscriptions } = managementOf(emulator)
  const scope = topic.id.slice(1)
  return {
    emulator,
    side,
    remove: () => eventSubscriptions.beginDeleteAndWait(scope, 'orders'),
    move: (endpointUrl: string) =>
      eventSubscriptions.beginUpdateAndWait(scope, 'orders', { destination: { endpointType: 'WebHook', endpointUrl } }),
    exists: () => emulator.eventSubscription(topic.id, 'orders') !== undefined,
    /** Lets the time until the next look pass. */
    look: () => time.advance(10 * 60_000),
  }
}

it('creates an event subscription again that somebody deleted', async () => {
  const { side, remove, exists, look } = await openSide()
  expect(side.health().status).toBe('healthy')
  await remove()
  look()
  await expect.poll(exists, { timeout: 10_000 }).toBe(true)
  await expect.poll(() => side.health().status, { timeout: 10_000 }).toBe('healthy')
})

it('is degraded with the reason where somebody moved it, and writes nothing', async () => {
  const { emulator, side, move, look } = await openSide()
  const other = await openWebhook(emulator)
  await move(`${other.url}?code=marked-elsewhere`)
  const writes = () => emulator.records.requests.filter(({ method }) => method === 'PUT' || method === 'PATCH').length
  const before = writes()
  look()
  await expect.poll(() => side.health(), { timeout: 10_000 }).toMatchObject({ status: 'degraded' })
  expect(side.health().reasons).toEqual([
    `somebody changed the event subscription: it delivers to ${other.url}, not to ${publicUrl}`,
  ])
  expect(writes()).toBe(before)
})
