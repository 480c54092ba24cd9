/** Deliveries to a webhook: what they carry, when they come again, and what an update does. They need a public URL. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { consent, type PushAnswer, type PushCall, type PushEndpoint } from '../../push/listener.ts'
import { absent, between, guid, oneOf, type Pattern, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probesWith } from '../probe.ts'
import {
  cloudEvent,
  cloudSchema,
  forType,
  gridEvent,
  gridSchema,
  idsOf,
  loudNameOf,
  subscribe,
  webhookAt,
} from './asking.ts'

/** An event subscription with a webhook, and events that were published to it. */
async function deliver(
  world: ProbeWorld,
  {
    schema = cloudSchema,
    answer,
    events = (type) => [schema === cloudSchema ? cloudEvent(type) : gridEvent(type)],
    destination = {},
  }: {
    readonly schema?: typeof cloudSchema | typeof gridSchema
    readonly answer?: (call: PushCall, index: number) => PushAnswer
    readonly events?: (type: string) => readonly object[]
    readonly destination?: object
  } = {},
) {
  const { made, openPush, unique, publish } = world
  const endpoint = openPush(answer && { deliveries: answer })
  const type = unique()
  const topic = schema === cloudSchema ? made.cloud : made.grid
  const properties = forType(type, webhookAt(endpoint.url, destination), { eventDeliverySchema: schema })
  const id = await subscribe(world, properties, topic.id)
  await publish(topic, events(type))
  return { id, type, endpoint }
}

/** Waits for so many deliveries; fewer where no more come in time. */
async function wait({ until }: ProbeWorld, { deliveries }: PushEndpoint, count: number, limitMs = 120_000) {
  await until(limitMs, () => (deliveries.length >= count ? true : undefined))
  return deliveries
}

/** The first delivery of an event. */
async function firstOf(world: ProbeWorld, options?: Parameters<typeof deliver>[1]) {
  const [call] = await wait(world, (await deliver(world, options)).endpoint, 1)
  return call
}

const eventsOf = ({ body }: PushCall): readonly unknown[] => (Array.isArray(body) ? body : [body])
const idsAt = ({ deliveries }: PushEndpoint) => idsOf(deliveries.flatMap(eventsOf))

/** The seconds between the first two deliveries; `undefined` where there is one alone. */
async function secondsToSecond(world: ProbeWorld, answer: PushAnswer, limitMs: number) {
  const { endpoint } = await deliver(world, { answer: (_call, index) => (index === 0 ? answer : {}) })
  const [first, second] = await wait(world, endpoint, 2, limitMs)
  const seconds = first && second ? Math.round((second.at - first.at) / 1000) : undefined
  const counts = endpoint.deliveries.map(({ headers }) => headers['aeg-delivery-count'])
  return { came: first !== undefined, seconds, counts }
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
  return { end, before: idsAt(endpoint), after: idsAt(other) }
}

/** The claims of the token of a delivery. */
async function tokenOf(world: ProbeWorld) {
  const { application, target } = world
  const token = await target.credential.getToken(target.resourceManagerScope)
  const tenant = claimsOf(token?.token ?? '')?.tid
  const destination = { azureActiveDirectoryTenantId: tenant, azureActiveDirectoryApplicationIdOrUri: application }
  const call = await firstOf(world, { destination })
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

const pushed = probesWith('push')

/** Whether an event comes again after a status, and when, within some seconds. */
const again = (fact: string, words: string, status: number, limit: number, seconds: Pattern) =>
  pushed(fact, `${words} an event comes again after ${status}`, {
    ask: (world) => secondsToSecond(world, { status }, limit * 1000),
    expected: { came: true, seconds },
  })

/** What a webhook is told when its event subscription is deleted. */
const toldOfDeletion = (schema: typeof cloudSchema | typeof gridSchema, expected: Pattern) =>
  pushed('deletion-notice', `what a webhook of ${schema} is told of the deletion of its event subscription`, {
    async ask(world) {
      const { arm, made, openPush, unique } = world
      const endpoint = openPush()
      const properties = forType(unique(), webhookAt(endpoint.url), { eventDeliverySchema: schema })
      const id = await subscribe(world, properties, schema === cloudSchema ? made.cloud.id : made.grid.id)
      await arm.write('DELETE', id)
      const [call] = await wait(world, endpoint, 1)
      const [event] = call ? eventsOf(call) : []
      const data = isRecord(event) && isRecord(event.data) ? event.data : {}
      return {
        headers: call?.headers,
        event,
        sameId: String(data.eventSubscriptionId).toLowerCase() === id.toLowerCase(),
      }
    },
    expected: {
      ...{ sameId: true, event: expected },
      headers: { 'aeg-event-type': 'SubscriptionDeletion', 'aeg-delivery-count': '0' },
    },
  })

const ofToken = (fact: string, asks: string, expected: Pattern) =>
  probesWith('push', 'application')(fact, asks, { ask: tokenOf, expected })

export const deliveryProbes: readonly Probe[] = [
  pushed('delivery-cloud-event', 'the delivery of a CloudEvent', {
    async ask(world) {
      const { endpoint, id } = await deliver(world)
      const [call] = await wait(world, endpoint, 1)
      return { ...call, sameName: call?.headers['aeg-subscription-name'] === loudNameOf(id) }
    },
    expected: {
      ...{ method: 'POST', url: text(/\?asked=a%20b$/), sameName: true, body: { id: 'one', data: { amount: 5 } } },
      headers: {
        ...{ 'content-type': 'application/cloudevents+json; charset=utf-8', 'aeg-event-type': 'Notification' },
        ...{ 'aeg-metadata-version': '1', origin: 'eventgrid.azure.net', 'webhook-request-origin': absent },
      },
    },
  }),
  pushed('delivery-grid-event', 'the delivery of an Event Grid event', {
    ask: (world) => firstOf(world, { schema: gridSchema }),
    expected: {
      body: [{ id: 'one' }],
      headers: { 'content-type': 'application/json; charset=utf-8', 'aeg-data-version': '1', origin: absent },
    },
  }),
  toldOfDeletion(cloudSchema, { specversion: '1.0', type: 'Microsoft.EventGrid.SubscriptionDeletedEvent' }),
  toldOfDeletion(gridSchema, { eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent', subject: '' }),
  pushed('delivery-count', 'the counts of two deliveries', {
    ask: async (world) => (await secondsToSecond(world, { status: 500 }, 180_000)).counts,
    expected: ['0', '1'],
  }),
  pushed('delivery-output-event-id', 'the header aeg-output-event-id', {
    ask: async (world) => (await firstOf(world))?.headers,
    expected: { 'aeg-output-event-id': absent, 'accept-encoding': 'gzip, deflate' },
  }),
  pushed('delivery-batch', 'a batch of CloudEvents', {
    async ask(world) {
      const ids = ['a', 'b', 'c', 'd', 'e']
      const { endpoint } = await deliver(world, {
        events: (type) => ids.map((id) => cloudEvent(type, { id })),
        destination: { maxEventsPerBatch: 2 },
      })
      const { deliveries } = endpoint
      await world.until(120_000, () => (deliveries.flatMap(eventsOf).length >= ids.length ? true : undefined))
      const most = Math.max(0, ...deliveries.map((call) => eventsOf(call).length))
      return { lists: deliveries.every(({ body }) => Array.isArray(body)), most, ids: idsAt(endpoint) }
    },
    expected: { lists: true, most: between(1, 2), ids: ['a', 'b', 'c', 'd', 'e'] },
  }),
  pushed('attribute-dynamic', 'static and dynamic delivery attributes', {
    async ask(world) {
      const dynamic = (field: string) => ({
        ...{ name: `x-${field}`, type: 'Dynamic', properties: { sourceField: `data.${field}` } },
      })
      const call = await firstOf(world, {
        events: (type) => [cloudEvent(type, { data: { text: 'a', number: 5, flag: true, object: {} } })],
        destination: {
          deliveryAttributeMappings: [
            { name: 'x-static', type: 'Static', properties: { value: 'fixed', isSecret: false } },
            ...['text', 'number', 'object'].map(dynamic),
          ],
        },
      })
      return call?.headers
    },
    expected: { 'x-static': 'fixed', 'x-text': 'a', 'x-number': '5', 'x-object': absent },
  }),
  pushed('attribute-authorization', 'an attribute Authorization', {
    async ask(world) {
      const value = { value: 'Basic cHJvYmU6cHJvYmU=', isSecret: true }
      const destination = { deliveryAttributeMappings: [{ name: 'Authorization', type: 'Static', properties: value }] }
      return (await firstOf(world, { destination }))?.headers.authorization === value.value
    },
    expected: true,
  }),
  ...[400, 401, 403, 413].map((status) => again('retry-never', 'whether', status, 180, oneOf(undefined))),
  again('retry-pauses', 'when', 404, 900, between(295, 900)),
  again('retry-pauses', 'when', 408, 600, between(115, 600)),
  again('retry-pauses', 'when', 503, 300, between(29, 300)),
  again('retry-pauses', 'when', 500, 180, between(9, 180)),
  again('delivery-success', 'whether', 202, 60, oneOf(undefined)),
  again('delivery-failure', 'whether', 205, 180, between(9, 180)),
  pushed('update-failed-meanwhile', 'where the event that waits goes after an update whose handshake failed', {
    async ask(world) {
      const { end, before } = await updateMeanwhile(world, () => ({ status: 404 }))
      return { end, before: before.filter((id) => id === 'one') }
    },
    expected: { end: 'Failed', before: ['one', 'one'] },
  }),
  pushed(
    'failed-update-new-events',
    'what becomes of an event that is published after an update whose handshake failed',
    {
      async ask(world) {
        const { end, before, after } = await updateMeanwhile(world, () => ({ status: 404 }))
        return { end, before: before.includes('two'), after: after.includes('two') }
      },
      expected: { end: 'Failed', before: false, after: false },
    },
  ),
  pushed('update-meanwhile', 'where an event goes that is published while an update waits for its handshake', {
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
      return { end, before: idsAt(endpoint), after: other.deliveries.length }
    },
    expected: { end: 'Succeeded', before: ['one', 'two'], after: 0 },
  }),
  pushed('update-failed-meanwhile', 'where the event that waits goes after an update that succeeds', {
    async ask(world) {
      const { end, before, after } = await updateMeanwhile(world, consent)
      const count = (ids: readonly string[]) => ids.filter((id) => id === 'one').length
      return { end, before: count(before), after: count(after) }
    },
    expected: { end: 'Succeeded', before: 1, after: 1 },
  }),
  ofToken('token-bearer', 'the token of a delivery', { scheme: 'Bearer', claims: present }),
  ofToken('token-claims', 'the claims of the token', {
    header: { alg: 'RS256', kid: present },
    claims: { tid: guid, oid: present, iss: present },
  }),
  ofToken('token-audience', 'the audience of the token', { claims: { aud: present } }),
]
