import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { openQueue, order, queue, queueOf } from './open-queue.ts'

const second = 1_000
const day = 24 * 3_600 * second

it('locks an event for as long as it says', async () => {
  const { clock, emulator, publish, receive } = await openQueue({}, queueOf({ receiveLockDurationInSeconds: 90 }))
  await publish()
  await receive()
  await clock.advance(90 * second - 1)
  expect([...emulator.queues().values()]).toMatchObject([{ locked: 1 }])
  await clock.advance(1)
  expect([...emulator.queues().values()]).toMatchObject([{ available: 1 }])
})

it.each([
  { what: 'a day', retention: {}, settings: {}, ms: day },
  { what: 'the retention of its topic', retention: { eventRetentionInDays: 2 }, settings: {}, ms: 2 * day },
  { what: 'its time to live', retention: { eventRetentionInDays: 2 }, settings: { eventTimeToLive: 'P1D' }, ms: day },
])('keeps an event for $what', async ({ retention, settings, ms }) => {
  const eventSubscriptions = [{ name: 'app', properties: queueOf(settings) }]
  const topics = [{ name: 'orders', ...retention, eventSubscriptions }]
  const { clock, emulator, publish } = await openQueue({ namespaces: [{ name: 'shop', topics }] })
  await publish()
  await clock.advance(ms - 1)
  expect(emulator.pending).toBe(1)
  await clock.advance(1)
  expect(emulator.pending).toBe(0)
})

it('keeps an event for the retention that its topic is changed to', async () => {
  const clients = [{ roles: [{ role: 'Owner' }] }]
  const { clock, emulator, topic, publish } = await openQueue({ clients })
  await publish()
  const body = JSON.stringify({ properties: { eventRetentionInDays: 3 } })
  await sendArm(emulator, `${topic.id}?api-version=2025-02-15`, { method: 'PATCH', body })
  await clock.advance(3 * day - 1)
  expect(emulator.pending).toBe(1)
  await clock.advance(1)
  expect(emulator.pending).toBe(0)
})

it('keeps an event so too where Resource Manager made the event subscription, and the configuration changed the topic', async () => {
  const clients = [{ roles: [{ role: 'Owner' }] }]
  const namespacesOf = (topic: object) => ({
    clients,
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', ...topic }] }],
  })
  const { clock, emulator, topic, publish } = await openQueue(namespacesOf({}))
  const body = JSON.stringify({ properties: queueOf({}) })
  await sendArm(emulator, `${topic.id}/eventSubscriptions/app?api-version=2025-02-15`, { method: 'PUT', body })
  await publish()
  emulator.reconfigure(namespacesOf({ eventRetentionInDays: 2 }))
  await clock.advance(2 * day - 1)
  expect(emulator.pending).toBe(1)
  await clock.advance(1)
  expect(emulator.pending).toBe(0)
})

it('gives an event up at the tenth receive by default', async () => {
  const { clock, emulator, publish, receive } = await openQueue()
  await publish()
  for (let count = 1; count <= 10; count++) {
    expect(await receive()).toMatchObject([{ deliveryCount: count }])
    await clock.advance(60 * second)
  }
  expect(emulator.pending).toBe(0)
  expect(emulator.records.deadLetters.last).toMatchObject({ reasons: ['MaxDeliveryAttemptsExceeded'] })
})

it('gives each event subscription that wants it the event, until all have settled it', async () => {
  const filtersConfiguration = { includedEventTypes: ['order.paid'] }
  const eventSubscriptions = [
    { name: 'app' },
    { name: 'audit' },
    { name: 'paid', properties: { filtersConfiguration } },
  ]
  const topics = [{ name: 'orders', eventSubscriptions }]
  const { emulator, publish, receive, settle } = await openQueue({ namespaces: [{ name: 'shop', topics }] })
  await publish()
  expect([...emulator.queues().values()].map(({ available }) => available)).toEqual([1, 1, 0])
  await settle('acknowledge', [(await receive())[0]?.lockToken ?? ''])
  expect(emulator.pending).toBe(1)
})

it('applies a changed filter and changed settings from then on', async () => {
  const { clock, emulator, publish, receive } = await openQueue()
  await publish()
  const filtersConfiguration = { includedEventTypes: ['order.paid'] }
  emulator.reconfigure(queue({ ...queueOf({ receiveLockDurationInSeconds: 120 }), filtersConfiguration }))
  await publish()
  expect(await receive()).toHaveLength(1)
  await clock.advance(119 * second)
  expect([...emulator.queues().values()]).toEqual([{ available: 0, locked: 1, delayed: 0 }])
})

it('tells of an event where it is: its lock, its delay, its tries and its end', async () => {
  const { clock, emulator, publish, receive, settle } = await openQueue({}, queueOf({ maxDeliveryCount: 2 }))
  const fate = () => emulator.events().events[0]?.subscriptions[0]
  await publish()
  expect(fate()).toMatchObject({ name: 'app', state: 'pending', tries: 0 })
  const [received] = await receive()
  expect(fate()).toMatchObject({ state: 'pending', tries: 1, nextTryAt: clock.now() + 60 * second })
  await settle('release', [received?.lockToken ?? ''], '?releaseDelayInSeconds=10')
  expect(fate()).toMatchObject({ state: 'pending', tries: 1, nextTryAt: clock.now() + 10 * second })
  await clock.advance(10 * second)
  expect(fate()?.nextTryAt).toBeUndefined()
  await settle('release', [(await receive())[0]?.lockToken ?? ''])
  await emulator.settled()
  expect(fate()).toMatchObject({ state: 'dropped', tries: 2, reason: 'MaxDeliveryAttemptsExceeded' })
})

it('ends the waits of receivers, and for its events, when it is deleted', async () => {
  const { clock, emulator, publish, receive } = await openQueue()
  await publish()
  await receive()
  const settled = emulator.settled()
  const waiting = receive()
  await expect.poll(() => clock.waiting).toBe(3)
  emulator.reconfigure({})
  expect(await waiting).toEqual([])
  await settled
  expect([emulator.pending, emulator.queues().size]).toEqual([0, 0])
})

it.each([
  { end: 'was acknowledged', operation: 'acknowledge', left: 0 },
  { end: 'was rejected', operation: 'reject', left: 0 },
  { end: 'was released', operation: 'release', left: 1 },
])('after a restart has not what $end', async ({ operation, left }) => {
  const state = join(temporaryFolder(), 'state.db')
  const { emulator, publish, receive, settle } = await openQueue({ state })
  await publish()
  await settle(operation, [(await receive())[0]?.lockToken ?? ''])
  await emulator.close()
  const again = await openQueue({ state, maxPending: 1 })
  expect(again.emulator.pending).toBe(left)
  // What was taken up counts for the limit.
  expect((await again.publish()).status).toBe(left === 0 ? 200 : 429)
})

it.each(['deleted', 'reset'])('after a restart has nothing that was %s', async (how) => {
  const state = join(temporaryFolder(), 'state.db')
  const { clock, emulator, publish, receive } = await openQueue({ state, maxPending: 1 })
  await publish()
  if (how === 'deleted') emulator.reconfigure({})
  else await emulator.reset()
  expect(emulator.pending).toBe(0)
  if (how === 'reset') {
    expect((await publish({ ...order, id: 'two' })).status).toBe(200)
    expect(await receive()).toMatchObject([{ event: { id: 'two' } }])
    await emulator.reset()
    expect(clock.waiting).toBe(0)
  }
  await emulator.close()
  const again = await openQueue({ state })
  expect(again.emulator.pending).toBe(0)
})

it('forgets a rejected event that waits to be written', async () => {
  const deadLetterDestination = {
    endpointType: 'StorageBlob',
    properties: { resourceId: '/subscriptions/s/storageAccounts/letters', blobContainerName: 'dead' },
  }
  const write = () => Promise.reject(new Error('the store is away'))
  const { emulator, publish, receive, settle } = await openQueue(
    { deadLetterStore: { write }, maxPending: 1 },
    queueOf({ deadLetterDestinationWithResourceIdentity: { deadLetterDestination } }),
  )
  await publish()
  await settle('reject', [(await receive())[0]?.lockToken ?? ''])
  expect(emulator.pending).toBe(1)
  await emulator.reset()
  expect(emulator.pending).toBe(0)
  expect((await publish()).status).toBe(200)
})
