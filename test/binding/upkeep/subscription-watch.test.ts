/** What a listener learns of its event subscription without a delivery. */
import { expect, it, onTestFinished } from 'vitest'
import type { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { createPullSide } from '../../../src/binding/sides/pull-side.ts'
import { createPushSide } from '../../../src/binding/sides/push-side.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { credentialOf, managementOf, sendArm } from '../../support/azure-clients.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { type Fields, fieldsFor, publicUrl } from '../../support/open-world.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openWebhook } from '../../support/webhook.ts'

async function openSide(changes: Fields = {}, given?: EventGridEmulator) {
  const emulator = given ?? (await startEmulator())
  const topic = emulator.topic()
  const time = createManualClock()
  const fields = {
    ...fieldsFor(emulator),
    subscriberEndpoint: `${publicUrl}?code=marked`,
    maxDeliveryAttempts: '7',
    ...changes,
  }
  const { push: input } = parseMetadata(fields, { credentialGiven: true, allowAnyPort: true })
  if (!input) throw new Error('no input side')
  const side = await createPushSide(input, {
    endpoints: emulator.endpoints,
    hostCredential: credentialOf(emulator),
    logger: captureLog(),
    clock: time.clock,
    handler: { current: () => undefined },
    fastify: undefined,
  })
  onTestFinished(() => side.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${side.address()?.port}${pathname}`)
  await side.listen(new AbortController().signal)
  await side.start('wait', new AbortController().signal)
  const { eventSubscriptions } = managementOf(emulator)
  const scope = topic.id.slice(1)
  return {
    emulator,
    side,
    remove: () => eventSubscriptions.beginDeleteAndWait(scope, 'orders'),
    move: (endpointUrl: string) =>
      eventSubscriptions.beginUpdateAndWait(scope, 'orders', { destination: { endpointType: 'WebHook', endpointUrl } }),
    /** A write of somebody, with what he knows of it. */
    write: (parameters: Parameters<typeof eventSubscriptions.beginUpdateAndWait>[2]) =>
      eventSubscriptions.beginUpdateAndWait(scope, 'orders', parameters),
    standing: () => JSON.stringify(emulator.eventSubscription(topic.id, 'orders')),
    exists: () => emulator.eventSubscription(topic.id, 'orders') !== undefined,
    /** Lets the time until the next look pass. */
    look: () => time.advance(10 * 60_000),
  }
}

it('creates an event subscription again that somebody deleted, as soon as Event Grid tells of that', async () => {
  const { side, remove, exists } = await openSide()
  const before = { status: 'healthy', eventSubscription: { state: 'provisioned', timesDeleted: 0 } }
  expect(side.health()).toMatchObject(before)
  await remove()
  await expect.poll(exists, { timeout: 30_000 }).toBe(true)
  const again = { status: 'healthy', eventSubscription: { state: 'provisioned', timesDeleted: 1 } }
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject(again)
})

it('is unhealthy where one that somebody deleted cannot be created again', async () => {
  const { emulator, side, remove } = await openSide()
  emulator.failNext({ route: 'arm', status: 403, times: 1_000, matches: ({ method }) => method === 'PUT' })
  await remove()
  const reasons = [expect.stringMatching(/^no event comes: /)]
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject({ status: 'unhealthy', reasons })
  expect(side.health().eventSubscription).toEqual({ state: 'failed', timesDeleted: 1 })
})

it('is unhealthy as soon as Event Grid tells that somebody deleted one that it only checks', async () => {
  const { side: maker, emulator, remove } = await openSide()
  await maker.close()
  const { side } = await openSide({ provisioning: 'check' }, emulator)
  await remove()
  const missing = { status: 'unhealthy', eventSubscription: { state: 'missing' } }
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject(missing)
})

it('is unhealthy with the reason where somebody moved it, and writes nothing at any look', async () => {
  const { emulator, side, move, look } = await openSide()
  const other = await openWebhook(emulator)
  await move(`${other.url}?code=marked-elsewhere`)
  const writes = () => emulator.records.requests.filter(({ method }) => method === 'PUT' || method === 'PATCH').length
  const before = writes()
  look()
  const away = { status: 'unhealthy', cause: 'subscription', eventSubscription: { state: 'provisioned' } }
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject(away)
  const reads = () => emulator.records.requests.filter(({ route }) => route === 'arm').length
  const readsBefore = reads()
  look()
  await expect.poll(reads, { timeout: 30_000 }).toBeGreaterThan(readsBefore)
  const reason = `somebody changed the event subscription: it delivers to ${other.url}, not to ${publicUrl}`
  expect(side.health().reasons).toEqual([reason])
  expect(writes()).toBe(before)
})

it('leaves one that somebody moved where it is, though a stranger sends a delivery in its name', async () => {
  const { emulator, side, move, standing } = await openSide()
  const other = await openWebhook(emulator)
  await move(`${other.url}?code=marked-elsewhere`)
  const headers = { 'aeg-subscription-name': 'ORDERS', 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${side.address()?.port}/api/events`
  expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(503)
  const away = { status: 'unhealthy', cause: 'subscription', eventSubscription: { state: 'provisioned' } }
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject(away)
  expect(standing()).toContain(other.url)
})

it('is unhealthy where an event subscription that is only checked delivers to another endpoint', async () => {
  const { side: maker, emulator } = await openSide()
  await maker.close()
  const { side } = await openSide({ provisioning: 'check', subscriberEndpoint: `${publicUrl}-typo` }, emulator)
  expect(side.health()).toMatchObject({ status: 'unhealthy', cause: 'subscription', ready: true })
})

it('is degraded where a late write of somebody stands over a setting of the metadata, which is left as it is', async () => {
  const { side, write, standing, look } = await openSide()
  await write({ retryPolicy: { maxDeliveryAttempts: 3 } })
  look()
  const reasons = ['somebody changed the event subscription: other retryPolicy.maxDeliveryAttempts']
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject({ status: 'degraded', reasons })
  expect(standing()).toContain('"maxDeliveryAttempts":3')
  await write({ labels: ['theirs'], retryPolicy: { maxDeliveryAttempts: 7 } })
  look()
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject({ status: 'healthy' })
})

it('writes one again that somebody left Failed, and is unhealthy while no handshake succeeds', async () => {
  const { emulator, side, write, standing, look } = await openSide()
  const toListener = ({ pathname }: { pathname: string }) => `http://127.0.0.1:${side.address()?.port}${pathname}`
  const nowhere = await openWebhook(emulator, () => ({ status: 503 }))
  emulator.setIngress(() => nowhere.url)
  await expect(write({ labels: ['theirs'] })).rejects.toThrow()
  expect(standing()).toContain('"provisioningState":"Failed"')
  look()
  await expect.poll(() => side.health(), { timeout: 30_000 }).toMatchObject({ status: 'unhealthy' })
  expect(side.health().eventSubscription).toMatchObject({ state: 'failed' })
  emulator.setIngress(toListener)
  await expect
    .poll(
      () => {
        look()
        return side.health()
      },
      { timeout: 30_000 },
    )
    .toMatchObject({ status: 'healthy' })
  expect(standing()).toContain('"provisioningState":"Succeeded"')
  expect(standing()).toContain('"labels":["theirs"]')
})

it('puts our credential in again where a late write of somebody has taken it out, before a delivery lacks it', async () => {
  const { side, write, standing, look } = await openSide()
  const destination = {
    endpointType: 'WebHook',
    endpointUrl: `${publicUrl}?code=marked`,
    maxEventsPerBatch: 3,
  } as const
  await write({ destination })
  expect(standing()).not.toContain('X-EventGrid-Binding-Token')
  look()
  await expect.poll(standing, { timeout: 30_000 }).toContain('X-EventGrid-Binding-Token')
  expect(standing()).toContain('"maxEventsPerBatch":3')
  await expect.poll(() => side.health().status, { timeout: 30_000 }).toBe('healthy')
})

/** A pull side that knows the namespace's endpoint, and so receives without any right at Resource Manager. */
async function openPullSide(options: { readonly roleAt: 'all' | 'namespace' | 'nowhere'; readonly forwards: boolean }) {
  const receiver = { role: 'EventGrid Data Receiver' }
  const emulator = await startEmulator({
    clients: [{ roles: [receiver] }],
    topics: [{ name: 'orders' }],
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
  })
  const { tenantId, clientId, clientSecret } = emulator
  const { id: namespaceTopic, namespaceEndpoint } = emulator.namespaceTopic('orders')
  const role = 'EventGrid Contributor'
  if (options.roleAt === 'namespace') emulator.assignRole(clientId, role, namespaceTopic)
  if (options.roleAt === 'all') emulator.assignRole(clientId, role)
  const { pull } = parseMetadata({
    ...{ deliveryMode: 'pull', tenantId, clientId, clientSecret, namespaceTopic, namespaceEndpoint },
    ...{ eventSubscriptionName: 'app', includedEventTypes: 'order.placed', lockDuration: '60s' },
    ...(options.forwards && { scope: emulator.topic('orders').id }),
  })
  if (!pull) throw new Error('no pull side')
  const time = createManualClock()
  const side = await createPullSide(pull, {
    endpoints: emulator.endpoints,
    hostCredential: undefined,
    logger: captureLog(),
    clock: time.clock,
    handler: { current: () => undefined },
  })
  onTestFinished(() => side.close())
  await side.start('wait', new AbortController().signal)
  const writes = () =>
    emulator.records.requests.filter(({ route, method }) => route === 'arm' && /PUT|PATCH/.test(method)).length
  return {
    writes,
    permit: () => emulator.assignRole(clientId, role),
    remove: () =>
      sendArm(emulator, `${namespaceTopic}/eventSubscriptions/app?api-version=2025-02-15`, { method: 'DELETE' }),
    exists: () => emulator.queues().size === 1,
    look: () => time.advance(10 * 60_000),
    /** An operator's change of the Queue, which stays. */
    changeQueue: (queue: object) =>
      sendArm(emulator, `${namespaceTopic}/eventSubscriptions/app?api-version=2025-02-15`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ properties: { deliveryConfiguration: { deliveryMode: 'Queue', queue } } }),
      }),
    forwarding: () => emulator.eventSubscription(emulator.topic('orders').id, 'app'),
    removeForwarding: () =>
      managementOf(emulator).eventSubscriptions.beginDeleteAndWait(emulator.topic('orders').id.slice(1), 'app'),
    health: () => side.health(),
  }
}

it('updates the event subscription of a pull side once the client may', async () => {
  const { writes, permit, look } = await openPullSide({ roleAt: 'nowhere', forwards: false })
  expect(writes()).toBe(0)
  permit()
  look()
  await expect.poll(writes, { timeout: 30_000 }).toBe(1)
})

it('creates the event subscription of a pull side again, though the client may not read the one that forwards', async () => {
  const { remove, exists, look } = await openPullSide({ roleAt: 'namespace', forwards: true })
  await remove()
  await expect.poll(exists).toBe(false)
  look()
  await expect.poll(exists, { timeout: 30_000 }).toBe(true)
})

it('creates the event subscription that forwards again, though the Queue was changed before', async () => {
  const { changeQueue, forwarding, removeForwarding, look, health } = await openPullSide({
    roleAt: 'all',
    forwards: true,
  })
  expect(forwarding()).toBeDefined()
  expect(await changeQueue({ receiveLockDurationInSeconds: 90 })).toMatchObject({ status: 202 })
  look()
  await expect.poll(health, { timeout: 30_000 }).toMatchObject({ status: 'degraded' })
  await removeForwarding()
  look()
  await expect.poll(forwarding, { timeout: 30_000 }).toBeDefined()
  expect(health().eventSubscription).toMatchObject({ timesDeleted: 1 })
})
