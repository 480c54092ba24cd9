import { once } from 'node:events'
import { request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { text } from 'node:stream/consumers'
import { serialize } from 'node:v8'
import { expect, it } from 'vitest'
import { send, sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { requestLines } from '../../src/cli/record-lines.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { openEventGrid } from '../event-grid.ts'

const key = 'c3dvcmRmaXNoLXN3b3JkZmlzaA=='
const spellings = [key, encodeURIComponent(key), encodeURIComponent(encodeURIComponent(key)), 'swordfish']

/** A URL as a client writes it, which Node's own client would write otherwise. */
async function sendRaw(origin: string, path: string, method = 'POST', headers = {}, body = '[]'): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(origin)
  const out = request({ hostname, port, path, method, headers }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    answer.on('end', () => resolve(text))
  })
  out.on('error', reject).end(body)
  return promise
}

it.each([
  ['a key in the query', `/topics/orders/api/events?aeg-sas-key=${key}`],
  ['a key in other letters', `/topics/orders/api/events?AEG-SAS-KEY=${key}`],
  ['a key whose name is encoded', `/topics/orders/api/events?aeg%2Dsas%2Dkey=${encodeURIComponent(key)}`],
  [
    'a SAS token in the query',
    `/topics/orders/api/events?aeg-sas-token=r%3Dx%26e%3Dy%26s%3D${encodeURIComponent(key)}`,
  ],
  ['a topic that is not there', `/topics/gone/api/events?api-version=2018-01-01&aeg-sas-key=${key}`],
  ['a wrong path', `/topics/orders/api/event?aeg-sas-key=${key}`],
  ['a second question mark', `/topics/orders/api/events?api-version=2018-01-01?aeg-sas-key=${key}`],
  ['a question mark that is encoded', `/topics/orders%3Faeg-sas-key%3D${encodeURIComponent(key)}/api/events`],
  ['a key that stands alone', `/topics/gone/api/events?${key}`],
  ['a function’s code', `/topics/orders/x?code=${key}`],
  ['a path that is nowhere', `/orders/api?aeg-sas-key=${key}`],
  ['user info', `http://orders:${encodeURIComponent(key)}@127.0.0.1/topics/gone/api/events`],
  ['a namespace', `/namespaces/shop/topics/orders:publish?api-version=2024-06-01?sig=${key}`],
])('%s shows no secret in the answer, the record, the page or the terminal', async (_name, path) => {
  const emulator = await startEmulator()
  const answer = await sendRaw(emulator.proxy, path)
  const [record] = emulator.records.requests
  const page = await (await fetch(`${emulator.proxy}/emulator/state`)).text()
  const terminal = record ? requestLines(record, true) : []
  for (const text of [answer, JSON.stringify(record ?? ''), page, JSON.stringify(terminal)]) {
    for (const spelling of spellings) expect(text.toLowerCase()).not.toContain(spelling.toLowerCase())
  }
})

it('Resource Manager and the headers of a request show no secret of a URL either', async () => {
  const emulator = await startEmulator()
  const headers = { referer: `https://shop.example/?code=${key}`, cookie: `session=${key}` }
  const path = `/subscriptions/1/nothing?api-version=2022-06-15&access_token=${key}`
  const { body } = await send(emulator, path, { headers })
  const told = JSON.stringify([body, emulator.records.requests.all()])
  for (const spelling of spellings) expect(told).not.toContain(spelling)
  // What is no secret can be read.
  expect(told).toContain('api-version=2022-06-15&access_token=(redacted)')
})

it('an answer that repeats the query of its endpoint is recorded without it', async () => {
  const { emulator, subscriber } = await openEventGrid({
    eventSubscriptions: [{ name: 'audit', endpoint: `https://user:${key}@subscriber.example/hook?code=${key}` }],
  })
  await emulator.idle()
  subscriber.answer({
    status: 308,
    headers: { location: `https://subscriber.example/hook/?code=${encodeURIComponent(key)}` },
    body: `Cannot POST /hook?code=${key}`,
  })
  emulator.raise('orders', [{ specversion: '1.0', id: 'a', source: '/shop', type: 'order' }])
  await emulator.idle()
  const told = JSON.stringify([...emulator.records.deliveries, ...emulator.records.handshakes])
  for (const spelling of spellings) expect(told).not.toContain(spelling)
  expect(emulator.records.deliveries.last).toMatchObject({
    status: 308,
    responseBody: 'Cannot POST /hook?code=(redacted)',
  })
})

/** All that tells of requests: the test interface, the records and the terminal. */
async function toldBy(emulator: EventGridEmulator): Promise<string> {
  const shown = await (await fetch(`${emulator.proxy}/emulator/requests`)).text()
  const page = await (await fetch(`${emulator.proxy}/emulator/state`)).text()
  const records = emulator.records.requests.all()
  return [shown, page, JSON.stringify(records), JSON.stringify(records.map((one) => requestLines(one, true)))].join()
}

const secretValue = 'swordfish-swordfish'
const destination = {
  endpointType: 'WebHook',
  properties: {
    endpointUrl: `https://shop.example/hook?code=${secretValue}`,
    deliveryAttributeMappings: [
      { name: 'x-shop', type: 'Static', properties: { value: secretValue, isSecret: true } },
      { name: 'x-else', type: 'Static', properties: { value: secretValue, issecret: 'true' } },
      { name: 'x-more', type: 'Static', properties: { Value: secretValue } },
    ],
  },
}

it.each([
  {
    name: 'a PUT that is taken',
    properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' },
    status: 201,
  },
  { name: 'a PUT that is refused', properties: { destination, eventDeliverySchema: 'None' }, status: 400 },
  { name: 'a member that nobody knows', properties: { destination, hush: { name: secretValue } }, status: 400 },
])('$name shows no secret of its body', async ({ properties, status }) => {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/made`
  const body = JSON.stringify({ properties, password: secretValue })
  const answer = await sendArm(emulator, path, { method: 'PUT', body })
  const told = await toldBy(emulator)
  expect(told).not.toContain(secretValue)
  expect(told).toContain('https://shop.example/hook')
  if (status === 400) expect(answer.status).toBe(400)
})

const json = { 'content-type': 'application/json' }
const formType = { 'content-type': 'application/x-www-form-urlencoded' }

it.each([
  {
    name: 'a form at another path',
    path: 'oauth2/v2.0/token/',
    headers: formType,
    body: `client_secret=${secretValue}`,
  },
  { name: 'a form at no path', path: 'nothing', headers: formType, body: `client_secret=${secretValue}` },
  { name: 'JSON', path: 'oauth2/v2.0/token', headers: json, body: JSON.stringify({ client_secret: secretValue }) },
  { name: 'a form that is none', path: 'oauth2/v2.0/token', headers: formType, body: secretValue },
  { name: 'a field in other letters', path: 'oauth2/token', headers: formType, body: `Client_Secret=${secretValue}` },
  { name: 'a field of another grant', path: 'oauth2/token', headers: formType, body: `refresh=${secretValue}` },
])('a token request shows no secret: $name', async ({ path, headers, body }) => {
  const emulator = await startEmulator()
  await send(emulator, `/${emulator.tenantId}/${path}`, { method: 'POST', headers, body })
  expect(emulator.records.requests).toHaveLength(1)
  expect(await toldBy(emulator)).not.toContain(secretValue)
})

it.each([
  ...['x-ms-copy-source-authorization', 'x-ms-encryption-key', 'x-ms-source-encryption-key', 'x-functions-key'],
  ...['ocp-apim-subscription-key', 'x-ms-authorization-auxiliary', 'authorization', 'cookie', 'referer', 'x-whatever'],
])('a record shows no value of the header %s', async (name) => {
  const emulator = await startEmulator()
  await sendRaw(emulator.proxy, '/topics/orders/api/events', 'POST', { [name]: secretValue, 'user-agent': 'shop/1' })
  const told = await toldBy(emulator)
  expect(told).not.toContain(secretValue)
  expect(told).toContain('shop/1')
})

it.each([
  { route: 'topic', path: '/topics/orders/api/events' },
  { route: 'topic', path: '/eventsubscriptions/made/validate' },
  { route: 'namespace', path: '/namespaces/shop/topics/orders:publish' },
  { route: 'arm', path: '/subscriptions/1?api-version=2022-06-15' },
  { route: 'entra', path: '/common/oauth2/v2.0/token' },
  { route: 'entra', path: '/v1.0/directoryObjects/getByIds' },
])('a body of a caller without a credential is not recorded ($route, $path)', async ({ route, path }) => {
  const emulator = await startEmulator()
  // Without its length: it comes in chunks.
  const out = requestSecurely(emulator.endpoints.resourceManager, {
    method: 'POST',
    path,
    headers: formType,
    ca: emulator.ca,
  })
  out.write(`client_id=${secretValue.repeat(1_500)}`)
  out.end(`&client_secret=${secretValue.repeat(1_500)}`)
  const [answer] = await once(out, 'response')
  await text(answer)
  const { last } = emulator.records.requests
  expect(last?.route).toBe(route)
  expect(serialize(last).length).toBeLessThan(4_000)
})
