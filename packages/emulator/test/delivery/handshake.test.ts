import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { listen } from '../../../../test/support/listen.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { ManualClock } from '../../src/index.ts'
import { grant, type ReceivedRequest, type SubscriberAnswer, startSubscriber } from '../subscriber.ts'

const cloud = 'CloudEventSchemaV1_0'
const eventGrid = 'EventGridSchema'
type Schema = typeof cloud | typeof eventGrid
const endpoint = 'https://subscriber.example/hook?code=s3cret'

/** An emulator that declares an event subscription, whose clock stands still. @param reach where the ingress leads, by the subscriber's URL */
async function open(
  eventDeliverySchema: Schema,
  answer: (request: ReceivedRequest) => SubscriberAnswer = grant,
  reach: (url: string) => string | undefined = (url) => url,
) {
  const subscriber = await startSubscriber()
  subscriber.onHandshake(answer)
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 7, 9))
  const emulator = await startEmulator({
    ...{ clock, answerTimeout: 1_000, retryHandshakes: false, ingress: () => reach(subscriber.url) },
    topics: [{ name: 'orders', inputSchema: eventGrid }],
    eventSubscriptions: [{ name: 'Sub1', endpoint, properties: { eventDeliverySchema } }],
  })
  const state = () => emulator.eventSubscriptions()[0]?.provisioningState
  return { subscriber, clock, emulator, state, last: () => emulator.records.handshakes.last }
}

/** The same, once its handshake is over. */
async function shake(...given: Parameters<typeof open>) {
  const opened = await open(...given)
  const { emulator, subscriber, last } = opened
  await emulator.idle()
  const [request] = subscriber.requests
  /** The validation URL that was sent, over http. */
  const validationUrl = () => {
    const [event] = request?.method === 'POST' ? JSON.parse(request.body) : []
    const url = event?.data.validationUrl ?? request?.headers['webhook-request-callback']
    return new URL(String(url).replace(emulator.endpoints.topics, emulator.proxy))
  }
  return { ...opened, request, validationUrl, message: last()?.message ?? '' }
}

describe('the CloudEvents handshake', () => {
  it('asks the exact URL by OPTIONS, with origin and callback and no body', async () => {
    const { request, state, last } = await shake(cloud)
    expect(state()).toBe('Succeeded')
    expect(request).toMatchObject({ method: 'OPTIONS', url: '/hook?code=s3cret', body: '' })
    expect(request?.headers['webhook-request-origin']).toBe('eventgrid.azure.net')
    expect(request?.headers['accept-encoding']).toBe('gzip, deflate')
    expect(request?.headers['webhook-request-callback']).toMatch(
      new RegExp(
        '/eventsubscriptions/sub1/validate\\?id=[0-9A-F-]{36}&t=2026-01-05T14%3A07%3A09\\.0000000Z' +
          '&apiVersion=2025-04-01-preview&token=.+%3D$',
      ),
    )
    expect(request?.headers).not.toHaveProperty('webhook-request-rate')
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(last()).toMatchObject({ method: 'OPTIONS', status: 200, outcome: 'validated' })
  })

  it('that finds no host says that no ingress rule matches, without the query', async () => {
    const { message } = await shake(cloud, grant, () => undefined)
    expect(message).toContain(
      '(UTC). Emulator: no ingress rule matches https://subscriber.example/hook, and its host is unknown here: give an ' +
        'ingress rule from https://subscriber.example/ to http://127.0.0.1:PORT/',
    )
    expect(message).toContain('getaddrinfo')
    expect(message).not.toContain('s3cret')
  })

  it('that meets plain http says so, and which ingress rule helps', async () => {
    const { subscriber, message } = await shake(cloud, grant, (url) => url.replace('http:', 'https:'))
    const { host } = new URL(subscriber.url)
    expect(message).toContain(
      `https://${host} speaks plain http there: use an ingress rule from https://subscriber.example/ to http://${host}/`,
    )
  })

  it('fails after its time without an answer, and asks no second time', async () => {
    const { clock, emulator, subscriber, last } = await open(cloud, () => undefined)
    await emulator.idle()
    expect(last()?.message).toContain('response code Unknown')
    expect(last()?.message).toContain('No answer within 1 s.')
    await clock.advance(60_000)
    expect(subscriber.requests).toHaveLength(1)
  })
})

describe('the Event Grid handshake', () => {
  it('posts one validation event and takes its code for an answer', async () => {
    const { emulator, request, state } = await shake(eventGrid)
    expect(state()).toBe('Succeeded')
    expect(request).toMatchObject({ method: 'POST', url: '/hook?code=s3cret' })
    expect(request?.headers).toMatchObject({
      'aeg-event-type': 'SubscriptionValidation',
      'aeg-subscription-name': 'SUB1',
      'content-type': 'application/json; charset=utf-8',
    })
    const [event, ...more] = JSON.parse(request?.body ?? '')
    expect(more).toEqual([])
    expect(event).toMatchObject({
      topic: emulator.topic().id.replace('Microsoft.EventGrid', 'microsoft.eventgrid'),
      subject: '',
      eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
      eventTime: '2026-01-05T14:07:09.0000000Z',
      metadataVersion: '1',
    })
    expect(new URL(event.data.validationUrl).searchParams.get('id')).toBe(event.data.validationCode)
  })

  it('may be answered in chunks', async () => {
    const server = createServer(async (request, response) => {
      const [event] = JSON.parse((await request.toArray()).join(''))
      response.writeHead(200)
      response.write('{"validationResponse":')
      response.end(`${JSON.stringify(event.data.validationCode)}}`)
    })
    const port = await listen(server)
    const { state } = await shake(eventGrid, grant, () => `http://127.0.0.1:${port}`)
    expect(state()).toBe('Succeeded')
  })

  it('is sent once more, five seconds after a time-out', async () => {
    let tries = 0
    const answer = (request: ReceivedRequest) => (++tries === 1 ? undefined : grant(request))
    const { clock, emulator, state } = await open(eventGrid, answer)
    await emulator.idle()
    await clock.advance(4_999)
    expect(tries).toBe(1)
    await clock.advance(1)
    await emulator.idle()
    expect(state()).toBe('Succeeded')
    expect(tries).toBe(2)
  })

  it('is recorded with what was sent and answered, without the query of its URL', async () => {
    const answer = { status: 200, body: 'no s3cret here' }
    const { clock, emulator, subscriber, request, last } = await shake(eventGrid, () => answer)
    const subscriptionId = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/Sub1`
    expect(last()).toEqual({
      ...{ at: clock.now(), subscriptionId, subscriptionName: 'Sub1', method: 'POST' },
      ...{ url: 'https://subscriber.example/hook?(redacted)', target: `${subscriber.url}/hook?(redacted)` },
      ...{ requestHeaders: expect.objectContaining({ 'aeg-subscription-name': 'SUB1' }), requestBody: request?.body },
      ...{ status: 200, responseHeaders: expect.any(Object), responseBody: 'no (redacted) here' },
      ...{ outcome: 'awaiting-manual-action', message: expect.stringContaining('It is not asked again.') },
    })
  })
})

it.each([cloud, eventGrid] as const)(
  'with %s asks once more after a connection that was reset: a listener that hands over its port closes one',
  async (schema) => {
    let asked = 0
    const { state } = await shake(schema, (request) => (++asked > 1 ? grant(request) : 'drop'))
    expect([state(), asked]).toEqual(['Succeeded', 2])
  },
)

it.each<{ name: string; answer: SubscriberAnswer; code: string; schema?: Schema }>([
  { name: '503', answer: { status: 503 }, code: 'ServiceUnavailable' },
  { name: '404', answer: { status: 404 }, code: 'NotFound' },
  { name: '405', answer: { status: 405 }, code: 'MethodNotAllowed' },
  { name: '413', answer: { status: 413 }, code: 'RequestEntityTooLarge' },
  { name: 'a redirect', answer: { status: 302, headers: { location: '/' } }, code: 'Found' },
  { name: 'a status without a name', answer: { status: 599 }, code: '599' },
  { name: '404 with consent', answer: { status: 404, headers: { 'webhook-allowed-origin': '*' } }, code: 'NotFound' },
  {
    name: 'consent for somebody else',
    answer: { status: 200, headers: { 'webhook-allowed-origin': 'a.example' } },
    code: 'OK',
  },
  { name: 'a closed connection', answer: 'drop', code: 'Unknown' },
  { name: '202, even with the code', answer: { status: 202, body: '{}' }, code: 'Accepted', schema: eventGrid },
  { name: '500 for an event', answer: { status: 500 }, code: 'InternalServerError', schema: eventGrid },
  { name: 'a connection closed for an event', answer: 'drop', code: 'Unknown', schema: eventGrid },
])("fails after $name, in Event Grid's words", async ({ answer, code, schema = cloud }) => {
  const { state, validationUrl, message } = await shake(schema, () => answer)
  expect(state()).toBe('Failed')
  const [method, page] = schema === cloud ? ['OPTIONS', 'esvalidationcloudevent'] : ['POST', 'esvalidation']
  expect(message.replace(/[\da-f-]{36}/, 'ID').split('(UTC).')[0]).toBe(
    'Webhook validation handshake failed for https://subscriber.example/hook. ' +
      `Http ${method} request failed with response code ${code}. For troublehooting, visit ` +
      `https://aka.ms/${page}. Activity id:ID, timestamp: 1/5/2026 2:07:09 PM `,
  )
  expect((await fetch(validationUrl())).status).toBe(400)
})

describe.each([
  { schema: cloud, answer: { status: 200 }, what: 'OPTIONS without consent' },
  {
    schema: eventGrid,
    answer: { status: 200, body: '{"validationResponse":"another"}' },
    what: 'a validation event without its code',
  },
] as const)('a 200 for $what', ({ schema, answer }) => {
  it.each(['GET', 'POST'])('is completed by %s of the validation URL, once, with its token', async (method) => {
    const { emulator, state, validationUrl } = await shake(schema, () => answer)
    const url = validationUrl()
    const ask = async (query: string) => (await fetch(`${url.origin}${url.pathname}?${query}`, { method })).status
    const [id, right] = [url.searchParams.get('id'), encodeURIComponent(url.searchParams.get('token') ?? '')]
    for (const query of ['', `id=${id}`, `id=${id}&token=x`, `id=none&token=${right}`, 'id=none&id=none&token=none'])
      expect([query, await ask(query)]).toEqual([query, 400])
    expect(state()).toBe('AwaitingManualAction')
    expect(await ask(url.search.slice(1).replace(`${id}`, `${id}`.toLowerCase()))).toBe(200)
    await emulator.idle()
    expect(state()).toBe('Succeeded')
    expect(emulator.records.handshakes.all().map(({ outcome }) => outcome)).toEqual([
      'awaiting-manual-action',
      'validated',
    ])
    expect(await ask(url.search.slice(1))).toBe(400)
  })
})
