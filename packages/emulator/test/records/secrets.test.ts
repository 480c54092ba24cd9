import { request } from 'node:http'
import { expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { requestLines } from '../../src/cli/record-lines.ts'
import { openEventGrid } from '../event-grid.ts'

const key = 'c3dvcmRmaXNoLXN3b3JkZmlzaA=='
const spellings = [key, encodeURIComponent(key), encodeURIComponent(encodeURIComponent(key)), 'swordfish']

/** A URL as a client writes it, which Node's own client would write otherwise. */
async function sendRaw(origin: string, path: string, method = 'POST', headers = {}): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const { hostname, port } = new URL(origin)
  const out = request({ hostname, port, path, method, headers }, (answer) => {
    let text = ''
    answer.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    answer.on('end', () => resolve(text))
  })
  out.on('error', reject).end('[]')
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
  const page = await (await fetch(`${emulator.proxy}/page/state`)).text()
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
