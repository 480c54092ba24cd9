/**
 * The same under node:test: `npx node --test examples/unit-test/emulator-with-node-test.ts`. Here the application publishes,
 * and meets faults.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Binding } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'

/** The application: publishes an order, and tries once more when the topic is throttled. */
async function publishOrder(endpoint: string, key: string, id: string): Promise<number> {
  const event = { specversion: '1.0', id, source: '/shop', type: 'order.placed' }
  const request = {
    method: 'POST',
    headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  }
  const first = await fetch(endpoint, request)
  return first.status === 429 ? (await fetch(endpoint, request)).status : first.status
}

test('an order is published at the second try when the topic is throttled', async (t) => {
  const emulator = await EventGridEmulator.start()
  t.after(() => emulator.close())
  const { httpEndpoint, key } = emulator.topic()
  emulator.failNext({ route: 'topic', status: 429, retryAfter: 1 })
  assert.equal(await publishOrder(httpEndpoint, key, 'one'), 200)
  assert.deepEqual(
    emulator.records.requests.filter(({ route }) => route === 'topic').map(({ status }) => status),
    [429, 200],
  )
})

test('a wrong key is refused in Azure’s words', async (t) => {
  const emulator = await EventGridEmulator.start()
  t.after(() => emulator.close())
  assert.equal(await publishOrder(emulator.topic().httpEndpoint, 'd3Jvbmc=', 'two'), 401)
  const refused = await emulator.records.requests.waitFor(({ status }) => status === 401)
  assert.equal(refused.code, 'Unauthorized')
})

test('a connection that is lost reaches the application as an error', async (t) => {
  const emulator = await EventGridEmulator.start()
  t.after(() => emulator.close())
  emulator.failNext({ route: 'topic', drop: true })
  await assert.rejects(publishOrder(emulator.topic().httpEndpoint, emulator.topic().key, 'three'), TypeError)
})

test('under fake timers the second try comes when the test moves the time', async (t) => {
  const emulator = await EventGridEmulator.start()
  let tries = 0
  const onEvent = () => (++tries === 1 ? Promise.reject(new Error('out of stock for now')) : undefined)
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent })
  await emulator.connect(binding, { topic: 'orders' })
  t.mock.timers.enable()
  emulator.raise('orders', [{ specversion: '1.0', id: 'four', source: '/shop', type: 'order.placed' }])
  await emulator.idle()
  t.mock.timers.tick(11_000)
  await emulator.settled()
  assert.equal(tries, 2)
  await binding.close()
  await emulator.close()
})
