/** Deliveries to a webhook: what they carry, when they come again, and what an update does. They need a public URL. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import type { PushAnswer, PushCall, PushEndpoint } from '../../push/listener.ts'
import { consent } from '../../push/listener.ts'
import { absent, between, guid, oneOf, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudEvent, cloudSchema, forType, gridEvent, gridSchema, idsOf, subscribe, webhookAt } from './asking.ts'

interface Delivered {
  readonly id: string
  readonly type: string
  readonly endpoint: PushEndpoint
}

/** An event subscription with a webhook, and events that were published to it. */
async function deliver(
  world: ProbeWorld,
  {
    schema = cloudSchema,
    answer,
    events = (type) => [schema === cloudSchema ? cloudEvent(type) : gridEvent(type)],
    destination = {},
    more = {},
  }: {
    readonly schema?: typeof cloudSchema | typeof gridSchema
    readonly answer?: (call: PushCall, index: number) => PushAnswer
    readonly events?: (type: string) => readonly object[]
    readonly destination?: object
    readonly more?: object
  } = {},
): Promise<Delivered> {
  const { made, openPush, unique, publish } = world
  const endpoint = openPush(answer && { deliveries: answer })
  const type = unique()
  const topic = schema === cloudSchema ? made.cloud : made.grid
  const properties = forType(type, webhookAt(endpoint.url, destination), { eventDeliverySchema: schema, ...more })
  const id = await subscribe(world, properties, topic.id)
  await publish(topic, events(type))
  return { id, type, endpoint }
}

/** Waits for so many deliveries; fewer where no more come in time. */
async function wait({ until }: ProbeWorld, { deliveries }: PushEndpoint, count: number, limitMs = 120_000) {
  await until(limitMs, () => (deliveries.length >= count ? true : undefined))
  return deliveries
}

const eventsOf = ({ body }: PushCall): readonly unknown[] => (Array.isArray(body) ? body : [body])

/** The seconds between the first two deliveries; `undefined` where there is one alone. */
async function secondsToSecond(world: ProbeWorld, answer: PushAnswer, limitMs: number) {
  const { endpoint } = await deliver(world, { answer: (_call, index) => (index === 0 ? answer : {}) })
  const [first, second] = await wait(world, endpoint, 2, limitMs)
  const seconds = first && second ? Math.round((second.at - first.at) / 1000) : undefined
  return {
    came: first !== undefined,
    seconds,
    counts: endpoint.deliveries.map(({ headers }) => headers['aeg-delivery-count']),
  }
}

/** An event subscription whose event waits for its second try, and then an update. */
async function updateMeanwhile(world: ProbeWorld, handshake: (call: PushCall) => PushAnswer) {
  const { endpoint, id, type } = await deliver(world, {
    answer: (_call, index) => (index === 0 ? { status: 503 } : {}),
  })
  await wait(world, endpoint, 1)
  const other = world.openPush({ handshake })
  const properties = forType(type, webhookAt(other.url))
  const { end } = await world.arm.write('PUT', id, { body: { properties } })
  await world.publish(world.made.cloud, [cloudEvent(type, { id: 'two' })])
  // The second try comes after 30 seconds or more.
  await wait(world, endpoint, 2, 180_000)
  await world.pause(10_000)
  const ids = ({ deliveries }: PushEndpoint) => idsOf(deliveries.flatMap(eventsOf))
  return { end, before: ids(endpoint), after: ids(other) }
}

/** The claims of the token of a delivery. */
async function tokenOf(world: ProbeWorld) {
  const { application, target } = world
  const token = await target.credential.getToken(target.resourceManagerScope)
  const tenant = claimsOf(token?.token ?? '')?.tid
  const destination = { azureActiveDirectoryTenantId: tenant, azureActiveDirectoryApplicationIdOrUri: application }
  const { endpoint } = await deliver(world, { destination })
  const [call] = await wait(world, endpoint, 1)
  const [scheme, credential = ''] = String(call?.headers.authorization ?? '').split(' ')
  return { scheme, header: headerOf(credential), claims: claimsOf(credential), tenant }
}

const partOf = (token: string, at: number): Readonly<Record<string, unknown>> | undefined => {
  try {
    const part: unknown = JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
    return isRecord(part) ? part : undefined
  } catch {
    return undefined
  }
}
const headerOf = (token: string) => partOf(token, 0)
const claimsOf = (token: string) => partOf(token, 1)

export const deliveryProbes: readonly Probe[] = [
  probe({
    fact: 'delivery-cloud-event',
    asks: 'the delivery of a CloudEvent',
    needs: ['push'],
    async ask(world) {
      const { endpoint, id } = await deliver(world)
      const [call] = await wait(world, endpoint, 1)
      const sameName = call?.headers['aeg-subscription-name'] === id.slice(id.lastIndexOf('/') + 1).toUpperCase()
      return { ...call, sameName }
    },
    expected: {
      ...{ method: 'POST', url: text(/\?asked=a%20b$/), sameName: true, body: { id: 'one', data: { amount: 5 } } },
      headers: {
        ...{ 'content-type': 'application/cloudevents+json; charset=utf-8', 'aeg-event-type': 'Notification' },
        ...{ 'aeg-metadata-version': '1', origin: 'eventgrid.azure.net', 'webhook-request-origin': absent },
      },
    },
  }),
  probe({
    fact: 'delivery-grid-event',
    asks: 'the delivery of an Event Grid event',
    needs: ['push'],
    ask: async (world) => (await wait(world, (await deliver(world, { schema: gridSchema })).endpoint, 1))[0],
    expected: {
      body: [{ id: 'one' }],
      headers: { 'content-type': 'application/json; charset=utf-8', 'aeg-data-version': '1', origin: absent },
    },
  }),
  probe({
    fact: 'delivery-count',
    asks: 'the counts of two deliveries',
    needs: ['push'],
    ask: async (world) => (await secondsToSecond(world, { status: 500 }, 180_000)).counts,
    expected: ['0', '1'],
  }),
  probe({
    fact: 'delivery-output-event-id',
    asks: 'the header aeg-output-event-id',
    needs: ['push'],
    ask: async (world) => (await wait(world, (await deliver(world)).endpoint, 1))[0]?.headers,
    expected: { 'aeg-output-event-id': absent, 'accept-encoding': 'gzip, deflate' },
  }),
  probe({
    fact: 'delivery-batch',
    asks: 'a batch of CloudEvents',
    needs: ['push'],
    async ask(world) {
      const ids = ['a', 'b', 'c', 'd', 'e']
      const { endpoint } = await deliver(world, {
        events: (type) => ids.map((id) => cloudEvent(type, { id })),
        destination: { maxEventsPerBatch: 2 },
      })
      await world.until(120_000, () => (endpoint.deliveries.flatMap(eventsOf).length >= ids.length ? true : undefined))
      const { deliveries } = endpoint
      return {
        lists: deliveries.every(({ body }) => Array.isArray(body)),
        most: Math.max(0, ...deliveries.map((call) => eventsOf(call).length)),
        ids: idsOf(deliveries.flatMap(eventsOf)),
      }
    },
    expected: { lists: true, most: between(1, 2), ids: ['a', 'b', 'c', 'd', 'e'] },
  }),
  probe({
    fact: 'attribute-dynamic',
    asks: 'static and dynamic delivery attributes',
    needs: ['push'],
    async ask(world) {
      const dynamic = (name: string, sourceField: string) => ({ name, type: 'Dynamic', properties: { sourceField } })
      const { endpoint } = await deliver(world, {
        events: (type) => [cloudEvent(type, { data: { text: 'a', number: 5, flag: true, object: {} } })],
        destination: {
          deliveryAttributeMappings: [
            { name: 'x-static', type: 'Static', properties: { value: 'fixed', isSecret: false } },
            ...[dynamic('x-text', 'data.text'), dynamic('x-number', 'data.number'), dynamic('x-object', 'data.object')],
          ],
        },
      })
      return (await wait(world, endpoint, 1))[0]?.headers
    },
    expected: { 'x-static': 'fixed', 'x-text': 'a', 'x-number': '5', 'x-object': absent },
  }),
  probe({
    fact: 'attribute-authorization',
    asks: 'an attribute Authorization',
    needs: ['push'],
    async ask(world) {
      const value = { value: 'Basic cHJvYmU6cHJvYmU=', isSecret: true }
      const destination = { deliveryAttributeMappings: [{ name: 'Authorization', type: 'Static', properties: value }] }
      const [call] = await wait(world, (await deliver(world, { destination })).endpoint, 1)
      return call?.headers.authorization === value.value
    },
    expected: true,
  }),
  ...[400, 401, 403, 413].map((status) =>
    probe({
      fact: 'retry-never',
      asks: `whether an event comes again after ${status}`,
      needs: ['push'],
      ask: (world) => secondsToSecond(world, { status }, 180_000),
      expected: { came: true, seconds: oneOf(undefined) },
    }),
  ),
  ...(
    [
      [404, 295, 900],
      [408, 115, 600],
      [503, 29, 300],
      [500, 9, 180],
    ] as const
  ).map(([status, from, to]) =>
    probe({
      fact: 'retry-pauses',
      asks: `when an event comes again after ${status}`,
      needs: ['push'],
      ask: (world) => secondsToSecond(world, { status }, to * 1000),
      expected: { came: true, seconds: between(from, to) },
    }),
  ),
  probe({
    fact: 'delivery-success',
    asks: 'whether an event comes again after 202',
    needs: ['push'],
    ask: (world) => secondsToSecond(world, { status: 202 }, 60_000),
    expected: { came: true, seconds: oneOf(undefined) },
  }),
  probe({
    fact: 'delivery-failure',
    asks: 'whether an event comes again after 205',
    needs: ['push'],
    ask: (world) => secondsToSecond(world, { status: 205 }, 180_000),
    expected: { came: true, seconds: between(9, 180) },
  }),
  probe({
    fact: 'update-failed-meanwhile',
    asks: 'where the event that waits goes after an update whose handshake failed',
    needs: ['push'],
    async ask(world) {
      const { end, before } = await updateMeanwhile(world, () => ({ status: 404 }))
      return { end, before: before.filter((id) => id === 'one') }
    },
    expected: { end: 'Failed', before: ['one', 'one'] },
  }),
  probe({
    fact: 'failed-update-new-events',
    asks: 'what becomes of an event that is published after an update whose handshake failed',
    needs: ['push'],
    async ask(world) {
      const { end, before, after } = await updateMeanwhile(world, () => ({ status: 404 }))
      return { end, before: before.includes('two'), after: after.includes('two') }
    },
    expected: { end: 'Failed', before: false, after: false },
  }),
  probe({
    fact: 'update-meanwhile',
    asks: 'where an event goes that is published while an update waits for its handshake',
    needs: ['push'],
    async ask(world) {
      const { endpoint, id, type } = await deliver(world)
      await wait(world, endpoint, 1)
      const other = world.openPush({
        // Event Grid waits for an answer for half a minute.
        async handshake(call) {
          await world.publish(world.made.cloud, [cloudEvent(type, { id: 'two' })])
          await wait(world, endpoint, 2, 10_000)
          return consent(call)
        },
      })
      const { end } = await world.arm.write('PUT', id, { body: { properties: forType(type, webhookAt(other.url)) } })
      return { end, before: idsOf(endpoint.deliveries.flatMap(eventsOf)), after: other.deliveries.length }
    },
    expected: { end: 'Succeeded', before: ['one', 'two'], after: 0 },
  }),
  probe({
    fact: 'update-failed-meanwhile',
    asks: 'where the event that waits goes after an update that succeeds',
    needs: ['push'],
    async ask(world) {
      const { end, before, after } = await updateMeanwhile(world, consent)
      const count = (ids: readonly string[]) => ids.filter((id) => id === 'one').length
      return { end, before: count(before), after: count(after) }
    },
    expected: { end: 'Succeeded', before: 1, after: 1 },
  }),
  ...(
    [
      ['token-bearer', 'the token of a delivery', { scheme: 'Bearer', claims: present }],
      [
        'token-claims',
        'the claims of the token',
        { header: { alg: 'RS256', kid: present }, claims: { tid: guid, oid: present, iss: present } },
      ],
      ['token-audience', 'the audience of the token', { claims: { aud: present } }],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({ ...{ fact, asks, expected, needs: ['push', 'application'] }, ask: tokenOf }),
  ),
]
