import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { cloudEvent, gridEvent } from '../event-grid.ts'
import { startSubscriber } from '../subscriber.ts'

const cloudEvents = { 'content-type': 'application/cloudevents+json' }

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
