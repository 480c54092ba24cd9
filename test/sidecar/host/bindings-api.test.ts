import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { captureLog } from '../../support/captured-log.ts'
import { failToAccept, listeningServers } from '../../support/listening-servers.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { openApi, openPublishing } from './open-api.ts'

const failed = (errorCode: string, message: string) => JSON.stringify({ errorCode, message })
const notInvoked = (name: string, why: string) =>
  failed('ERR_INVOKE_OUTPUT_BINDING', `error invoking output binding ${name}: ${why}`)

it.each([
  {
    name: 'an unknown binding',
    url: '/v1.0/bindings/parcels',
    body: { operation: 'create', data: 1 },
    expected: [500, notInvoked('parcels', "couldn't find output binding parcels")],
  },
  {
    name: 'an unknown binding of the longest name',
    url: `/v1.0/bindings/${'%C3%A4'.repeat(256)}`,
    body: { operation: 'create' },
    expected: [500, notInvoked('ä'.repeat(256), `couldn't find output binding ${'ä'.repeat(256)}`)],
  },
  {
    name: 'more metadata names than any caller has',
    body: {
      operation: 'create',
      data: 1,
      metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`name-${n}`, 'x'])),
    },
    expected: [400, /^{"errorCode":"ERR_MALFORMED_REQUEST".*the metadata of the call has more than 1000 names/],
  },
  {
    name: 'a path that is not escaped as it should be',
    url: '/v1.0/bindings/100%',
    body: { operation: 'create' },
    expected: [400, /^{"errorCode":"ERR_MALFORMED_REQUEST","message":"the path .*%/],
  },
  {
    name: 'a binding of a name that is too long',
    url: `/v1.0/bindings/${'a'.repeat(3_073)}`,
    body: { operation: 'create' },
    expected: [414, /^{"errorCode":"ERR_MALFORMED_REQUEST","message":"the path is too long/],
  },
  {
    name: 'an operation that there is not',
    body: { operation: 'get' },
    expected: [500, notInvoked('orders', 'binding orders does not support operation get. supported operations:create')],
  },
  {
    name: 'no operation',
    body: { data: 1 },
    expected: [500, notInvoked('orders', 'operation field is missing from request')],
  },
  {
    name: 'an operation without a name',
    body: { operation: '', data: 1 },
    expected: [500, notInvoked('orders', 'operation field is missing from request')],
  },
  {
    name: 'no JSON',
    body: '{',
    expected: [400, failed('ERR_MALFORMED_REQUEST', 'failed deserializing HTTP body: it is not JSON')],
  },
  {
    name: 'no body',
    body: '',
    expected: [400, failed('ERR_MALFORMED_REQUEST', 'failed deserializing HTTP body: it is not JSON')],
  },
  {
    name: 'JSON that is no object',
    body: [],
    expected: [400, /ERR_MALFORMED_REQUEST.*HTTP body: Invalid input/],
  },
  {
    name: 'metadata that is no text',
    body: { operation: 'create', metadata: { type: 1 } },
    expected: [400, /ERR_MALFORMED_REQUEST.*metadata\.type/],
  },
  {
    name: 'over 4 MiB',
    body: `"${'x'.repeat(4 * 1024 * 1024)}"`,
    expected: [400, /ERR_MALFORMED_REQUEST.*over 4194304 bytes/],
  },
  {
    name: 'a payload that is half an event',
    body: { operation: 'create', data: { specversion: '1.0' } },
    expected: [500, /ERR_INVOKE_OUTPUT_BINDING.*PAYLOAD_INVALID/],
  },
  {
    name: 'another method',
    method: 'GET' as const,
    expected: [404, /ERR_NOT_FOUND.*GET \/v1\.0\/bindings\/orders.*daprd/],
  },
  {
    name: 'another building block',
    url: '/v1.0/state/store?metadata.key=secret',
    body: [],
    expected: [404, /ERR_NOT_FOUND.*POST \/v1\.0\/state\/store:/],
  },
])(
  'answers $name as Dapr does, or says what it lacks',
  async ({ method = 'POST' as const, url = '/v1.0/bindings/orders', body, expected }) => {
    const api = await openApi()
    const payload = typeof body === 'string' || body === undefined ? (body ?? '') : JSON.stringify(body)
    const answer = await api.inject({ method, url, payload })
    const [status, text] = expected
    expect(answer.statusCode).toBe(status)
    expect(answer.body).toEqual(text instanceof RegExp ? expect.stringMatching(text) : text)
  },
)

it.each([
  { name: 'an object', data: { a: [1, 'ü'] }, expected: { data: { a: [1, 'ü'] } } },
  { name: 'text', data: 'hello', expected: { data: 'hello' } },
  { name: 'a number', data: 12.5, expected: { data: 12.5 } },
  { name: 'nothing, which Dapr makes null', data: undefined, expected: { data: null } },
  {
    name: 'a whole CloudEvent',
    data: { specversion: '1.0', id: '7', source: '/shop', type: 'order.placed', data: true },
    expected: { id: '7', source: '/shop', type: 'order.placed', data: true },
  },
])('publishes $name', async ({ data, expected }) => {
  const { api, published } = await openPublishing()
  const answer = await api.inject({
    method: 'PUT',
    url: '/v1.0/bindings/orders',
    payload: JSON.stringify({ operation: 'create', data }),
  })
  expect({ status: answer.statusCode, body: answer.body, type: answer.headers['content-type'] }).toEqual({
    status: 200,
    body: '',
    type: 'application/json',
  })
  expect(published()).toMatchObject([expected])
})

it('hands on metadata, and the trace of the caller, which goes before one in the metadata as with Dapr', async () => {
  const { api, published } = await openPublishing()
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const tracestate = 'congo=t61rcWkgMzE'
  const metadata = { type: 'order.placed', subject: 'orders/1', traceparent: traceparent.replace('4bf9', '5bf9') }
  const body = { operation: 'create', data: 1, metadata }
  await api.inject({
    method: 'POST',
    url: '/v1.0/bindings/orders',
    headers: { traceparent, tracestate },
    payload: JSON.stringify(body),
  })
  expect(published()).toMatchObject([{ type: 'order.placed', subject: 'orders/1', traceparent, tracestate }])
})

it('answers with the ids as far as a header can hold them', async () => {
  const { api } = await openPublishing()
  const event = (id: string) => ({ specversion: '1.0', id, source: '/shop', type: 'order.placed' })
  const idsOf = async (events: readonly unknown[]) => {
    const payload = JSON.stringify({ operation: 'create', data: events })
    const { statusCode, headers } = await api.inject({ method: 'POST', url: '/v1.0/bindings/orders', payload })
    return { statusCode, ids: headers['metadata.ids'], count: headers['metadata.count'] }
  }
  const few = await idsOf([event('Straße 1'), event('☃')])
  expect({ ...few, ids: JSON.parse(String(few.ids)) }).toEqual({ statusCode: 200, ids: ['Straße 1', '☃'], count: '2' })
  const many = await idsOf(Array.from({ length: 500 }, (_, index) => event(`an-id-of-some-length-${index}`)))
  expect(many).toEqual({ statusCode: 200, ids: undefined, count: '500' })
})

it('tells of its components as Dapr does, and keeps what an application adds', async () => {
  const api = await openApi({ app: { address: '127.0.0.1', port: 3000, maxConcurrency: 256 } })
  await api.inject({ method: 'PUT', url: '/v1.0/metadata/greeting', payload: 'hello' })
  await api.inject({ method: 'PUT', url: '/v1.0/metadata/daprRuntimeVersion', payload: '1.18.1' })
  const answer = await api.inject({ url: '/v1.0/metadata' })
  expect(answer.json()).toMatchObject({
    id: 'shop',
    components: [{ name: 'orders', type: 'bindings.azure.eventgrid', version: 'v1', capabilities: ['OUTPUT_BINDING'] }],
    extended: { greeting: 'hello', daprRuntimeVersion: 'eventgrid-binding 1.2.3' },
    appConnectionProperties: { port: 3000, protocol: 'http', channelAddress: '127.0.0.1', maxConcurrency: 256 },
  })
})

it('keeps a hundred keys of 65,536 characters each, and no more', async () => {
  const api = await openApi()
  const put = async (key: number, length = 1) => {
    const payload = 'x'.repeat(length)
    return (await api.inject({ method: 'PUT', url: `/v1.0/metadata/${key}`, payload })).statusCode
  }
  for (let key = 1; key <= 100; key++) expect(await put(key)).toBe(204)
  expect([await put(101), await put(100, 65_536), await put(100, 65_537)]).toEqual([400, 204, 400])
  expect((await api.inject({ url: '/v1.0/metadata' })).json().extended['100']).toHaveLength(65_536)
})

it.each([
  { url: '/v1.0/healthz', expected: [204, ''] },
  { url: '/v1.0/healthz/outbound', expected: [204, ''] },
  { url: '/v1.0/healthz?appid=shop', expected: [204, ''] },
  {
    url: '/v1.0/healthz?appid=billing',
    expected: [500, failed('ERR_HEALTH_APPID_NOT_MATCH', 'dapr app-id does not match')],
  },
])('answers $url', async ({ url, expected }) => {
  const api = await openApi()
  const answer = await api.inject({ url })
  expect([answer.statusCode, answer.body]).toEqual(expected)
})

it('goes on after a connection that the system could not hand over', async () => {
  const api = await openApi()
  // Each address that this name has is a server of its own.
  const { result: url, servers } = await listeningServers(() => api.listen({ host: 'localhost', port: 0 }))
  expect(servers).not.toEqual([])
  failToAccept(servers)
  expect((await fetch(`${url}/v1.0/healthz`)).status).toBe(204)
})

it('shuts down for a caller that does not wait for the answer', async () => {
  const down = Promise.withResolvers<void>()
  const api = await openApi({ onShutdown: down.resolve })
  const { port, hostname } = new URL(await api.listen({ host: '127.0.0.1', port: 0 }))
  const caller = connect(Number(port), hostname)
  const request = 'POST /v1.0/shutdown HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n'
  caller.write(request, () => caller.resetAndDestroy())
  await down.promise
})

it('takes no request without a token, be the token the word undefined', async () => {
  const api = await openApi({ token: new Secret('undefined') })
  expect((await api.inject({ url: '/v1.0/metadata' })).statusCode).toBe(401)
})

it.each([
  { name: 'without the token', headers: {}, expected: 401 },
  { name: 'with another token', headers: { 'dapr-api-token': 'guessed' }, expected: 401 },
  { name: 'with the token', headers: { 'dapr-api-token': 'the-token' }, expected: 200 },
  {
    name: 'without the token that speaks of health',
    url: '/v1.0/metadata?/v1.0/healthz',
    headers: {},
    expected: 401,
  },
  {
    name: 'of a page of the web',
    headers: { 'dapr-api-token': 'the-token', 'sec-fetch-site': 'cross-site' },
    expected: 403,
  },
])(
  'answers a request $name with $expected where a token is set',
  async ({ url = '/v1.0/metadata', headers, expected }) => {
    const api = await openApi({ token: new Secret('the-token') })
    const health = await api.inject({ url: '/v1.0/healthz' })
    const answer = await api.inject({ url, headers })
    expect([answer.statusCode, health.statusCode]).toEqual([expected, 204])
  },
)

const create = (name: string) => ({
  method: 'POST' as const,
  url: `/v1.0/bindings/${name}`,
  payload: { operation: 'create', data: { order: 1 } },
})

it('logs the known names at a call to an unknown one, once for many calls', async () => {
  const log = captureLog()
  const api = await openApi({}, undefined, log)
  for (const name of ['order', 'order', 'a%0Ab']) await api.inject(create(name))
  const lines = log.lines.filter(({ message }) => message === 'a call names an unknown component')
  expect(lines.map(({ fields }) => fields)).toEqual([
    { called: 'order', known: 'orders' },
    { called: 'a b', known: 'orders', leftOut: 1 },
  ])
})

it('logs a failure with its whole remedy', async () => {
  const log = captureLog()
  const { httpEndpoint } = (await startEmulator()).topic()
  const api = await openApi({}, { httpEndpoint, key: 'd3Jvbmc=' }, log)
  await api.inject(create('orders'))
  const { fields } = log.lines.find(({ message }) => message === 'create failed') ?? {}
  expect(fields?.reason).toMatch(/Emulator: emulate prints the keys.* az eventgrid topic key list .*--output tsv\)"$/)
})
