import { expect, it } from 'vitest'
import { eventOf } from '../../src/model/events/event-text.ts'
import { ManualClock } from '../../src/model/time/clock.ts'
import { createPullQueue, type QueueSettings } from '../../src/namespaces/pull-queue.ts'

const never = new AbortController().signal
const minute = 60_000
const defaults: QueueSettings = { lockDurationMs: minute, maxDeliveryCount: 10, timeToLiveMs: 60 * minute }

/** A queue at the time 0 that writes down what changes. */
function openPullQueue(changes: Partial<QueueSettings> = {}) {
  const clock = new ManualClock(0)
  const told: string[] = []
  const queue = createPullQueue({
    clock,
    settings: { ...defaults, ...changes },
    changed: ({ event, state, until }) => void told.push(`${event.value.id} ${state} ${until ?? 'now'}`),
    removed: ({ event }, reason) => void told.push(`${event.value.id} ${reason ?? 'acknowledged'}`),
  })
  const add = (...ids: readonly string[]) => {
    for (const id of ids) queue.add({ event: eventOf({ id }), acceptedAt: clock.now(), deliveryCount: 0 })
  }
  const receive = async (maxEvents = 10, signal = never) => {
    const received = await queue.receive(maxEvents, 10_000, signal)
    return received.map(({ event, lockToken, deliveryCount }) => ({ id: event.value.id, lockToken, deliveryCount }))
  }
  /** The token of the one event that is received. */
  const lockOne = async () => (await receive(1))[0]?.lockToken ?? ''
  return { clock, told, queue, add, receive, lockOne }
}

it('hands out the oldest events, as many as are asked for, and the others to the next receive', async () => {
  const { queue, add, receive } = openPullQueue()
  add('1', '2', '3')
  const first = await receive(2)
  expect(first.map(({ id }) => id)).toEqual(['1', '2'])
  expect(new Set(first.map(({ lockToken }) => lockToken)).size).toBe(2)
  queue.release(first[0]?.lockToken ?? '', 0)
  expect((await receive()).map(({ id, deliveryCount }) => [id, deliveryCount])).toEqual([
    ['1', 2],
    ['3', 1],
  ])
})

it('tells each change, with the end of a lock or a delay', async () => {
  const { clock, told, queue, add, lockOne } = openPullQueue()
  add('1')
  const first = await lockOne()
  await clock.advance(1_000)
  queue.renewLock(first)
  queue.release(first, 10_000)
  await clock.advance(10_000)
  queue.acknowledge(await lockOne())
  expect(told).toEqual([
    '1 available now',
    '1 locked 60000',
    '1 locked 61000',
    '1 delayed 11000',
    '1 available now',
    '1 locked 71000',
    '1 acknowledged',
  ])
  expect(clock.waiting).toBe(0)
})

it('loses a token by each way to settle it, and by the end of its lock', async () => {
  const { clock, queue, add, lockOne } = openPullQueue()
  add('1')
  const released = await lockOne()
  queue.release(released, 0)
  const delayed = await lockOne()
  queue.release(delayed, 10_000)
  await clock.advance(10_000)
  const ended = await lockOne()
  await clock.advance(minute)
  const rejected = await lockOne()
  queue.reject(rejected)
  for (const token of [released, delayed, ended, rejected]) expect(queue.acknowledge(token)).toBe('TokenLost')
  expect(queue.acknowledge('x'.repeat(33))).toBe('BadToken')
  expect(queue.acknowledge('?'.repeat(32))).toBe('BadToken')
})

it('ends the lock of a renewed token once, at its new end', async () => {
  const { clock, queue, add, lockOne } = openPullQueue()
  add('1')
  const token = await lockOne()
  await clock.advance(minute - 1)
  queue.renewLock(token)
  await clock.advance(minute - 1)
  expect(queue.figures()).toEqual({ available: 0, locked: 1, delayed: 0 })
  await clock.advance(1)
  expect(queue.figures()).toEqual({ available: 1, locked: 0, delayed: 0 })
})

it('gives an event up when its last lock ends or is released, not before', async () => {
  const { clock, told, queue, add, lockOne } = openPullQueue({ maxDeliveryCount: 2 })
  add('1')
  queue.release(await lockOne(), 0)
  await lockOne()
  await clock.advance(minute - 1)
  expect(queue.size).toBe(1)
  await clock.advance(1)
  expect(told.at(-1)).toBe('1 MaxDeliveryAttemptsExceeded')
  expect(queue.size).toBe(0)
})

it('gives an event up at the end of its time to live: at once where it waits or is delayed, after its lock else', async () => {
  const { clock, told, queue, add, lockOne } = openPullQueue({ timeToLiveMs: 10 * minute })
  add('locked', 'delayed', 'waits')
  await clock.advance(9.5 * minute)
  const token = await lockOne()
  queue.release(await lockOne(), 3_600_000)
  await clock.advance(0.5 * minute - 1)
  expect(queue.figures()).toEqual({ available: 1, locked: 1, delayed: 1 })
  await clock.advance(1)
  expect(told.slice(-2)).toEqual(['delayed TimeToLiveExceeded', 'waits TimeToLiveExceeded'])
  expect(queue.release(token, 0)).toBe('done')
  expect(told.at(-1)).toBe('locked TimeToLiveExceeded')
  expect(clock.waiting).toBe(0)
})

it('gives up what was too old, or received too often, before it came', () => {
  const { clock, told, queue } = openPullQueue()
  queue.add({ event: eventOf({ id: 'old' }), acceptedAt: clock.now() - 60 * minute, deliveryCount: 0 })
  queue.add({ event: eventOf({ id: 'tried' }), acceptedAt: clock.now(), deliveryCount: 10 })
  queue.add({ event: eventOf({ id: 'right' }), acceptedAt: clock.now() - 60 * minute + 1, deliveryCount: 9 })
  expect(told).toEqual(['old TimeToLiveExceeded', 'tried MaxDeliveryAttemptsExceeded', 'right available now'])
})

it('applies new settings: the time to live to the events that it has, the lock to the next one', async () => {
  const { clock, told, queue, add, lockOne } = openPullQueue()
  add('1', '2')
  queue.use({ ...defaults, lockDurationMs: 5 * minute, timeToLiveMs: 2 * minute })
  await lockOne()
  await clock.advance(2 * minute)
  expect(told.at(-1)).toBe('2 TimeToLiveExceeded')
  expect(queue.figures()).toEqual({ available: 0, locked: 1, delayed: 0 })
  queue.use({ ...defaults, timeToLiveMs: 4 * minute })
  add('3')
  await clock.advance(4 * minute - 1)
  expect(queue.size).toBe(1)
  await clock.advance(1)
  expect(queue.size).toBe(0)
})

it('has receives wait, the oldest first, as long as there are events', async () => {
  const { add, receive } = openPullQueue()
  const waits = [receive(1), receive(1), receive(1)]
  add('1', '2')
  expect(await waits[0]).toMatchObject([{ id: '1' }])
  expect(await waits[1]).toMatchObject([{ id: '2' }])
  add('3')
  expect(await waits[2]).toMatchObject([{ id: '3' }])
})

it('ends the wait of a receive at its time, and forgets it', async () => {
  const { clock, queue, add, receive } = openPullQueue()
  const wait = receive()
  await clock.advance(10_000)
  expect(await wait).toEqual([])
  add('1')
  expect(queue.figures()).toMatchObject({ available: 1 })
})

it('ends the wait of a client that has gone, or was gone before, and gives it nothing', async () => {
  const { clock, queue, add, receive } = openPullQueue()
  const gone = new AbortController()
  const wait = receive(1, gone.signal)
  gone.abort()
  expect(await wait).toEqual([])
  add('1')
  expect(await receive(1, gone.signal)).toEqual([])
  expect(queue.figures()).toMatchObject({ available: 1 })
  // That of the event's end.
  expect(clock.waiting).toBe(1)
})

it('drops its events on demand, with their timers; receives that wait go on, until it is closed', async () => {
  const { clock, told, queue, add, receive, lockOne } = openPullQueue()
  add('1', '2')
  const token = await lockOne()
  expect(queue.clear().map(({ event }) => event.value.id)).toEqual(['1', '2'])
  expect([clock.waiting, queue.size, queue.acknowledge(token)]).toEqual([0, 0, 'TokenLost'])
  const wait = receive()
  add('3')
  expect(await wait).toMatchObject([{ id: '3' }])
  const last = receive()
  expect(queue.close()).toHaveLength(1)
  expect(await last).toEqual([])
  expect(clock.waiting).toBe(0)
  expect(told).not.toContain('1 acknowledged')
})

it('shows the oldest events as they are, as many as are asked for', async () => {
  const { queue, add, lockOne } = openPullQueue()
  add('1', '2', '3')
  await lockOne()
  expect(queue.peek(2).map(({ event, state, deliveryCount }) => [event.value.id, state, deliveryCount])).toEqual([
    ['1', 'locked', 1],
    ['2', 'available', 0],
  ])
  expect(queue.peek(10)).toHaveLength(3)
})
