import { describe, expect, it } from 'vitest'
import { createManualClock } from '../support/manual-clock.ts'
import { refusal } from '../support/refusal.ts'
import { openHeldTopic, openPublisher, openTopic } from './open-publisher.ts'
import { createGate, event, ids, problem, requestId, startHeldTopic, startTopic } from './scripted-topic.ts'

describe('calls that come together', () => {
  it('wait while a request is under way and then go jointly: 256 calls in two requests', async () => {
    const { topic, open, publisher } = await openHeldTopic()
    const calls = Array.from({ length: 256 }, (_, index) => publisher.publish([event(`${index}a`), event(`${index}b`)]))
    await topic.arrived(1)
    open()
    const receipts = await Promise.all(calls)
    expect(topic.requests.map(({ events }) => events.length)).toEqual([2, 510])
    expect(ids(topic.events())).toEqual(receipts.flatMap((receipt) => receipt.ids))
    expect(receipts[200]).toMatchObject({ ids: ['200a', '200b'], count: 2 })
  })

  it('need not wait for each other once they fill a request: then several are under way', async () => {
    const gate = createGate()
    const topic = await startTopic(() => ({ hold: gate.hold }))
    const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 2, maxRequests: 3 } })
    const calls = Array.from({ length: 8 }, (_, index) => publisher.publish(event(`${index}`)))
    await topic.arrived(3)
    expect(topic.mostUnderWay()).toBe(3)
    gate.open()
    await Promise.all(calls)
    expect(topic.mostUnderWay()).toBe(3)
    expect(topic.requests.map(({ events }) => ids(events))).toContainEqual(['1', '2'])
    expect(topic.requests.every(({ events }) => events.length <= 2)).toBe(true)
  })

  it('of different schemas go in requests of their own', async () => {
    const { topic, open, publisher } = await openHeldTopic()
    const grid = { id: 'g', subject: '', eventType: 't', eventTime: '2026-03-11T08:00:00Z' }
    const calls = [event('1'), event('2'), grid, event('3')].map((payload) => publisher.publish(payload))
    await topic.arrived(1)
    open()
    await Promise.all(calls)
    expect(topic.requests.map(({ events }) => ids(events))).toEqual([['1'], ['2'], ['g'], ['3']])
  })

  it('keep within 1 MiB a request', async () => {
    const { topic, open, publisher } = await openHeldTopic(undefined, { limits: { maxRequests: 1 } })
    const calls = Array.from({ length: 9 }, (_, index) =>
      publisher.publish(event(`${index}`, { data: 'x'.repeat(300_000) })),
    )
    await topic.arrived(1)
    open()
    await Promise.all(calls)
    expect(topic.requests.map(({ events }) => events.length)).toEqual([1, 3, 3, 2])
  })

  it.each([
    { status: 400, body: problem('BadRequest', 'one is bad'), code: 'PUBLISH_REJECTED' },
    { status: 413, body: problem('PayloadTooLarge', 'one is too large'), code: 'PAYLOAD_TOO_LARGE' },
  ])('are halved by call on $status, so that the bad one fails alone', async ({ status, body, code }) => {
    const { topic, open, publisher, log } = await openHeldTopic((_, events) =>
      ids(events).includes('bad') ? { status, body } : { status: 200 },
    )
    const calls = Array.from({ length: 64 }, (_, index) => publisher.publish(event(index === 37 ? 'bad' : `${index}`)))
    await topic.arrived(1)
    open()
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.flatMap(({ status: how }, index) => (how === 'rejected' ? [index] : []))).toEqual([37])
    expect(await refusal(calls[37] ?? Promise.resolve())).toMatchObject({
      code,
      details: { status, attempts: 1, ids: ['bad'], published: [] },
    })
    expect(topic.requests.length).toBeLessThan(20)
    expect(log.lines[0]).toMatchObject({ level: 'debug', fields: { calls: 63, events: 63, status } })
    expect(publisher.lastFailure()).toBeUndefined()
  })

  it('are not refused themselves where the time is over before the answer to a half', async () => {
    const hold = new Promise(() => {})
    const { topic, open } = await startHeldTopic((_, events) =>
      events.length === 2 ? { status: 400, body: problem('BadRequest', 'one is bad') } : { hold },
    )
    const time = createManualClock()
    const { publisher } = openPublisher(topic.endpoint, { clock: time.clock, limits: { attemptTimeoutMs: 100_000 } })
    const first = publisher.publish(event('1'))
    await topic.arrived(1)
    const calls = ['2', '3'].map((id) => refusal(publisher.publish(event(id))))
    open()
    await first
    await topic.arrived(4)
    time.advance(60_000)
    for (const call of calls)
      expect(await call).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 1 } })
  })

  it.each([401, 403, 404])('all fail on %s, without another request', async (status) => {
    const { topic, open, publisher } = await openHeldTopic(() => ({ status }))
    const calls = ['1', '2', '3'].map((id) => publisher.publish(event(id)))
    await topic.arrived(1)
    open()
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(topic.requests).toHaveLength(2)
  })
})

describe('one call of many events', () => {
  it('goes in several, in order, where it exceeds one', async () => {
    const { topic, publisher } = await openTopic()
    const receipt = await publisher.publish(Array.from({ length: 12_001 }, (_, index) => event(`${index}`)))
    expect(topic.requests.map(({ events }) => events.length)).toEqual([5_000, 5_000, 2_001])
    expect(ids(topic.events())).toEqual(receipt.ids)
    expect(receipt).toMatchObject({ count: 12_001, requestId: Array(3).fill(requestId).join() })
  })

  it('says which events were published when a later request of it is refused', async () => {
    const topic = await startTopic(({ index }) => (index === 1 ? { status: 400 } : { status: 200 }))
    const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 2 } })
    const error = await refusal(publisher.publish(['1', '2', '3', '4', '5'].map((id) => event(id))))
    expect(error).toMatchObject({ code: 'PUBLISH_REJECTED', details: { published: ['1', '2'], ids: ['3', '4', '5'] } })
    expect(error.message).toContain('2 of its 5 events')
    expect(topic.requests).toHaveLength(2)
  })

  it('does not hold up other calls', async () => {
    const gate = createGate()
    const topic = await startTopic(({ events }) => (events.length === 2 ? { hold: gate.hold } : { status: 200 }))
    const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 2 } })
    const large = publisher.publish(['1', '2', '3'].map((id) => event(id)))
    await topic.arrived(1)
    await publisher.publish(event('4'))
    gate.open()
    await large
    expect(ids(topic.events())).toEqual(['1', '2', '4', '3'])
  })
})

describe('the bounded queue', () => {
  it('refuses with OVERLOADED what exceeds its bytes', async () => {
    const { topic, open, publisher } = await openHeldTopic(undefined, { limits: { maxQueuedBytes: 1_000 } })
    const first = publisher.publish(event('1', { data: 'x'.repeat(800) }))
    expect((await refusal(publisher.publish(event('2', { data: 'x'.repeat(200) })))).code).toBe('OVERLOADED')
    open()
    await first
    expect(topic.requests).toHaveLength(1)
  })

  it('refuses with PAYLOAD_TOO_LARGE what it could never hold', async () => {
    const { topic, publisher } = await openTopic(undefined, { limits: { maxQueuedBytes: 1_000 } })
    for (const payload of ['x'.repeat(1_001), Buffer.alloc(1_001), event('1', { data: 'x'.repeat(1_000) })]) {
      expect(await refusal(publisher.publish(payload))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    }
    expect(topic.requests).toHaveLength(0)
  })

  it('lets a call go that waited until its time was over', async () => {
    const { topic, open } = await startHeldTopic()
    const time = createManualClock()
    const { publisher } = openPublisher(topic.endpoint, { clock: time.clock, limits: { attemptTimeoutMs: 100_000 } })
    const first = refusal(publisher.publish(event('1')))
    const second = refusal(publisher.publish(event('2')))
    await topic.arrived(1)
    time.advance(60_000)
    const code = 'PUBLISH_UNAVAILABLE'
    expect(await first).toMatchObject({ code, details: { attempts: 1 }, what: expect.stringContaining('no answer in') })
    expect(await second).toMatchObject({
      code,
      details: { attempts: 0 },
      what: expect.stringContaining('nothing was sent'),
    })
    open()
    await publisher.publish(event('3'))
    expect(ids(topic.events())).toEqual(['1', '3'])
  })
})
