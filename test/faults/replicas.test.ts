/**
 * Replicas that start together, roll over from one setting to another, and find what somebody else has changed: nothing
 * lost, nobody let in.
 */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { credentialOf, managementOf } from '../support/azure-clients.ts'
import { type Fleet, openFleet, type Replica } from './fleet.ts'

const inFlight = 100
const scopeOf = (fleet: Fleet) => fleet.topic.id.slice(1)
const standing = ({ emulator, topic }: Fleet) => {
  const subscription = emulator.eventSubscription(topic.id, 'fleet')
  const destination = subscription?.properties.destination
  if (subscription?.provisioningState !== 'Succeeded' || destination?.endpointType !== 'WebHook') return undefined
  return destination.properties
}
const tokenOf = (fleet: Fleet) => {
  const mapping = standing(fleet)?.deliveryAttributeMappings?.find(({ name }) => name === 'X-EventGrid-Binding-Token')
  return mapping?.type === 'Static' ? mapping.properties.value : undefined
}

/** Posts an event to every replica with each of the headers, and returns the statuses. */
async function attack(replicas: readonly Replica[], ...credentials: readonly Readonly<Record<string, string>>[]) {
  const event = { specversion: '1.0', id: 'attack', source: '/attack', type: 'attack' }
  const names = ['FLEET', 'OTHER']
  const posts = replicas.flatMap(({ port }) =>
    names.flatMap((name) =>
      credentials.map(async (headers) => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/events`, {
          method: 'POST',
          headers: { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': name, ...headers },
          body: JSON.stringify(event),
        })
        await answer.text()
        return answer.status
      }),
    ),
  )
  return [...new Set(await Promise.all(posts))].toSorted()
}

const strangers = [
  {},
  { 'x-eventgrid-binding-token': `0011223344556677.${'A'.repeat(43)}` },
  { authorization: 'Bearer x.y.z' },
]

it('eight that start at once end up on one event subscription, all healthy', async () => {
  const fleet = await openFleet()
  const replicas = await Promise.all(Array.from({ length: 8 }, () => fleet.start()))
  await Promise.all(replicas.map(({ ready }) => ready))
  expect(fleet.emulator.eventSubscriptions().map(({ name }) => name)).toEqual(['fleet'])
  expect(standing(fleet)).toBeDefined()
  const healths = await Promise.all(replicas.map((replica) => replica.health()))
  expect(healths).toEqual(healths.map(() => expect.objectContaining({ status: 'healthy', reasons: [] })))
  fleet.load(inFlight)
  await fleet.progress(500)
  expect(await fleet.settle()).toMatchObject({ lost: 0, strangers: [] })
  expect(new Set(fleet.emulator.records.deliveries.all().map(({ status }) => status))).toEqual(new Set([200]))
})

const secret = (letter: string) => letter.repeat(32)

it.each<{ change: string; from: Record<string, string>; steps: readonly Record<string, string>[]; open?: boolean }>([
  { change: 'clientSecret', from: {}, steps: [{ clientSecret: secret('n') }] },
  {
    change: 'deliveryToken by way of both',
    from: { deliveryToken: secret('a') },
    steps: [{ deliveryToken: `${secret('b')},${secret('a')}` }, { deliveryToken: secret('b') }],
  },
  { change: 'deliveryToken at once', from: { deliveryToken: secret('a') }, steps: [{ deliveryToken: secret('b') }] },
  {
    change: 'deliveryAuthentication from secret to entra and back',
    from: {},
    steps: [{ deliveryAuthentication: 'entra' }, {}],
  },
  {
    change: 'deliveryAuthentication from secret to entra to none to secret',
    from: {},
    steps: [{ deliveryAuthentication: 'entra' }, { deliveryAuthentication: 'none' }, {}],
    open: true,
  },
])('three roll over $change under load', async ({ from, steps, open }) => {
  const fleet = await openFleet()
  const entraToken = await credentialOf(fleet.emulator).getToken('https://management.azure.com/.default')
  const bearer = { authorization: `Bearer ${entraToken.token}` }
  let replicas = await Promise.all([1, 2, 3].map(() => fleet.start(from)))
  await Promise.all(replicas.map(({ ready }) => ready))
  fleet.load(inFlight)
  await fleet.progress(inFlight)
  const replayed: Record<string, string>[] = []
  for (const step of steps) {
    const token = tokenOf(fleet)
    if (token) replayed.push({ 'x-eventgrid-binding-token': token })
    if (step.clientSecret) fleet.renewClientSecret(step.clientSecret)
    const next: Replica[] = []
    for (const old of replicas) {
      const replica = await fleet.start(step)
      await replica.ready
      next.push(replica)
      await old.stop()
      const isOpen = step.deliveryAuthentication === 'none' || open
      if (!isOpen)
        expect(await attack([...next, ...replicas.slice(next.length)], ...strangers, bearer)).toEqual([401, 503])
    }
    replicas = next
    await fleet.progress(inFlight)
  }
  expect(await fleet.settle()).toMatchObject({ lost: 0, strangers: [] })
  expect(fleet.emulator.records.deadLetters.all()).toEqual([])
  const last = tokenOf(fleet)
  const stale = replayed.filter((headers) => headers['x-eventgrid-binding-token'] !== last)
  const statuses = await attack(replicas, ...strangers, ...stale, bearer)
  expect(statuses).toEqual([401, 503])
  expect((await fleet.settle()).strangers).toEqual([])
})

it.each([
  { to: 'secret', fields: {}, writes: 1 },
  { to: 'entra', fields: { deliveryAuthentication: 'entra' }, writes: 0 },
])("take over the event subscription that Dapr's Go binding made, by $to", async ({ fields, writes }) => {
  const fleet = await openFleet()
  const { emulator } = fleet
  const old = createServer(async (request, response) => {
    const { 'webhook-request-origin': origin, authorization } = request.headers
    const body = await text(request)
    // The Go binding takes what carries a token, and answers 401 to the rest.
    if (request.method === 'POST' && authorization) fleet.handled(JSON.parse(body).id)
    response
      .writeHead(request.method === 'OPTIONS' || authorization ? 200 : 401, {
        'webhook-allowed-origin': origin ?? '*',
        'webhook-allowed-rate': '*',
      })
      .end()
  })
  await new Promise<void>((listening) => old.listen(0, '127.0.0.1', listening))
  const closeOld = () => {
    const closed = new Promise((done) => old.close(done))
    old.closeAllConnections()
    return closed
  }
  onTestFinished(() => void closeOld())
  const address = old.address()
  fleet.otherwise(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 1}`)
  await managementOf(emulator).eventSubscriptions.beginCreateOrUpdateAndWait(scopeOf(fleet), 'fleet', {
    destination: {
      endpointType: 'WebHook',
      endpointUrl: 'https://fleet.example.com/api/events',
      maxEventsPerBatch: 1,
      preferredBatchSizeInKilobytes: 64,
      azureActiveDirectoryTenantId: emulator.tenantId,
      azureActiveDirectoryApplicationIdOrUri: emulator.clientId,
    },
    filter: { subjectBeginsWith: '' },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
  })
  const before = countWrites(fleet)
  fleet.load(inFlight)
  await fleet.progress(inFlight)
  // Its process ends before ours begins: it would drop what carries no token of Entra.
  await closeOld()
  const replicas = await Promise.all([1, 2].map(() => fleet.start(fields)))
  await Promise.all(replicas.map(({ ready }) => ready))
  await fleet.progress(inFlight)
  expect(await attack(replicas, ...strangers)).toEqual([401, 503])
  expect(await fleet.settle()).toMatchObject({ lost: 0, strangers: [] })
  expect(countWrites(fleet) - before).toBeGreaterThanOrEqual(writes)
  if (writes === 0) expect(countWrites(fleet)).toBe(before)
})

const countWrites = ({ emulator }: Fleet) =>
  emulator.records.requests.filter(
    ({ method, url, status }) => /^P(UT|ATCH)$/.test(method) && url.includes('/eventSubscriptions/') && status < 300,
  ).length

it.each([
  { fields: {}, what: 'delivery attributes' },
  { fields: { deliveryAuthentication: 'entra' }, what: 'Entra delivery' },
])('put right by themselves the $what that somebody takes away with the Azure CLI', async ({ fields }) => {
  const fleet = await openFleet()
  const replicas = await Promise.all([1, 2].map(() => fleet.start(fields)))
  await Promise.all(replicas.map(({ ready }) => ready))
  const before = standing(fleet)
  fleet.load(inFlight)
  await fleet.progress(inFlight)
  await managementOf(fleet.emulator).eventSubscriptions.beginCreateOrUpdateAndWait(scopeOf(fleet), 'fleet', {
    destination: { endpointType: 'WebHook', endpointUrl: 'https://fleet.example.com/api/events' },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
  })
  await fleet.emulator.records.deliveries.waitFor(({ status }) => status === 503)
  expect(await attack(replicas, ...strangers)).toEqual([401, 503])
  await fleet.progress(2 * inFlight)
  expect(await fleet.settle()).toMatchObject({ lost: 0, strangers: [] })
  expect(standing(fleet)).toMatchObject({ ...before })
})
