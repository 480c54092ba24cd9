import { request } from 'node:http'
import { expect, it } from 'vitest'
import { openQueue, order } from './open-queue.ts'

interface Row {
  readonly what: string
  readonly method?: string
  readonly namespace?: string
  readonly path: string
  readonly version?: string
  readonly status: number
  readonly code: string
}

it.each<Row>([
  { what: 'another method', method: 'GET', path: 'orders:publish', status: 405, code: 'MethodNotAllowed' },
  { what: 'no version', path: 'orders:publish', version: '', status: 400, code: 'BadRequest' },
  { what: 'an unknown version', path: 'orders:publish', version: '2018-01-01', status: 400, code: 'BadRequest' },
  { what: 'an unknown namespace', namespace: 'nobody', path: 'orders:publish', status: 404, code: 'NotFound' },
  ...[
    { what: 'a topic without an operation', path: 'orders' },
    { what: 'an unknown operation of a topic', path: 'orders:receive' },
    { what: 'an event subscription without an operation', path: 'orders/eventsubscriptions/app' },
    { what: 'an unknown operation', path: 'orders/eventsubscriptions/app:publish' },
  ].map((row) => ({ ...row, status: 404, code: 'NotFound' })),
  {
    what: 'a settlement without a body',
    path: 'orders/eventsubscriptions/app:acknowledge',
    status: 400,
    code: 'BadRequest',
  },
])('answers $status for $what', async (given) => {
  const { method = 'POST', namespace = 'shop', path, version = '2024-06-01', status, code } = given
  const { emulator, topic } = await openQueue()
  const url = `${emulator.proxy}/namespaces/${namespace}/topics/${path}${version && `?api-version=${version}`}`
  const answer = await fetch(url, { method, headers: { authorization: `SharedAccessKey ${topic.key}` } })
  expect([answer.status, answer.headers.get('broker-errorcode'), answer.headers.has('x-ms-error-code')]).toEqual([
    status,
    code,
    false,
  ])
  expect(await answer.json()).toMatchObject({ error: { code } })
})

it('finds namespace, topic and event subscription in any letter case', async () => {
  const { emulator, topic, publish } = await openQueue()
  await publish()
  const url = `${emulator.proxy}/namespaces/SHOP/topics/Orders/eventsubscriptions/APP:receive?api-version=2024-06-01`
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `SharedAccessKey ${topic.key}` } })
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(await answer.json()).toMatchObject({ value: [{ event: order }] })
})

it.each(['maxEvents=1&maxWaitTime=10', 'maxEvents=100&maxWaitTime=120'])('takes a receive with %s', async (query) => {
  const { publish, receive } = await openQueue()
  await publish()
  expect(await receive(query)).toHaveLength(1)
})

it('gives one event where a receive does not say how many, and waits a minute where it does not say how long', async () => {
  const { clock, publish, receive } = await openQueue()
  for (const id of ['one', 'two']) await publish({ ...order, id })
  expect((await receive('')).map(({ event }) => event)).toEqual([order])
  await receive('')
  const empty = receive('')
  await expect.poll(() => clock.waiting).toBe(5)
  const ended = await Promise.race([empty, clock.advance(59_999)])
  expect(ended).toBeUndefined()
  await clock.advance(1)
  expect(await empty).toMatchObject([{ deliveryCount: 2 }])
})

it('gives the events of a client that has gone to the next one', async () => {
  const { clock, emulator, topic, publish, receive } = await openQueue()
  const url = `${emulator.proxy}/namespaces/shop/topics/orders/eventsubscriptions/app:receive?api-version=2024-06-01`
  const gone = request(url, { method: 'POST', headers: { authorization: `SharedAccessKey ${topic.key}` } })
  gone.on('error', () => {})
  gone.end()
  await expect.poll(() => clock.waiting).toBe(1)
  gone.destroy()
  await expect.poll(() => clock.waiting).toBe(0)
  await publish()
  expect(await receive()).toMatchObject([{ deliveryCount: 1 }])
})

it('records what was received, and nothing of a receive without events', async () => {
  const { clock, emulator, publish, receive } = await openQueue()
  const empty = receive()
  await expect.poll(() => clock.waiting).toBe(1)
  await clock.advance(10_000)
  await empty
  expect(emulator.records.requests.last).not.toHaveProperty('receive')
  await publish()
  await receive()
  await clock.advance(60_000)
  await publish({ ...order, id: 'two' })
  await receive()
  expect(emulator.records.requests.last?.receive).toEqual({
    ...{ topic: 'orders', subscriptionName: 'app', deliveryCount: 2 },
    events: { count: 2, first: ['one', 'two'].map((id) => ({ type: 'order.placed', id })) },
  })
})

it.each([
  { fault: { status: 503 }, error: { code: 'ServiceUnavailable', message: 'The request failed: ServiceUnavailable.' } },
  { fault: { status: 500, code: 'Own', message: 'As told.' }, error: { code: 'Own', message: 'As told.' } },
])('fails as it is told to: $fault', async ({ fault, error }) => {
  const { emulator, publish } = await openQueue()
  emulator.failNext({ route: 'namespace', ...fault })
  expect(await publish()).toMatchObject({ status: fault.status, answer: { error } })
  expect((await publish()).status).toBe(200)
})

it('names the topic of a publish that it refuses, before it reads any more', async () => {
  const { emulator, call } = await openQueue()
  await call(':publish', order, { authorization: '' })
  expect(emulator.records.requests.last?.publish).toEqual({ topic: 'orders' })
  await call('/eventsubscriptions/app:acknowledge', {})
  expect(emulator.records.requests.last).not.toHaveProperty('publish')
})
