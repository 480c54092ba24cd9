import { expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
import { callAt, openInterface, orders } from './open-interface.ts'

/** The table of the interface: what a program may rely on. */
const table = [
  'GET /emulator/events',
  'GET /emulator/events/{key}',
  'POST /emulator/events/{key}/redeliver',
  'POST /emulator/events/{key}/try-now',
  'POST /emulator/subscriptions/{name}/try-now',
  'GET /emulator/subscriptions/{name}/queue',
  'GET /emulator/search',
  'GET /emulator/state',
  'GET /emulator/figures',
  'GET /emulator/stream',
  'POST /emulator/topics/{name}/publish',
  'GET /emulator/endpoints',
  'GET /emulator/dead-letters',
  'GET /emulator/requests',
  'POST /emulator/settle',
  'POST /emulator/wait',
  'POST /emulator/reset',
  'POST /emulator/faults',
  'DELETE /emulator/faults',
  'POST /emulator/clock',
  'POST /emulator/topics/{name}/raise',
  'POST /emulator/roles',
  'DELETE /emulator/roles',
  'POST /emulator/assertions',
  'POST /emulator/keys/rotate',
  'GET /emulator/environment',
  'GET /emulator/openapi.json',
  'GET /emulator/subscriptions',
  'POST /emulator/subscriptions',
  'DELETE /emulator/subscriptions',
]

const deep = (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

it('describes each operation, and no other is served', async () => {
  const { document, emulator } = await openInterface({
    namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'orders' }] }] }],
    eventSubscriptions: [{ name: 'orders', endpoint: 'https://shop.example.com/' }],
  })
  emulator.raise('orders', orders('1'))
  expect(document.openapi).toBe('3.1.0')
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(table.toSorted())
  for (const path of Object.keys(document.paths)) {
    for (const method of methods) {
      const url = new URL(path.replace('{name}', 'orders').replace('{key}', '1'), emulator.proxy)
      const { status, body } = await fetch(url, { method })
      await body?.cancel()
      const isDescribed = described.includes(`${method} ${path}`)
      expect([method, path, isDescribed ? status !== 405 && status !== 404 : status === 405]).toEqual([
        method,
        path,
        true,
      ])
    }
  }
})

it('names the methods of a path where another is used', async () => {
  const { emulator } = await openInterface()
  const { status, headers, body } = await callAt(emulator.proxy, 'PUT', '/emulator/faults', {})
  expect([status, headers.get('allow'), headers.get('content-type')]).toEqual([
    405,
    'POST, DELETE',
    'application/problem+json; charset=utf-8',
  ])
  expect(body).toEqual({
    ...{ type: 'about:blank', title: 'Method Not Allowed', status: 405 },
    detail: 'PUT is not allowed here: POST and DELETE are',
  })
})

it('answers an unknown path with a problem that names the document', async () => {
  const { emulator } = await openInterface()
  for (const path of ['/emulator/', '/emulator/nothing', '/emulator/events/1/2']) {
    const { status, body } = await callAt(emulator.proxy, 'GET', path)
    expect([status, body.detail]).toEqual([404, expect.stringContaining('/emulator/openapi.json')])
  }
})

it('is served over https too', async () => {
  const { emulator, document } = await openInterface()
  expect((await send(emulator, '/emulator/openapi.json')).body).toEqual(document)
})

it.each([
  ['GET', '/emulator/events?topc=orders', 'topc', /did you mean topic/],
  ['GET', '/emulator/events?limit=0', 'limit', /1 or more/],
  ['GET', '/emulator/events?limit=many', 'limit', /number/],
  ['GET', '/emulator/events?topic=', 'topic', /at least 1 char/],
  ['GET', '/emulator/events?type=a&type=b', 'type', /given twice/],
  ['GET', '/emulator/dead-letters?topic=orders', 'topic', /no parameters/],
  ['GET', '/emulator/requests?route=delivery', 'route', /arm or/],
  ['POST', '/emulator/reset?resources=true', 'resources', /no parameters/],
  ['DELETE', '/emulator/roles?client=1', 'client', /did you mean clientId/],
])('refuses the query of %s %s', async (method, path, field, message) => {
  const { call } = await openInterface()
  const { status, body } = await call(method, path)
  expect([status, body.errors]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
})

it.each([
  ['/emulator/settle', { timout: '10s' }, 'timout', /did you mean timeout/],
  ['/emulator/settle', { timeout: 10 }, 'timeout', /a text/],
  ['/emulator/settle', { timeout: 'soon' }, 'timeout', /duration, such as 10s/],
  ['/emulator/wait', { fate: 'lost' }, 'fate', /delivered or/],
  ['/emulator/reset', { resources: 'yes' }, 'resources', /true or false/],
  ['/emulator/faults', { route: 'everything', status: 500 }, 'route', /arm or/],
  ['/emulator/faults', { route: 'arm', status: 99 }, 'status', /200 or more/],
  ['/emulator/faults', { route: 'arm', status: 500, matches: { path: '/' } }, 'matches.path', /not a field/],
  ['/emulator/clock', { advance: '-1h' }, 'advance', /duration/],
  ['/emulator/roles', { scope: '/' }, 'role', /required/],
  ['/emulator/keys/rotate', { forget: 1 }, 'forget', /true or false/],
])('refuses the body of POST %s: %j', async (path, given, field, message) => {
  const { call } = await openInterface()
  const { status, body } = await call('POST', path, given)
  expect([status, body.errors]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
})

it.each([
  ['POST', '/emulator/settle', 400, '{', /not valid JSON/],
  ['POST', '/emulator/settle', 400, '[]', /the body must be a mapping/],
  ['POST', '/emulator/settle', 400, `{"timeout":${deep(30_000)}}`, /nests deeper than 2,000 levels/],
  ['POST', '/emulator/topics/orders/raise', 400, `[{"data":${deep(5_000)}}]`, /nests deeper than 2,000 levels/],
  ['POST', '/emulator/topics/ordrs/raise', 400, `{"data":${deep(2_100)}}`, /nests deeper than 2,000 levels/],
  ['POST', '/emulator/settle', 400, '{"timeout":"11m"}', /10m or less/],
  ['POST', '/emulator/faults', 400, '', /the body is missing/],
  ['POST', '/emulator/faults', 400, '{"route":"arm"}', /has no effect at this route/],
  ['DELETE', '/emulator/faults', 400, '{}', /takes no body/],
  ['POST', '/emulator/clock', 409, '{"advance":"1h"}', /--manual-clock/],
  ['POST', '/emulator/clock', 400, '{"advance":"401d"}', /400d or less/],
  ['POST', '/emulator/roles', 400, '{"role":"EventGrid Data Sendr"}', /did you mean EventGrid Data Sender/],
  ['POST', '/emulator/roles', 400, '{"role":"Owner","clientId":"nobody"}', /no client nobody/],
  ['DELETE', '/emulator/roles?scope=/', 400, '', /scope needs a role/],
  ['DELETE', '/emulator/roles?role=Ownr', 400, '', /did you mean Owner/],
  ['GET', '/emulator/events?topic=ordrs', 404, '', /did you mean orders/],
  ['POST', '/emulator/topics/ordrs/raise', 404, '[]', /did you mean orders/],
  ['POST', '/emulator/topics/orders/raise', 400, '[{"id":"1"}]', /event 0: /],
  ['POST', '/emulator/topics/orders/raise', 413, `[{"a":"${'x'.repeat(1_600_000)}"}]`, /too long/],
  ['POST', '/emulator/settle', 413, `{"timeout":"${'1'.repeat(70_000)}s"}`, /too long/],
])('refuses %s %s with %i and says why', async (method, path, status, text, detail) => {
  const { call } = await openInterface()
  const answer = await call(method, path, text === '' ? undefined : text)
  expect([answer.status, answer.body.detail]).toEqual([status, expect.stringMatching(detail)])
})

it.each([
  ['another host name', { host: 'eventgrid.example' }],
  ['another origin', { origin: 'https://shop.example' }],
  ['a fetch of another site', { 'sec-fetch-site': 'cross-site' }],
])('refuses %s, on a path that does not exist too', async (_what, headers) => {
  const { emulator } = await openInterface()
  for (const [method, path] of [
    ['GET', '/emulator/environment'],
    ['POST', '/emulator/reset'],
    ['GET', '/emulator/nothing'],
  ] as const) {
    const { status, headers: answered, body } = await send(emulator, path, { method, headers })
    expect([status, answered['content-type']]).toEqual([403, 'application/problem+json; charset=utf-8'])
    expect(Object(body).detail).toContain('only programs of this machine')
  }
})

it('lets its own page ask, and records nothing of itself', async () => {
  const { emulator, call } = await openInterface()
  const own = await fetch(new URL('/emulator/reset', emulator.proxy), {
    method: 'POST',
    headers: { origin: emulator.proxy },
  })
  expect(own.status).toBe(204)
  await call('GET', '/emulator/events')
  expect(emulator.records.requests.length).toBe(0)
})

it('says in its environment where the blob endpoints are', async () => {
  const storage = [{ account: 'devstoreaccount1', azurite: 'http://127.0.0.1:1' }]
  const { emulator, call } = await openInterface({ storage })
  const { body } = await call('GET', '/emulator/environment')
  expect(body.storage).toEqual(emulator.storage())
  expect(body.storage).toMatchObject([{ account: 'devstoreaccount1', blobEndpoint: expect.stringMatching(/^http:/) }])
})
