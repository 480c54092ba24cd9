import { request } from 'node:https'
import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { cloudEvent, gridEvent } from '../event-grid.ts'
import { startSubscriber } from '../subscriber.ts'

const cloudEvents = { 'content-type': 'application/cloudevents+json' }
const gridEvents = { 'content-type': 'application/json' }

const post = async (url: string, key: string, headers: Record<string, string>, body: unknown) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'aeg-sas-key': key, ...headers },
    body: JSON.stringify(body),
  })
  return answer.status
}

it('deliver makes topic, event subscription and ingress, and keeps path and query', async () => {
  const [first, second] = [await startSubscriber(), await startSubscriber()]
  const emulator = await startEmulator({
    deliver: { orders: `${first.url}/hook?code=1`, returns: [`${first.url}/returns`, second.url] },
  })
  await emulator.idle()
  expect(emulator.topics().map(({ name }) => name)).toEqual(['orders', 'returns'])
  emulator.raise('orders', [cloudEvent()])
  emulator.raise('returns', [cloudEvent()])
  await emulator.settled({ timeout: 30_000 })
  expect(first.deliveries().map(({ url }) => url)).toEqual(['/hook?code=1', '/returns'])
  expect(second.deliveries().map(({ url }) => url)).toEqual(['/'])
})

it('deliver uses a topic that is given, and stands beside event subscriptions and ingress of its own', async () => {
  const subscriber = await startSubscriber()
  const emulator = await startEmulator({
    topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }],
    deliver: { Orders: `${subscriber.url}/a` },
    eventSubscriptions: [{ name: 'own', endpoint: 'https://own.example/b' }],
    ingress: [{ from: 'https://own.example/', to: subscriber.url }],
  })
  await emulator.idle()
  expect(emulator.topics().map(({ name }) => name)).toEqual(['orders'])
  emulator.raise('orders', [gridEvent()])
  await emulator.settled({ timeout: 30_000 })
  expect(
    subscriber
      .deliveries()
      .map(({ url }) => url)
      .toSorted(),
  ).toEqual(['/a', '/b'])
})

it('deliver refuses what is no URL', async () => {
  await expect(startEmulator({ deliver: { orders: '127.0.0.1:3000' } })).rejects.toThrow('deliver.orders must be a URL')
})

it('a topic is at /{topic}/api/events too', async () => {
  const emulator = await startEmulator()
  const { key } = emulator.topic()
  expect(await post(`${emulator.proxy}/orders/api/events`, key, cloudEvents, cloudEvent())).toBe(200)
  expect(await post(`${emulator.proxy}/nobody/api/events`, key, cloudEvents, cloudEvent())).toBe(404)
  expect(await post(`${emulator.proxy}/api/events`, key, cloudEvents, cloudEvent())).toBe(404)
})

it('a topic with a port of its own is at /api/events there, over http and https', async () => {
  const emulator = await startEmulator({
    topics: [{ name: 'orders' }, { name: 'returns' }],
    topicPorts: { Returns: 0 },
  })
  const { ownEndpoint = '', key } = emulator.topic('returns')
  expect(emulator.topic('orders').ownEndpoint).toBeUndefined()
  const plain = ownEndpoint.replace('https:', 'http:')
  for (const url of [plain, `${plain}?api-version=2018-01-01`, plain.replace('/api', '/returns/api')]) {
    expect(await post(url, key, cloudEvents, cloudEvent())).toBe(200)
  }
  const status = await new Promise((resolve, reject) => {
    const headers = { 'aeg-sas-key': key, ...cloudEvents }
    const sending = request(ownEndpoint, { method: 'POST', ca: emulator.ca, headers, agent: false }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sending.on('error', reject)
    sending.end(JSON.stringify(cloudEvent()))
  })
  expect(status).toBe(200)
  expect(emulator.records.requests.all().map((one) => one.status)).toEqual([200, 200, 200, 200])
})

it('a topic of both schemas takes each in each form, and delivers CloudEvents', async () => {
  const subscriber = await startSubscriber()
  const emulator = await startEmulator({
    topics: [{ name: 'orders', bothSchemas: true }],
    deliver: { orders: subscriber.url },
  })
  await emulator.idle()
  const { httpEndpoint, key } = emulator.topic()
  const binary = { 'ce-specversion': '1.0', 'ce-id': 'b', 'ce-source': '/s', 'ce-type': 'T', ...gridEvents }
  expect(await post(httpEndpoint, key, cloudEvents, cloudEvent({ id: 'c' }))).toBe(200)
  expect(await post(httpEndpoint, key, gridEvents, [gridEvent({ id: 'g' })])).toBe(200)
  expect(await post(httpEndpoint, key, binary, { amount: 1 })).toBe(200)
  expect(await post(httpEndpoint, key, gridEvents, [cloudEvent()])).toBe(400)
  await emulator.settled({ timeout: 30_000 })
  const ids = subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
  expect(ids.toSorted()).toEqual(['b', 'c', 'g'])
})
