import { describe, expect, it } from 'vitest'
import { cloudEvent, errorOf, gridEvent, openEventGrid, publish } from '../event-grid.ts'

interface Refusal {
  readonly name: string
  readonly schema?: 'EventGridSchema' | 'CloudEventSchemaV1_0' | 'CustomEventSchema'
  /** @default a batch of one good CloudEvent */
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly query?: string
  readonly method?: string
  readonly status: number
  readonly code: string
  readonly detail?: string
  readonly message: string | RegExp
}

const json = { 'content-type': 'application/json' }
const single = { 'content-type': 'application/cloudevents+json' }
const grid = 'EventGridSchema'
const cloud = 'CloudEventSchemaV1_0'
const cloudV10 = 'CloudEventV10'
const gridV1 = 'EventGridEvent'
const bad = { status: 400, code: 'BadRequest', detail: 'InputJsonInvalid' } as const
const unauthorized = { status: 401, code: 'Unauthorized' } as const
const tooLarge = { status: 413, code: 'RequestEntityTooLarge', detail: 'PayloadTooLarge' } as const
const unsupported = { status: 415, code: 'UnsupportedMediaType' } as const
const toGrid = { schema: 'EventGridSchema', headers: { 'content-type': 'application/json' } } as const
const without = (event: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== name))
const requires = (schema: string, name: string) =>
  `This resource is configured for '${schema}' schema and requires '${name}' property to be set.`
const token = (schema: string, expected: string, actual: string) =>
  `This resource is configured to receive event in '${schema}' schema. The JSON received does not ` +
  `conform to the expected schema. Token Expected: ${expected}, Actual Token Received: ${actual}.`

/** Refused with 400. */
const ofCloudEvents: readonly (readonly [name: string, body: unknown, message: string | RegExp])[] = [
  ['a broken body', '[{', /does not conform to the expected schema/],
  ['an empty body', '', /does not conform to the expected schema/],
  ['bytes that are no UTF-8', '["\ud800"]', /./],
  ['an empty batch', [], /does not conform to the expected schema/],
  ['an object for a batch', cloudEvent(), token(cloudV10, 'StartArray', 'StartObject')],
  ['a number in a batch', [1], token(cloudV10, 'StartObject', 'Integer')],
  ...['id', 'source', 'type', 'specversion'].map(
    (name) => [`a CloudEvent without ${name}`, [without(cloudEvent(), name)], requires(cloudV10, name)] as const,
  ),
  ['an empty id', [cloudEvent({ id: '' })], requires(cloudV10, 'id')],
  ['a number as id', [cloudEvent({ id: 1 })], /property 'id'/],
  ['another specversion', [cloudEvent({ specversion: '0.3' })], /property 'specversion'/],
  ['a time that is none', [cloudEvent({ time: 'yesterday' })], /property 'time'/],
  ['a subject that is no text', [cloudEvent({ subject: {} })], /property 'subject'/],
  ['data twice', [cloudEvent({ data_base64: 'AA==' })], /property 'data_base64'/],
  ['one bad event among good ones', [cloudEvent(), without(cloudEvent(), 'type')], requires(cloudV10, 'type')],
]
const ofEventGrid: typeof ofCloudEvents = [
  ['an Event Grid event alone', gridEvent(), token(gridV1, 'StartArray', 'StartObject')],
  ...['id', 'subject', 'eventType', 'eventTime'].map(
    (name) => [`an Event Grid event without ${name}`, [without(gridEvent(), name)], requires(gridV1, name)] as const,
  ),
  [
    'an unknown field',
    [gridEvent({ sas_url: 'x' })],
    "This resource is configured for 'EventGridEvent' schema. Received unexpected property 'sas_url' " +
      'in JSON which does not conform to the expected schema.',
  ],
  ['an unknown field of the prototype', '[{"__proto__":1}]', /unexpected property '__proto__'/],
  ['a CloudEvent at an Event Grid topic', [cloudEvent()], /unexpected property 'specversion'/],
  ['a metadataVersion other than 1', [gridEvent({ metadataVersion: '2' })], /'metadataVersion'/],
  ['an eventTime that is none', [gridEvent({ eventTime: 'now' })], /property 'eventTime'/],
]

const refusals: Refusal[] = [
  ...ofCloudEvents.map(([name, body, message]) => ({ name, body, ...bad, message })),
  ...ofEventGrid.map(([name, body, message]) => ({ name, ...toGrid, body, ...bad, message })),
  { name: 'a batch for one event', headers: single, ...bad, message: token(cloudV10, 'StartObject', 'StartArray') },
  { name: 'null', headers: single, body: 'null', ...bad, message: token(cloudV10, 'StartObject', 'Null') },
  {
    name: 'binary mode without a type',
    headers: { ...json, 'ce-id': '1', 'ce-source': '/s', 'ce-specversion': '1.0' },
    body: {},
    ...bad,
    message: requires(cloudV10, 'type'),
  },
  {
    name: 'a custom event without a type',
    ...toGrid,
    schema: 'CustomEventSchema',
    body: [{ subject: 's' }],
    ...bad,
    message: requires('CustomEvent', 'eventType'),
  },
  {
    name: 'the topic of somebody else',
    ...toGrid,
    body: [gridEvent({ topic: '/subscriptions/x' })],
    ...unauthorized,
    message: /topic '\/subscriptions\/x'/,
  },
  {
    name: 'plain text',
    headers: { 'content-type': 'text/plain' },
    ...unsupported,
    message: /^The Content-Type header is either missing or it doesn't have a valid value\./,
  },
  {
    name: 'another charset',
    headers: { 'content-type': 'application/cloudevents-batch+json; charset=latin1' },
    ...unsupported,
    message: /./,
  },
  {
    name: 'binary mode of something else than JSON',
    headers: {
      ...{ 'content-type': 'application/octet-stream', 'ce-id': '1', 'ce-specversion': '1.0' },
      ...{ 'ce-type': 't', 'ce-source': '/s' },
    },
    body: 'x',
    ...unsupported,
    message: /./,
  },
  {
    name: 'an event over the limit',
    body: [cloudEvent({ data: 'x'.repeat(1_049_600) })],
    ...tooLarge,
    message: 'The maximum size (1049600) has been exceeded.',
  },
  {
    name: 'a request over the limit',
    body: Array(2).fill(cloudEvent({ data: 'x'.repeat(800_000) })),
    ...tooLarge,
    message: 'The maximum size (1536000) has been exceeded.',
  },
  { name: 'too many events', body: Array.from({ length: 5001 }, () => cloudEvent()), ...tooLarge, message: /\(5000\)/ },
  {
    name: 'no credentials',
    headers: { 'aeg-sas-key': '' },
    ...unauthorized,
    message: /^The request authorization key is not authorized for/,
  },
  {
    name: 'a key that is no base64',
    headers: { 'aeg-sas-key': '***' },
    ...unauthorized,
    message: /not a valid Base-64 string .* among the padding characters\. \. Emulator: /,
  },
  {
    name: 'an unknown api-version',
    query: '?api-version=2017-01-01',
    ...{ status: 400, code: 'UnsupportedApiVersion' },
    message: /does not support the API version '2017-01-01'/,
  },
  {
    name: 'another method',
    method: 'PUT',
    ...{ status: 405, code: 'MethodNotAllowed' },
    message: /does not support http method 'PUT'/,
  },
]

describe('a publish request is refused as Event Grid does it', () => {
  it.each(refusals)(
    '$name: $status',
    async ({ schema = cloud, body = [cloudEvent()], headers, query, method, status, code, detail, message }) => {
      const world = await openEventGrid({ topic: { inputSchema: schema } })
      await world.subscribe({ eventDeliverySchema: schema === cloud ? cloud : 'EventGridSchema' })
      const answer = await publish(world, body, { headers, query, method })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      const error = await errorOf(answer)
      expect({ status: answer.status, code: error.code, detail: error.details[0].code }).toEqual({
        status,
        code,
        detail: detail ?? code,
      })
      const [, text = '', requestId] =
        /^(.*) Report '([^:]+):0:1\/5\/2026 2:07:09 PM \(UTC\)' to our forums for assistance or raise a support ticket\.$/s.exec(
          error.message,
        ) ?? []
      if (typeof message === 'string') expect(text).toBe(message)
      else expect(text).toMatch(message)
      expect(requestId).toBe(answer.headers.get('x-ms-request-id'))
      expect(error.details[0].message).toBe(error.message)
      await world.emulator.idle()
      expect(world.subscriber.requests).toHaveLength(0)
      expect(world.records.requests.last).toMatchObject({ status, code })
    },
  )

  it('what nests deeper than it can be written again: 400', async () => {
    const world = await openEventGrid({ topic: { inputSchema: grid } })
    const nested = `"data":${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const answer = await publish(world, JSON.stringify([gridEvent({ data: 0 })]).replace('"data":0', nested))
    expect(answer.status).toBe(400)
    expect((await errorOf(answer)).message).toMatch(/^The JSON received is nested too deeply\./)
  })

  it('without any credential', async () => {
    const world = await openEventGrid()
    const answer = await fetch(world.topic.httpEndpoint, { method: 'POST', body: '[]' })
    expect(answer.status).toBe(401)
    expect((await errorOf(answer)).message).toMatch(
      /^Request must contain one of the following authorization signature: aeg-sas-token, aeg-sas-key\. Report '/,
    )
  })

  it.each(['/topics/orders/api/event', '/topics/unknown/api/events'])('at %s: 404', async (path) => {
    const world = await openEventGrid()
    const answer = await fetch(new URL(path, world.topic.httpEndpoint), { method: 'POST', body: '[]' })
    expect(answer.status).toBe(404)
    const error = await errorOf(answer)
    expect(error.code).toBe('NotFound')
    expect(error.details[0].code).toBe('ResourceNotFound')
    expect(error.message).toMatch(
      /^No HTTP resource was found that matches the request URI 'http:\/\/127\.0\.0\.1:\d+\/topics\//,
    )
  })

  it('when too many events are pending', async () => {
    const world = await openEventGrid({ maxPending: 1 })
    await world.subscribe()
    world.subscriber.answer({ status: 500 })
    expect((await publish(world, [cloudEvent()])).status).toBe(200)
    await world.emulator.idle()
    const answer = await publish(world, [cloudEvent()])
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  it('when pending events hold too many bytes, each counted once as text and once parsed, until they are delivered or given up', async () => {
    const world = await openEventGrid({ maxPendingBytes: 100_000, retrySchedule: [1000] })
    for (const name of ['one', 'two', 'none']) {
      await world.subscribe(name === 'none' ? { filter: { includedEventTypes: ['Other'] } } : {}, { name })
    }
    const half = () => publish(world, [cloudEvent({ data: 'x'.repeat(25_000) })])
    world.subscriber.answer({ status: 500 }, { status: 500 }, { status: 500 }, { status: 400 })
    expect((await half()).status).toBe(200)
    await world.emulator.idle()
    expect((await half()).status).toBe(200)
    await world.emulator.idle()
    expect((await half()).status).toBe(429)
    await world.clock.advance(1000)
    expect(world.emulator.pending).toBe(0)
    expect((await half()).status).toBe(200)
  })

  it('when a fault was asked for', async () => {
    const world = await openEventGrid()
    world.emulator.failNext({ route: 'topic', status: 503, retryAfter: 7 })
    const answer = await publish(world, [cloudEvent()])
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('7')
    expect((await errorOf(answer)).code).toBe('ServiceUnavailable')
    expect((await publish(world, [cloudEvent()])).status).toBe(200)
  })

  it('takes an event and a request that are just within the limits', async () => {
    const world = await openEventGrid()
    const bare = JSON.stringify(cloudEvent({ data: '' })).length
    const largest = cloudEvent({ data: 'x'.repeat(1_049_600 - bare) })
    expect((await publish(world, [largest])).status).toBe(200)
    const rest = 'x'.repeat(1_536_000 - 1_049_600 - bare - '[,]'.length)
    expect((await publish(world, [largest, cloudEvent({ data: rest })])).status).toBe(200)
    expect((await publish(world, [largest, cloudEvent({ data: `${rest}x` })])).status).toBe(413)
    const most = Array.from({ length: 5000 }, () => cloudEvent())
    expect((await publish(world, most)).status).toBe(200)
  })
})
