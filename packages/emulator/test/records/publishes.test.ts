import { expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { cloudEvent } from '../event-grid.ts'

const namespaces = [
  {
    name: 'shop',
    topics: [
      {
        name: 'returns',
        eventSubscriptions: [{ name: 'app', properties: { filtersConfiguration: { includedEventTypes: ['Wanted'] } } }],
      },
    ],
  },
]

/** An emulator with a custom topic that has no event subscription, and a namespace topic with one. */
async function open() {
  const emulator = await startEmulator({ namespaces })
  const post = (url: string, headers: Record<string, string>, body: unknown = cloudEvent()) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/cloudevents+json', ...headers },
      body: JSON.stringify(body),
    })
  const { httpEndpoint, key } = emulator.topic()
  const topic = { url: httpEndpoint, headers: { 'aeg-sas-key': key } }
  const namespace = {
    url: `${emulator.proxy}/namespaces/shop/topics/returns:publish?api-version=2024-06-01`,
    headers: { authorization: `SharedAccessKey ${emulator.namespaceTopic().key}` },
  }
  return { emulator, post, topic, namespace }
}

it.each([
  { what: 'a wrong key', status: 401, code: 'Unauthorized', headers: { 'aeg-sas-key': 'd3Jvbmc=' } },
  { what: 'an event that is none', status: 400, code: 'BadRequest', body: { id: '1' } },
  { what: 'another topic', status: 404, code: 'NotFound', path: 'nobody', topic: 'nobody' },
  { what: 'a media type', status: 415, code: 'UnsupportedMediaType', headers: { 'content-type': 'text/plain' } },
  { what: 'its size', status: 413, code: 'RequestEntityTooLarge', body: cloudEvent({ data: 'x'.repeat(1_600_000) }) },
  { what: 'a fault', status: 503, code: 'Busy', fault: true },
])('a publish refused for $what is recorded with its topic and the reason, and counted', async (given) => {
  const { emulator, post, topic } = await open()
  if (given.fault) emulator.failNext({ route: 'topic', status: given.status, code: given.code, message: 'Later.' })
  const url = topic.url.replace('orders', given.path ?? 'orders')
  expect((await post(url, { ...topic.headers, ...given.headers }, given.body)).status).toBe(given.status)
  expect(emulator.records.requests.last).toMatchObject({
    ...{ status: given.status, code: given.code, message: expect.any(String) },
    publish: { topic: given.topic ?? 'orders' },
  })
  expect(emulator.records.requests.last?.publish?.events).toBeUndefined()
  expect(emulator.figures().refused).toBe(1)
})

it('a publish to a path that there is not is recorded and counted with the path, without what its query holds', async () => {
  const { emulator, post, topic } = await open()
  const { origin } = new URL(topic.url)
  expect((await post(`${origin}/api/events?code=1`, topic.headers)).status).toBe(404)
  expect(emulator.records.requests.last).toMatchObject({
    ...{ route: 'topic', status: 404, code: 'NotFound', headers: { 'aeg-sas-key': '(redacted)' } },
    message: expect.stringContaining('POST /topics/{topic}/api/events'),
    publish: { topic: '/api/events' },
  })
  expect((await fetch(`${origin}/favicon.ico`)).status).toBe(404)
  expect(emulator.figures().refused).toBe(1)
})

it('a record keeps 2,000 characters of a message that repeats the request', async () => {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
  const body = JSON.stringify({ location: 'westeurope', tags: { ['x'.repeat(100_000)]: 1 } })
  expect((await sendArm(emulator, emulator.topic().id, { method: 'PUT', body })).status).toBe(400)
  const { message } = emulator.records.requests.last ?? {}
  expect(message).toMatch(/^Invalid topic request/)
  expect(message).toHaveLength(2_000)
})

it('a record says which events no event subscription takes', async () => {
  const { emulator, post, topic, namespace } = await open()
  const batch = { 'content-type': 'application/cloudevents-batch+json' }
  const events = Array.from({ length: 12 }, (_, index) => cloudEvent({ id: `e${index}` }))
  await post(topic.url, { ...topic.headers, ...batch }, events)
  const first = events.slice(0, 10).map(({ id }) => ({ id, type: 'Order.Placed' }))
  const all = { count: 12, first }
  expect(emulator.records.requests.last?.publish).toEqual({ topic: 'orders', events: all, unwanted: all })
  await post(namespace.url, { ...namespace.headers, ...batch }, [cloudEvent(), cloudEvent({ id: 'w', type: 'Wanted' })])
  expect(emulator.records.requests.last?.publish).toEqual({
    topic: 'returns',
    events: {
      count: 2,
      first: [
        { id: 'e1', type: 'Order.Placed' },
        { id: 'w', type: 'Wanted' },
      ],
    },
    unwanted: { count: 1, first: [{ id: 'e1', type: 'Order.Placed' }] },
    unmatched: [{ subscriptionName: 'app', because: 'the event has the type Order.Placed' }],
  })
  expect(emulator.figures().refused).toBe(0)
})
