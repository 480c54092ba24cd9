import { join } from 'node:path'
import { expect, it } from 'vitest'
import { send, sendArm } from '../../../../test/support/azure-clients.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { ManualClock } from '../../src/index.ts'
import { openQueue, order, queue, queueOf } from './open-queue.ts'

it('hands out a published event, locked, until it is acknowledged', async () => {
  const { emulator, publish, receive, settle } = await openQueue()
  expect(await publish()).toMatchObject({ status: 200, answer: {} })
  const [received] = await receive()
  expect(received).toMatchObject({ event: order, deliveryCount: 1 })
  expect([...emulator.queues().values()]).toEqual([{ available: 0, locked: 1, delayed: 0 }])
  const token = received?.lockToken ?? ''
  expect((await settle('acknowledge', [token])).answer).toEqual({ succeededLockTokens: [token], failedLockTokens: [] })
  await emulator.settled()
})

it.each([1.5, 3])('refuses a request of %d MiB', async (mebibytes) => {
  const { emulator, topic } = await openQueue()
  const { status, body } = await send(emulator, '/namespaces/shop/topics/orders:publish?api-version=2024-06-01', {
    method: 'POST',
    headers: {
      authorization: `SharedAccessKey ${topic.key}`,
      'content-type': 'application/cloudevents+json; charset=utf-8',
    },
    body: JSON.stringify({ ...order, data: 'x'.repeat(mebibytes * 2 ** 20) }),
  })
  expect({ status, body }).toMatchObject({
    status: 403,
    body: { error: { code: 'Forbidden', message: expect.stringContaining('too large') } },
  })
})

it('answers 200 for tokens that it cannot settle, and says why', async () => {
  const { publish, receive, settle } = await openQueue()
  await publish()
  const [received] = await receive()
  const token = received?.lockToken ?? ''
  await settle('acknowledge', [token])
  const { status, answer } = await settle('acknowledge', [token, 'nonsense'])
  expect(status).toBe(200)
  expect(answer).toMatchObject({
    succeededLockTokens: [],
    failedLockTokens: [
      { lockToken: token, error: { code: 'TokenLost', message: 'Token has expired.' } },
      { lockToken: 'nonsense', error: { code: 'BadToken', message: 'Cannot decode lockToken' } },
    ],
  })
})

it('waits for an event as long as maxWaitTime, by its clock', async () => {
  const { clock, publish, receive } = await openQueue()
  const early = receive('maxEvents=1&maxWaitTime=30')
  await publish()
  expect(await early).toHaveLength(1)
  const empty = receive('maxEvents=1&maxWaitTime=30')
  // The receive has arrived once it is the second timer beside that of the lock and of the event's end.
  while (clock.waiting < 3) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(30_000)
  expect(await empty).toEqual([])
})

it.each([
  { what: 'a lock that ends', afterMs: 60_000 },
  { what: 'a release', query: '', afterMs: 0 },
  { what: 'a release with a delay', query: '?releaseDelayInSeconds=10', afterMs: 10_000 },
])('delivers again after $what, and counts', async ({ query, afterMs }) => {
  const { clock, publish, receive, settle } = await openQueue()
  await publish()
  const [first] = await receive()
  if (query !== undefined) await settle('release', [first?.lockToken ?? ''], query)
  if (afterMs > 0) await clock.advance(afterMs - 1)
  const again = receive('maxEvents=1&maxWaitTime=10')
  if (afterMs > 0) await clock.advance(1)
  expect(await again).toMatchObject([{ event: order, deliveryCount: 2 }])
})

it('keeps a lock for as long as it is renewed', async () => {
  const { clock, publish, receive, settle } = await openQueue()
  await publish()
  const [received] = await receive()
  await clock.advance(50_000)
  expect((await settle('renewLock', [received?.lockToken ?? ''])).answer.failedLockTokens).toEqual([])
  await clock.advance(50_000)
  expect((await settle('acknowledge', [received?.lockToken ?? ''])).answer.failedLockTokens).toEqual([])
})

it('dead-letters a rejected event, and one that was received too often', async () => {
  const { emulator, publish, receive, settle } = await openQueue({}, queueOf({ maxDeliveryCount: 2 }))
  await publish()
  await settle('reject', [(await receive())[0]?.lockToken ?? ''])
  await publish({ ...order, id: 'two' })
  for (const _ of [1, 2]) await settle('release', [(await receive())[0]?.lockToken ?? ''])
  await emulator.settled()
  expect(emulator.records.deadLetters.all().flatMap(({ events }) => events)).toMatchObject([
    { id: 'one', deadletterProperties: { deadletterreason: 'Rejected by the receiver', deliveryattempts: 1 } },
    {
      id: 'two',
      deadletterProperties: { deadletterreason: 'Maximum delivery attempts was exceeded', deliveryattempts: 2 },
    },
  ])
})

it('wraps the dead letter of an event that was published in binary mode', async () => {
  const { emulator, topic, receive, settle } = await openQueue()
  await send(emulator, '/namespaces/shop/topics/orders:publish?api-version=2024-06-01', {
    method: 'POST',
    headers: {
      authorization: `SharedAccessKey ${topic.key}`,
      'content-type': 'application/json',
      ...{ 'ce-id': 'b-1', 'ce-source': '/shop', 'ce-type': 'order.placed', 'ce-specversion': '1.0' },
    },
    body: '{"total":1.0}',
  })
  await settle('reject', [(await receive())[0]?.lockToken ?? ''])
  await emulator.settled()
  expect(emulator.records.deadLetters.last?.events).toMatchObject([
    {
      event: { id: 'b-1', data: { total: 1 } },
      customDeliveryProperties: {},
      deadletterProperties: {
        deliveryattempts: 1,
        publishutc: expect.stringMatching(/\.\d{7}Z$/),
        deliveryattemptutc: expect.stringMatching(/\.\d{7}Z$/),
      },
    },
  ])
})

const storage = {
  endpointType: 'StorageBlob',
  properties: {
    resourceId: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/letters',
    blobContainerName: 'dead',
  },
}
const deadLetterDestinationWithResourceIdentity = {
  identity: { type: 'SystemAssigned' },
  deadLetterDestination: storage,
}
const deadLetterContainer = queueOf({ deadLetterDestinationWithResourceIdentity })

it.each([
  {
    fate: 'writes it when the store is back',
    failures: 3,
    pausesMs: [10_000, 60_000, 300_000],
    path: /^dead\/shop\/orders\/app\/\d+\/\d+\/\d+\/\d+\/[\da-f-]{36}\.json$/,
  },
  {
    fate: 'drops it after two days',
    failures: 10_000,
    pausesMs: [10_000, 60_000, ...Array.from({ length: 576 }, () => 300_000)],
    path: undefined,
  },
])('tries after 10 s, a minute and every five minutes to dead-letter an event, and $fate', async (row) => {
  const { failures, pausesMs, path } = row
  let left = failures
  const write = async () => {
    if (left-- > 0) throw new Error('the store is away')
  }
  const { clock, emulator, publish, receive, settle } = await openQueue(
    { deadLetterStore: { write } },
    deadLetterContainer,
  )
  await publish()
  const [received] = await receive()
  await settle('reject', [received?.lockToken ?? ''])
  expect(emulator.pending).toBe(1)
  for (const pause of pausesMs) {
    await clock.advance(pause - 1)
    expect(emulator.records.deadLetters.all()).toEqual([])
    await clock.advance(1)
  }
  await emulator.settled()
  const [{ blobPath, events } = {}] = emulator.records.deadLetters.all()
  expect(events).toMatchObject([{ id: 'one', deadletterProperties: { deliveryattempts: 1 } }])
  if (path) expect(blobPath).toMatch(path)
  else expect(blobPath).toBeUndefined()
})

/** Its long timers fire a little too early, as those of Node do by the machine's time. */
class EarlyClock extends ManualClock {
  override setTimer(ms: number, callback: () => void) {
    return super.setTimer(ms > 60_000 ? ms - 1 : ms, callback)
  }
}

it('dead-letters an event though the timer of its next try fires too early', async () => {
  const clock = new EarlyClock()
  let tries = 0
  const write = async () => {
    if (++tries === 1) throw new Error('the store is away')
  }
  const { emulator, publish, receive, settle } = await openQueue(
    { clock, deadLetterStore: { write } },
    deadLetterContainer,
  )
  await publish()
  await settle('reject', [(await receive())[0]?.lockToken ?? ''])
  await clock.advance(10 * 60_000)
  expect(tries).toBe(2)
  await emulator.settled()
})

it('hands out after a restart what was not settled, with its delivery count', async () => {
  const folder = temporaryFolder()
  const state = join(folder, 'state.json')
  const first = await openQueue({ state })
  await first.publish()
  await first.publish({ ...order, id: 'two' })
  await first.publish({ ...order, id: 'three' })
  const [one, two] = await first.receive('maxEvents=2&maxWaitTime=10')
  expect(two?.event).toMatchObject({ id: 'two' })
  await first.settle('acknowledge', [one?.lockToken ?? ''])
  await first.emulator.close()
  const second = await openQueue({ state })
  expect(await second.receive()).toMatchObject([
    { event: { id: 'two' }, deliveryCount: 2 },
    { event: { id: 'three' }, deliveryCount: 1 },
  ])
})

it('takes a batch and an event in binary mode, and filters', async () => {
  const properties = {
    filtersConfiguration: {
      includedEventTypes: ['order.placed'],
      filters: [{ operatorType: 'StringBeginsWith', key: 'subject', values: ['eu/'] }],
    },
  }
  const { call, publish, receive } = await openQueue({}, properties)
  const batch = [
    { ...order, subject: 'eu/1' },
    { ...order, id: 'two', subject: 'us/1' },
    { ...order, id: 'three', type: 'order.paid', subject: 'eu/2' },
  ]
  expect((await publish(batch, 'application/cloudevents-batch+json; charset=utf-8')).status).toBe(200)
  const attributes = { specversion: '1.0', id: 'four', source: '/shop', type: 'order.placed', subject: 'eu/3' }
  const binary = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]))
  expect((await call(':publish', 'hello', { ...binary, 'content-type': 'text/plain' })).status).toBe(200)
  expect((await receive()).map(({ event }) => event)).toEqual([
    batch[0],
    { ...attributes, datacontenttype: 'text/plain', data: 'hello' },
  ])
})

it('answers 404 for an unknown topic or event subscription', async () => {
  const { emulator, call } = await openQueue()
  expect((await call('/eventsubscriptions/nobody:receive')).status).toBe(404)
  const headers = { authorization: `SharedAccessKey ${emulator.namespaceTopic().key}` }
  const url = `${emulator.proxy}/namespaces/shop/topics/nothing:publish?api-version=2024-06-01`
  const gone = await fetch(url, { method: 'POST', headers })
  expect(gone.status).toBe(404)
  const error = {
    code: 'NotFound',
    message: expect.stringMatching(/^Topic 'nothing' is not found\. Emulator: /),
    tracking_id: expect.stringMatching(/^[\dA-F-]{36}$/),
    timestamp_utc: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{9}\+00:00$/),
  }
  expect(await gone.json()).toEqual({ error })
  expect(gone.headers.get('broker-errorcode')).toBe('NotFound')
})

it.each(['2023-06-01-preview', '2023-10-01-preview', '2023-11-01'])('takes api-version %s', async (version) => {
  const { emulator, topic } = await openQueue()
  const answer = await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=${version}`, {
    method: 'POST',
    headers: { authorization: `SharedAccessKey ${topic.key}`, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(order),
  })
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    200,
    'application/json',
    '{}',
  ])
})

it.each([
  ...[
    { version: '2024-06-01', more: '' },
    { version: '2023-10-01-preview', more: '' },
  ],
  { version: '2023-06-01-preview', more: ': invalid digit found in string' },
])('refuses a number of $version that is none, before it is judged', async ({ version, more }) => {
  const { emulator, topic } = await openQueue()
  for (const query of [
    'maxEvents=-20',
    'maxWaitTime=-20',
    'maxEvents=1.5',
    'maxWaitTime=',
    'maxEvents=x&maxWaitTime=9',
  ]) {
    const url = `${emulator.proxy}/namespaces/shop/topics/orders/eventsubscriptions/app:receive?api-version=${version}&${query}`
    const answer = await fetch(url, { method: 'POST', headers: { authorization: `SharedAccessKey ${topic.key}` } })
    expect([answer.status, answer.headers.get('broker-errorcode')]).toEqual([400, 'BadRequest'])
    expect(await answer.json()).toMatchObject({
      error: { code: 'BadRequest', message: `Error parsing query parameters${more}` },
    })
  }
})

it('tells whether an event subscription is empty', async () => {
  const { publish, call } = await openQueue()
  expect(await call('/eventsubscriptions/app:isEmpty')).toMatchObject({ status: 200, answer: { isEmpty: true } })
  await publish()
  expect(await call('/eventsubscriptions/app:isEmpty')).toMatchObject({ status: 200, answer: { isEmpty: false } })
})

it.each([
  { version: '2023-06-01-preview', failed: { errorCode: 'BadToken', errorDescription: 'Cannot decode lockToken' } },
  { version: '2023-10-01-preview', failed: { error: { code: 'BadToken', message: 'Cannot decode lockToken' } } },
])('says in the members of $version why a token fails', async ({ version, failed }) => {
  const { emulator, topic } = await openQueue()
  const url = `${emulator.proxy}/namespaces/shop/topics/orders/eventsubscriptions/app:release?api-version=${version}`
  const body = JSON.stringify({ lockTokens: ['faketoken'] })
  const answer = await fetch(url, { method: 'POST', headers: { authorization: `SharedAccessKey ${topic.key}` }, body })
  expect(await answer.json()).toEqual({
    succeededLockTokens: [],
    failedLockTokens: [{ lockToken: 'faketoken', ...failed }],
  })
})

it.each([
  { data: '{"Name":"Bob","Age":18}', written: '{"Age":18,"Name":"Bob"}' },
  {
    data: '[ { "b" : [ 9007199254740993, 1.10 ], "a" : { "d" : null, "c" : "x\\u0041 {" } } ]',
    written: '[{"a":{"c":"xA {","d":null},"b":[9007199254740993,1.10]}]',
  },
  { data: '{"a":1,"a":{}, "":[ ]}', written: '{"":[],"a":{}}' },
  { data: '" b  a "', written: '" b  a "' },
])('writes data anew, by the names of its members: $data', async ({ data, written }) => {
  const { emulator, topic } = await openQueue()
  const base = `${emulator.proxy}/namespaces/shop/topics/orders`
  const authorization = `SharedAccessKey ${topic.key}`
  const headers = { authorization, 'content-type': 'application/cloudevents+json' }
  const body = `{"specversion":"1.0","id":"1","source":"/s","type":"T","data":${data}}`
  await fetch(`${base}:publish?api-version=2024-06-01`, { method: 'POST', headers, body })
  const received = await fetch(`${base}/eventsubscriptions/app:receive?api-version=2024-06-01`, {
    method: 'POST',
    headers: { authorization },
  })
  expect(await received.text()).toContain(`"data":${written}`)
})

it.each([
  ...[
    'maxWaitTime=9',
    'maxWaitTime=121',
    'maxEvents=0',
    'maxEvents=101',
    'maxEvents=01000',
    `maxEvents=${'9'.repeat(400)}`,
  ],
])('refuses a receive with %s', async (query) => {
  const { call } = await openQueue()
  const [parameter = ''] = query.split('=')
  expect(await call(`/eventsubscriptions/app:receive?${query}`)).toMatchObject({
    status: 400,
    answer: { error: { code: 'ArgumentInvalid', message: `Invalid ${parameter} parameter` } },
  })
})

it.each([
  { limit: 'events', options: { maxPending: 2 } },
  { limit: 'bytes', options: { maxPendingBytes: 4_000 } },
])('answers 429 when too many $limit are pending, until one is settled', async ({ options }) => {
  const { emulator, publish, receive, settle } = await openQueue(options)
  for (const id of ['one', 'two']) expect((await publish({ ...order, id })).status).toBe(200)
  const refused = await publish()
  expect(refused).toMatchObject({ status: 429, answer: { error: { code: 'TooManyRequests' } } })
  expect(refused.headers.get('retry-after')).toBe('1')
  const { httpEndpoint, key } = emulator.topic()
  const headers = { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' }
  const elsewhere = await fetch(httpEndpoint, { method: 'POST', headers, body: JSON.stringify(order) })
  expect(elsewhere.status).toBe(429)
  const [first] = await receive('maxEvents=1&maxWaitTime=10')
  await settle('acknowledge', [first?.lockToken ?? ''])
  expect((await publish()).status).toBe(200)
})

it('counts no event of a deleted event subscription as pending', async () => {
  const { emulator, call, publish } = await openQueue({ maxPending: 1 })
  await publish()
  emulator.reconfigure({})
  emulator.reconfigure(queue())
  const authorization = `SharedAccessKey ${emulator.namespaceTopic('orders').key}`
  const headers = { authorization, 'content-type': 'application/cloudevents+json' }
  expect((await call(':publish', order, headers)).status).toBe(200)
})

it('is named by settled({ timeout }) with the state of its events', async () => {
  const { emulator, publish, receive } = await openQueue()
  await publish()
  await receive()
  await publish({ ...order, id: 'two' })
  await expect(emulator.settled({ timeout: 1 })).rejects.toThrow(
    '- event subscription app of orders: 2 events, 1 available, 1 locked, 0 delayed',
  )
})

it('is shown by /emulator/state, and its events are counted there and in figures()', async () => {
  const { emulator, topic, publish, receive, settle } = await openQueue()
  for (const id of ['one', 'two', 'three']) await publish({ ...order, id })
  const [first, second] = await receive('maxEvents=2&maxWaitTime=10')
  await settle('acknowledge', [first?.lockToken ?? ''])
  await settle('reject', [second?.lockToken ?? ''])
  const counts = { published: 3, delivered: 1, failed: 0, deadLettered: 0, dropped: 1 }
  const state: unknown = await (await fetch(`${emulator.proxy}/emulator/state`)).json()
  expect(state).toMatchObject({
    totals: { ...counts, pending: 1 },
    namespaceTopics: [{ id: topic.id, name: 'shop/orders', endpoint: topic.endpoint }],
    queues: [{ name: 'app', topic: 'shop/orders', available: 1, locked: 0, delayed: 0, deadLettered: 1 }],
  })
  expect(emulator.figures()).toMatchObject(counts)
})

it('stands below its topic on the page, in whatever letter case Resource Manager was called', async () => {
  const { emulator, topic } = await openQueue()
  const path = `${topic.id.replace(/orders$/, 'ORDERS')}/eventSubscriptions/app`
  const properties = { deliveryConfiguration: { deliveryMode: 'Queue' } }
  expect((await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })).status).toBe(201)
  const state: unknown = await (await fetch(`${emulator.proxy}/emulator/state`)).json()
  expect(state).toMatchObject({ queues: [{ name: 'app', topic: 'shop/orders' }] })
})

it('goes with its events when reconfigure() no longer names it; what was made through ARM stays', async () => {
  const { emulator, topic, publish } = await openQueue()
  await publish()
  const put = async (path: string, properties: object) => {
    const { status } = await sendArm(emulator, path, { method: 'PUT', body: JSON.stringify({ properties }) })
    expect(status).toBe(201)
  }
  await put(`${topic.id}/eventSubscriptions/audit`, { deliveryConfiguration: { deliveryMode: 'Queue' } })
  await put(topic.id.replace(/orders$/, 'returns'), {})
  const topics = [{ name: 'orders', eventSubscriptions: [{ name: 'till' }] }]
  emulator.reconfigure({ namespaces: [{ name: 'shop', topics }] })
  expect([...emulator.queues().keys()].map((id) => id.split('/').at(-1))).toEqual(['audit', 'till'])
  expect(emulator.namespaceTopics().map(({ name }) => name)).toEqual(['orders', 'returns'])
  expect(emulator.pending).toBe(0)
  emulator.reconfigure({ namespaces: [{ name: 'shop' }] })
  expect(emulator.namespaceTopics().map(({ name }) => name)).toEqual(['returns'])
})

it('keeps its tags when reconfigure() names it again', async () => {
  const { emulator, topic } = await openQueue()
  const namespace = topic.id.replace(/\/topics\/.*/, '')
  const tags = { team: 'shop' }
  await sendArm(emulator, namespace, { method: 'PATCH', body: JSON.stringify({ tags }) })
  emulator.reconfigure(queue())
  expect(await sendArm(emulator, namespace)).toMatchObject({ status: 200, body: { tags } })
})

it('goes with all topics and events where its namespace moves to another resource group', async () => {
  const { emulator, topic, publish } = await openQueue()
  await publish()
  const byHand = topic.id.replace(/orders$/, 'returns')
  expect((await sendArm(emulator, byHand, { method: 'PUT', body: '{"properties":{}}' })).status).toBe(201)
  emulator.reconfigure({ namespaces: queue().namespaces.map((one) => ({ ...one, resourceGroup: 'other' })) })
  const moved = topic.id.replace('/resourceGroups/rg/', '/resourceGroups/other/')
  expect(emulator.namespaceTopics().map(({ id }) => id)).toEqual([moved])
  expect(emulator.pending).toBe(0)
})
