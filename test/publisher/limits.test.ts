import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { openPublisher, openTopic } from './open-publisher.ts'
import { createGate, event, ids, startTopic } from './scripted-topic.ts'

it('the room of a call is given back when it is published, in events and in bytes', async () => {
  const { topic, publisher } = await openTopic(undefined, { limits: { maxQueuedEvents: 2, maxQueuedBytes: 200 } })
  for (let index = 0; index < 20; index++) await publisher.publish(event(`${index}`))
  expect(topic.events()).toHaveLength(20)
})

it('the room of a call that is taken back, and answered all the same, is given back once', async () => {
  const [first, last] = [createGate(), createGate()]
  const topic = await startTopic(({ events }) => {
    const [id] = ids(events)
    if (id === 'taken back') return { hold: first.hold }
    return id === 'next' ? { status: 200 } : { hold: last.hold }
  })
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxQueuedEvents: 2 } })
  const abort = new AbortController()
  const takenBack = refusal(publisher.publish(event('taken back'), { signal: abort.signal }))
  await topic.arrived(1)
  abort.abort()
  expect((await takenBack).code).toBe('ABORTED')
  first.open()
  await publisher.publish(event('next'))
  const both = [publisher.publish(event('a')), publisher.publish(event('b'))]
  expect((await refusal(publisher.publish(event('c')))).code).toBe('OVERLOADED')
  last.open()
  await Promise.all(both)
})

it('no more requests than maxRequests are under way, however many calls wait', async () => {
  const gate = createGate()
  const topic = await startTopic(() => ({ hold: gate.hold }))
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 1, maxRequests: 2 } })
  const calls = Array.from({ length: 8 }, (_, index) => publisher.publish(event(`${index}`)))
  await topic.arrived(2)
  // A third would have come by then.
  await wait(50)
  expect(topic.requests).toHaveLength(2)
  gate.open()
  await Promise.all(calls)
  expect(topic.mostUnderWay()).toBe(2)
})

it('calls are joined after many others as they were before', async () => {
  const gate = createGate()
  const topic = await startTopic(({ index }) => (index === 10 ? { hold: gate.hold } : { status: 200 }))
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 4 } })
  for (let index = 0; index < 10; index++) await publisher.publish(event(`${index}`))
  // Those who call at once join the first.
  await wait(10)
  const calls = ['a', 'b', 'c', 'd'].map((id) => publisher.publish(event(id)))
  await topic.arrived(11)
  gate.open()
  await Promise.all(calls)
  expect(topic.requests.slice(10).map(({ events }) => ids(events))).toEqual([['a'], ['b', 'c', 'd']])
})

it('requests go beside each other again when one that was put off has been taken', async () => {
  const gate = createGate()
  const topic = await startTopic(({ index }) =>
    index === 0 ? { status: 503 } : index === 1 ? { status: 200 } : { hold: gate.hold },
  )
  const { publisher } = openPublisher(topic.endpoint, { limits: { maxRequestEvents: 1, retryBaseMs: 1 } })
  await publisher.publish(event('put off'))
  const calls = ['a', 'b', 'c'].map((id) => publisher.publish(event(id)))
  await topic.arrived(4)
  gate.open()
  await Promise.all(calls)
})
