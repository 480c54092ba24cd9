// Where a call fails, its error tells whether the topic may have accepted the events all the same: by what was sent, not by what was heard.
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { listen } from '../support/listen.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { refusal } from '../support/refusal.ts'
import { openPublisher, openTimedTopic, openTopic } from './open-publisher.ts'
import { type Answer, createGate, event, ids, startHeldTopic } from './scripted-topic.ts'

const maybe = 'the topic may have accepted the events already'
const hold = new Promise<never>(() => {})

it('tells of the attempt under way, not of the one before, where the time of one of its calls is over', async () => {
  const { topic, open } = await startHeldTopic((index) => (index === 1 ? { status: 503 } : { hold }))
  const time = createManualClock()
  const limits = { retryBaseMs: 1_000, attemptTimeoutMs: 100_000 }
  const { publisher } = openPublisher(topic.endpoint, { clock: time.clock, limits })
  const first = publisher.publish(event('1'))
  await topic.arrived(1)
  const second = refusal(publisher.publish(event('2')))
  time.advance(1_000)
  const third = refusal(publisher.publish(event('3')))
  const waits = time.waits((delayMs) => delayMs === 500)
  open()
  await first
  await waits
  time.advance(500)
  await topic.arrived(3)
  expect(topic.requests.map(({ events }) => ids(events))).toEqual([['1'], ['2', '3'], ['2', '3']])
  time.advance(58_500)
  const error = await second
  expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 2, ids: ['2'] } })
  expect(error.message).toContain('no answer in 60000 ms')
  expect(error.fix).toContain(maybe)
  time.advance(1_000)
  expect((await third).fix).toContain(maybe)
})

it('says that nothing was sent of a call that only waited for others', async () => {
  const { topic, time, publisher } = await openTimedTopic(() => ({ hold }), { attemptTimeoutMs: 100_000 })
  const sent = refusal(publisher.publish(event('1')))
  await topic.arrived(1)
  const waiting = refusal(publisher.publish(event('2')))
  time.advance(60_000)
  expect(await sent).toMatchObject({ details: { attempts: 1 }, fix: expect.stringContaining(maybe) })
  const error = await waiting
  expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 0, ids: ['2'] } })
  expect(error.message).toContain('nothing was sent in 60000 ms')
  expect(error.message).not.toContain(maybe)
})

it('says that nothing was sent where no connection came about in time', async () => {
  const connected = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy())
    connected.resolve()
  })
  const time = createManualClock()
  const port = await listen(server)
  const { publisher } = openPublisher(`https://127.0.0.1:${port}/api/events`, { clock: time.clock })
  const failed = refusal(publisher.publish(event('1')))
  await connected.promise
  time.advance(60_000)
  const error = await failed
  expect(error).toMatchObject({ code: 'PUBLISH_UNAVAILABLE', details: { attempts: 1 } })
  expect(error.message).not.toContain(maybe)
})

it('remembers an attempt without an answer, though a later one is refused', async () => {
  const busy: Answer = { status: 503, headers: { 'retry-after': '100' } }
  const answerTo = ({ index }: { index: number }): Answer => (index === 0 ? { cut: true } : busy)
  const { publisher } = await openTopic(answerTo, { limits: { retryBaseMs: 1 } })
  const error = await refusal(publisher.publish(event('1')))
  expect(error).toMatchObject({ details: { status: 503, attempts: 2 }, fix: `publish again later; ${maybe}` })
  expect((await refusal(publisher.publish(event('2')))).fix).toBe('publish again later')
})

it('tells of it too where the publisher closes: of the request under way, not of a call that waits', async () => {
  const gate = createGate()
  const { topic, time, publisher } = await openTimedTopic(() => ({ hold: gate.hold }))
  const sent = refusal(publisher.publish(event('1')))
  await topic.arrived(1)
  const waiting = refusal(publisher.publish(event('2')))
  const closed = publisher.close()
  time.advance(10_000)
  await closed
  const before = 'the publisher closed before the'
  expect(await sent).toMatchObject({ code: 'CLOSED', what: `${before} topic had answered` })
  expect((await sent).fix).toContain(maybe)
  expect(await waiting).toMatchObject({ code: 'CLOSED', what: `${before} events were published` })
  expect((await waiting).fix).toBe('publish through a new one')
  gate.open()
})
