import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../../../src/core/secret.ts'
import { startTopic } from '../../../publisher/scripted-topic.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { eventually } from '../../../support/eventually.ts'
import { failToAccept, listeningServers } from '../../../support/listening-servers.ts'
import { startEmulator } from '../../../support/start-emulator.ts'
import { openApi, openPublishing } from './open-api.ts'

const failed = (errorCode: string, message: string) => JSON.stringify({ errorCode, message })
const notInvoked = (name: string, why: string) =>
  failed('ERR_INVOKE_OUTPUT_BINDING', `error invoking output binding ${name}: ${why}`)

const malformed = (why: string) => failed('ERR_MALFORMED_REQUEST', `failed deserializing HTTP body: ${why}`)
const long = 'ä'.repeat(256)
const metadata = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`name-${n}`, 'x']))
const create = (of: object = {}) => JSON.stringify({ operation: 'create', ...of })
const noOperation = notInvoked('orders', 'operation field is missing from request')
const unsupported = notInvoked('orders', 'binding orders does not support operation get. supported operations:create')

it.each<[name: string, path: string, body: string, status: number, answer: string | RegExp]>([
  ['an unknown binding', 'parcels', create(), 500, notInvoked('parcels', "couldn't find output binding parcels")],
  ['one of the longest name', encodeURI(long), create(), 500, notInvoked(long, `couldn't find output binding ${long}`)],
  ['what is nearly JSON', 'orders', '{"a"},"b"', 400, malformed('it is not JSON')],
  ['what is nearly JSON within its metadata', 'orders', '{"metadata":{"a"},"b"', 400, malformed('it is not JSON')],
  ['too much metadata', 'orders', create({ metadata }), 400, /^{"errorCode":"ERR_MALFORMED.* more than 1000 names/],
  [
    'a path that is not escaped',
    '100%',
    create(),
    400,
    /^{"errorCode":"ERR_MALFORMED_REQUEST","message":"the path .*%/,
  ],
  ['too long a name', 'a'.repeat(3_073), create(), 414, /^{"errorCode":"ERR_MALFORMED_REQUEST".*path is too long/],
  ['an operation that there is not', 'orders', '{"operation":"get"}', 500, unsupported],
  ['no operation', 'orders', '{"data":1}', 500, noOperation],
  ['an operation without a name', 'orders', create({ operation: '' }), 500, noOperation],
  ['no JSON', 'orders', '{', 400, malformed('it is not JSON')],
  ['no body', 'orders', '', 400, malformed('it is not JSON')],
  ['JSON that is no object', 'orders', '[]', 400, /ERR_MALFORMED_REQUEST.*HTTP body: Invalid input/],
  ['metadata that is no text', 'orders', create({ metadata: { type: 1 } }), 400, /ERR_MALFORMED.*metadata\.type/],
  ['over 4 MiB', 'orders', `"${'x'.repeat(4 * 1024 * 1024)}"`, 400, /ERR_MALFORMED_REQUEST.*over 4194304 bytes/],
  ['half an event', 'orders', create({ data: { specversion: '1.0' } }), 500, /ERR_INVOKE_OUTPUT_.*PAYLOAD_INVALID/],
  ['another building block', '../state/store?k=secret', '[]', 404, /ERR_NOT_FOUND.*POST \/v1\.0\/state\/store:/],
])('answers %s as Dapr does, or says what it lacks', async (_name, path, payload, status, expected) => {
  const api = await openApi()
  const url = `/v1.0/bindings/${path}`.replace('bindings/../', '')
  const answer = await api.ask({ method: 'POST', url, payload })
  expect(answer.statusCode).toBe(status)
  expect(answer.body).toEqual(expected instanceof RegExp ? expect.stringMatching(expected) : expected)
})

it('answers another method as Dapr does, and names daprd', async () => {
  const api = await openApi()
  const answer = await api.ask({ method: 'GET', url: '/v1.0/bindings/orders' })
  expect(answer.statusCode).toBe(404)
  expect(answer.body).toMatch(/ERR_NOT_FOUND.*GET \/v1\.0\/bindings\/orders.*daprd/)
})

it.each([
  { name: 'an object', data: { a: [1, 'ü'] }, expected: { data: { a: [1, 'ü'] } } },
  { name: 'text', data: 'hello', expected: { data: 'hello' } },
  { name: 'a number', data: 12.5, expected: { data: 12.5 } },
  { name: 'null', data: null, expected: { data: null } },
  { name: 'an array', data: [1, 'two'], expected: { data: [1, 'two'] } },
  { name: 'nothing, which Dapr makes null', data: undefined, expected: { data: null } },
  {
    name: 'a whole CloudEvent',
    data: { specversion: '1.0', id: '7', source: '/shop', type: 'order.placed', data: true },
    expected: { id: '7', source: '/shop', type: 'order.placed', data: true },
  },
])('publishes $name', async ({ data, expected }) => {
  const { api, published } = await openPublishing()
  const answer = await api.ask({
    method: 'PUT',
    url: '/v1.0/bindings/orders',
    payload: create({ data }),
  })
  expect({ status: answer.statusCode, body: answer.body, type: answer.headers['content-type'] }).toEqual({
    status: 200,
    body: '',
    type: 'application/json',
  })
  expect(published()).toMatchObject([expected])
})

it.each([
  { name: 'text', data: 'hello', expected: '"hello"' },
  { name: 'an object', data: { Data: 1.1 }, expected: '{"Data":1.1}' },
])('takes the names of its body in any case, as daprd does, with $name as data', async ({ data, expected }) => {
  const topic = await startTopic()
  const api = await openApi({}, { httpEndpoint: topic.endpoint, key: 'a-key' })
  const payload = JSON.stringify({ Operation: 'create', DATA: data, metaData: { type: 'order.placed' } })
  await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', payload })
  expect(topic.requests[0]?.body).toContain(`"data":${expected}`)
  expect(topic.requests[0]?.body).toContain('"type":"order.placed"')
})

it.each(['nonsense', 'application/x-www-form-urlencoded'])(
  'reads JSON whatever the content type says: %s',
  async (type) => {
    const { api, published } = await openPublishing()
    const headers = { 'content-type': type }
    await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', headers, payload: create({ data: 1 }) })
    expect(published()).toMatchObject([{ data: 1 }])
  },
)

it('publishes the numbers of its data with the digits that they came with', async () => {
  const topic = await startTopic()
  const api = await openApi({}, { httpEndpoint: topic.endpoint, key: 'a-key' })
  const numbers = '{ "orderId": 9007199254740993, "snowflake": 1234567890123456789, "price": 1.10, "huge": 1E400 }'
  const payload = `\ufeff{"data":1,"operation":"create", "d\\u0061ta" : ${numbers} }`
  await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', payload })
  expect(topic.requests[0]?.body).toContain(`"data":${numbers}`)
})

it('hands on metadata, and the trace of the caller, which goes before one in the metadata as with Dapr', async () => {
  const { api, published } = await openPublishing()
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const tracestate = 'congo=t61rcWkgMzE'
  const metadata = { type: 'order.placed', subject: 'orders/1', traceparent: traceparent.replace('4bf9', '5bf9') }
  await api.ask({
    method: 'POST',
    url: '/v1.0/bindings/orders',
    headers: { traceparent, tracestate },
    payload: create({ data: 1, metadata }),
  })
  expect(published()).toMatchObject([{ type: 'order.placed', subject: 'orders/1', traceparent, tracestate }])
})

it('answers with the ids as far as a header can hold them', async () => {
  const { api } = await openPublishing()
  const event = (id: string) => ({ specversion: '1.0', id, source: '/shop', type: 'order.placed' })
  const idsOf = async (events: readonly unknown[]) => {
    const payload = create({ data: events })
    const { statusCode, headers } = await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', payload })
    return { statusCode, ids: headers['metadata.ids'], count: headers['metadata.count'] }
  }
  const few = await idsOf([event('Straße 1'), event('☃')])
  expect({ ...few, ids: JSON.parse(String(few.ids)) }).toEqual({ statusCode: 200, ids: ['Straße 1', '☃'], count: '2' })
  const many = await idsOf(Array.from({ length: 500 }, (_, index) => event(`an-id-of-some-length-${index}`)))
  expect(many).toEqual({ statusCode: 200, ids: undefined, count: '500' })
})

it('tells of its components as Dapr does', async () => {
  const api = await openApi({ app: { address: '127.0.0.1', port: 3000, maxConcurrency: 256 } })
  const answer = await api.ask({ url: '/v1.0/metadata' })
  expect(answer.json()).toMatchObject({
    id: 'shop',
    components: [{ name: 'orders', type: 'bindings.azure.eventgrid', version: 'v1', capabilities: ['OUTPUT_BINDING'] }],
    extended: { daprRuntimeVersion: 'eventgrid-binding 1.2.3' },
    appConnectionProperties: { port: 3000, protocol: 'http', channelAddress: '127.0.0.1', maxConcurrency: 256 },
  })
})

it.each(['/v1.0/bindings/orders/more', '/more/v1.0/bindings/orders'])('has no %s', async (url) => {
  const api = await openApi()
  const answer = await api.ask({ method: 'POST', url, payload: create() })
  expect([answer.statusCode, answer.json()]).toMatchObject([404, { errorCode: 'ERR_NOT_FOUND' }])
})

it('ends the connection of a body over 4 MiB', async () => {
  const api = await openApi()
  const payload = 'x'.repeat(4 * 1024 * 1024 + 1)
  const { statusCode, headers } = await api.ask({ method: 'POST', url: '/v1.0/bindings/orders', payload })
  expect([statusCode, headers.connection]).toEqual([400, 'close'])
})

it.each([
  ['', 204, ''],
  ['/outbound', 204, ''],
  ['?appid=shop', 204, ''],
  ['?appid=billing', 500, failed('ERR_HEALTH_APPID_NOT_MATCH', 'dapr app-id does not match')],
])('answers /v1.0/healthz%s with %i', async (more, status, body) => {
  const api = await openApi()
  const answer = await api.ask({ url: `/v1.0/healthz${more}` })
  expect([answer.statusCode, answer.body]).toEqual([status, body])
})

it.each([
  { host: '127.0.0.1', shown: '127.0.0.1' },
  { host: '0.0.0.0', shown: '127.0.0.1' },
  { host: '::1', shown: '[::1]' },
  { host: '::', shown: '[::1]' },
])('shows a URL that a client can use where it listens on $host', async ({ host, shown }) => {
  const api = await openApi({ listeningOn: host })
  const url = await api.listen({ host, port: 0 })
  expect(url.replace(/:\d+$/, '')).toBe(`http://${shown}`)
  expect((await fetch(`${url}/v1.0/healthz`)).status).toBe(204)
})

it('bounds its connections', async () => {
  const api = await openApi()
  const { servers } = await listeningServers(() => api.listen({ host: 'localhost', port: 0 }))
  expect(new Set(servers.map(({ maxConnections }) => maxConnections))).toEqual(new Set([1_024]))
})

it('answers 503 where unfinished bodies take 64 MiB, and takes a body again once one of them is gone', async () => {
  const api = await openApi({ callOutput: async () => ({ metadata: {} }) })
  const { port, hostname } = new URL(await api.listen({ host: '127.0.0.1', port: 0 }))
  const length = 4 * 1024 * 1024
  const head = `POST /v1.0/bindings/orders HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`
  const strangers = Array.from({ length: 16 }, () => connect(Number(port), hostname).on('error', () => {}))
  onTestFinished(() => {
    for (const stranger of strangers) stranger.destroy()
  })
  for (const stranger of strangers) stranger.write(head + ' '.repeat(length - 1))
  const ask = () => api.ask(call('orders'))
  await eventually(async () => expect((await ask()).statusCode).toBe(503))
  const { headers, json } = await ask()
  expect([headers.connection, json().errorCode]).toEqual(['close', 'ERR_OVERLOADED'])
  strangers[0]?.destroy()
  await eventually(async () => expect((await ask()).statusCode).toBe(200))
})

it('goes on after a connection that the system could not hand over', async () => {
  const api = await openApi()
  // Each address that this name has is a server of its own.
  const { result: url, servers } = await listeningServers(() => api.listen({ host: 'localhost', port: 0 }))
  expect(servers).not.toEqual([])
  failToAccept(servers)
  expect((await fetch(`${url}/v1.0/healthz`)).status).toBe(204)
})

it.each([
  { name: 'does not wait for the answer', before: '' },
  {
    name: 'asks for it behind another call, and waits for neither',
    before:
      'POST /v1.0/bindings/orders HTTP/1.1\r\nhost: localhost\r\ncontent-length: 22\r\n\r\n{"operation":"create"}',
  },
])('shuts down for a caller that $name', async ({ before }) => {
  const down = Promise.withResolvers<void>()
  const api = await openApi({ onShutdown: down.resolve, callOutput: () => new Promise(() => {}) })
  const { port, hostname } = new URL(await api.listen({ host: '127.0.0.1', port: 0 }))
  const caller = connect(Number(port), hostname).on('error', () => {})
  const request = `${before}POST /v1.0/shutdown HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n`
  caller.write(request, () => caller.resetAndDestroy())
  await down.promise
})

it('takes no request without a token, be the token the word undefined', async () => {
  const api = await openApi({ token: new Secret('undefined') })
  expect((await api.ask({ url: '/v1.0/metadata' })).statusCode).toBe(401)
})

const token = { 'dapr-api-token': 'the-token' }
it.each([
  ['without the token', 401, {}],
  ['with another token', 401, { 'dapr-api-token': 'guessed' }],
  ['with the token', 200, token],
  ['without the token that speaks of health', 401, {}, '?/v1.0/healthz'],
  ['of a page of the web', 403, { ...token, 'sec-fetch-site': 'cross-site' }],
])('answers a request %s with %i where a token is set', async (_name, expected, headers, query = '') => {
  const api = await openApi({ token: new Secret('the-token') })
  const health = await api.ask({ url: '/v1.0/healthz' })
  const answer = await api.ask({ url: `/v1.0/metadata${query}`, headers })
  expect([answer.statusCode, health.statusCode]).toEqual([expected, 204])
})

const call = (name: string) => ({
  method: 'POST' as const,
  url: `/v1.0/bindings/${name}`,
  payload: create({ data: { order: 1 } }),
})

it('logs the known names at a call to an unknown one, once for many calls', async () => {
  const log = captureLog()
  const api = await openApi({}, undefined, log)
  for (const name of ['order', 'order', 'a%0Ab']) await api.ask(call(name))
  const lines = log.lines.filter(({ message }) => message === 'a call names an unknown component')
  expect(lines.map(({ fields }) => fields)).toEqual([
    { called: 'order', known: 'orders' },
    { called: 'a b', known: 'orders' },
  ])
})

it('logs a failure with its whole remedy', async () => {
  const log = captureLog()
  const { httpEndpoint } = (await startEmulator()).topic()
  const api = await openApi({}, { httpEndpoint, key: 'd3Jvbmc=' }, log)
  await api.ask(call('orders'))
  const { fields } = log.lines.find(({ message }) => message === 'create failed') ?? {}
  expect(fields?.reason).toMatch(/Emulator: it prints the keys.* az eventgrid topic key list .*--output tsv\)"$/)
})
