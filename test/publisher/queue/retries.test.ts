import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../support/manual-clock.ts'
import { refusal } from '../../support/refusal.ts'
import { failureInTime, openPublisher, openTimedTopic, openTopic } from '../open-publisher.ts'
import {
  type Answer,
  atFirst,
  createGate,
  event,
  ids,
  problem,
  requestId,
  startHeldTopic,
  startTopic,
} from '../scripted-topic.ts'

it('a topic whose host name does not exist fails a call within 10 s, and says what to check', async () => {
  const time = createManualClock()
  // A label of over 63 characters: no name server is asked.
  const { publisher } = openPublisher(`https://${'x'.repeat(64)}.example.com/api/events`, { clock: time.clock })
  expect(await failureInTime(time, publisher.publish(event('1')))).toMatchObject({
    code: 'PUBLISH_UNAVAILABLE',
    message: expect.stringMatching(/ENOTFOUND.*check the host name of topicEndpoint/s),
  })
  expect(time.clock.elapsed()).toBeLessThanOrEqual(10_000)
  expect(time.clock.elapsed()).toBeGreaterThan(5_000)
})

describe('a request that was not taken', () => {
  const unavailable: Answer = { status: 503, body: problem('ServiceUnavailable', 'busy') }
  it.each([
    { name: '503', first: unavailable },
    { name: '500', first: { status: 500 } },
    { name: '408', first: { status: 408 } },
    { name: '429 without Retry-After', first: { status: 429 } },
    { name: 'a reset connection', first: { cut: true } },
    { name: '503 that breaks off', first: { half: 503 } },
    { name: '200 that breaks off, for nobody knows', first: { half: 200 } },
    {
      name: '502 with a page of HTML',
      first: { status: 502, body: '<html>', headers: { 'content-type': 'text/html' } },
    },
    { name: '503 with broken JSON', first: { status: 503, body: '{' } },
  ] satisfies { name: string; first: Answer }[])('is sent again after $name', async ({ first }) => {
    const { topic, publisher, log } = await openTopic(atFirst(first), { limits: { retryBaseMs: 1 } })
    await expect(publisher.publish(event('1'))).resolves.toMatchObject({ ids: ['1'] })
    expect(ids(topic.events())).toEqual(['1', '1'])
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('is told of with its reason, its events and the pause', async () => {
    const { publisher, log } = await openTopic(atFirst(unavailable), { limits: { retryBaseMs: 2 } })
    await publisher.publish([event('1'), event('2')])
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { reason: 'busy', events: 2, status: 503, attempts: 1, delayMs: 1 } },
    ])
  })

  it.each([
    { header: '7', expected: 7_000 },
    { header: 'Wed, 11 Mar 2026 08:00:09 GMT', expected: 9_000 },
  ])('is sent again no sooner than Retry-After: $header', async ({ header, expected }) => {
    const throttled = atFirst({ status: 429, headers: { 'retry-after': header } })
    const { topic, time, publisher } = await openTimedTopic(throttled, { retryBaseMs: 0 })
    const waits = time.waits((delayMs) => delayMs === expected)
    const receipt = publisher.publish(event('1'))
    await waits
    time.advance(expected - 1)
    expect(topic.requests).toHaveLength(1)
    time.advance(1)
    await receipt
    expect(topic.requests).toHaveLength(2)
  })

  it.each([
    { name: 'forward', by: 86_400_000 },
    { name: 'back', by: -86_400_000 },
  ])('has the time of its call, whoever sets the clock $name', async ({ by }) => {
    const limits = { retryBaseMs: 1_000, retryCapMs: 1_000 }
    const answer = ({ index }: { index: number }) => (index < 2 ? unavailable : { status: 200 })
    const { time, publisher } = await openTimedTopic(answer, limits)
    const backOff = () => time.waits((delayMs) => delayMs === 500)
    const first = backOff()
    const receipt = publisher.publish(event('1'))
    await first
    time.setForward(by)
    const second = backOff()
    time.advance(500)
    await second
    time.advance(500)
    await expect(receipt).resolves.toMatchObject({ ids: ['1'] })
    expect(time.delays.filter((delayMs) => delayMs > 60_000)).toEqual([])
  })

  it('fails at once where Retry-After is longer than the call has time', async () => {
    const body = problem('TooManyRequests', 'slow down')
    const { publisher } = await openTopic(() => ({ status: 429, headers: { 'retry-after': '61' }, body }))
    const error = await refusal(publisher.publish(event('1')))
    expect(error).toMatchObject({
      code: 'PUBLISH_UNAVAILABLE',
      details: { status: 429, attempts: 1, requestId, ids: ['1'] },
    })
    expect(error.message).toContain('slow down')
  })

  it('that is never answered fails with its call', async () => {
    const never: Answer = { hold: new Promise(() => {}) }
    const { topic, time, publisher } = await openTimedTopic(() => never, { publishTimeoutMs: 5_000 })
    const failed = refusal(publisher.publish(event('1')))
    await topic.arrived(1)
    time.advance(5_000)
    const error = await failed
    expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 1, ids: ['1'] } })
    expect(error.message).toMatch(/no answer in (5000 ms|time)/)
  })

  it('that is never answered counts as lost after the time of an attempt', async () => {
    const gate = createGate()
    const { topic, time, publisher } = await openTimedTopic(atFirst({ hold: gate.hold }), { retryBaseMs: 2 })
    const backOff = time.waits((delayMs) => delayMs === 1)
    const receipt = publisher.publish(event('1'))
    await topic.arrived(1)
    const gone = topic.disconnected()
    time.advance(30_000)
    await gone
    await backOff
    time.advance(1)
    await receipt
    expect(topic.requests).toHaveLength(2)
    gate.open()
  })

  it('holds back the others while it waits, even when they fill a request', async () => {
    const limits = { maxRequestEvents: 1, retryBaseMs: 4_000 }
    const { topic, time, publisher } = await openTimedTopic(atFirst({ status: 429 }), limits)
    const waits = time.waits((delayMs) => delayMs === 2_000)
    const first = publisher.publish(event('1'))
    await waits
    const others = ['2', '3'].map((id) => publisher.publish(event(id)))
    expect(topic.requests).toHaveLength(1)
    time.advance(2_000)
    await Promise.all([first, ...others])
    expect(ids(topic.events()).slice(0, 2)).toEqual(['1', '1'])
  })

  it('to a port where nobody listens is PUBLISH_UNAVAILABLE and says so', async () => {
    const topic = await startTopic()
    await topic.close()
    const { publisher } = openPublisher(topic.endpoint, { limits: { retryBaseMs: 200_000, retryCapMs: 200_000 } })
    const error = await refusal(publisher.publish(event('1')))
    expect(error.code).toBe('PUBLISH_UNAVAILABLE')
    expect(error.message).toMatch(/ECONNREFUSED.*nothing listens at 127\.0\.0\.1:\d+: start the emulator/)
  })

  it('is sent again without the calls whose time is over', async () => {
    const { topic, open } = await startHeldTopic((index) => ({ status: index === 1 ? 503 : 200 }))
    const time = createManualClock()
    const limits = { retryBaseMs: 1_002, attemptTimeoutMs: 100_000 }
    const { publisher } = openPublisher(topic.endpoint, { clock: time.clock, limits })
    const first = publisher.publish(event('1'))
    const second = refusal(publisher.publish(event('2')))
    await topic.arrived(1)
    time.advance(1_000)
    const third = publisher.publish(event('3'))
    const waits = time.waits((delayMs) => delayMs === 501)
    open()
    await waits
    time.advance(59_200)
    expect(await second).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { status: 503, ids: ['2'] } })
    await Promise.all([first, third])
    expect(topic.requests.map(({ events }) => ids(events))).toEqual([['1'], ['2', '3'], ['3']])
  })
})
