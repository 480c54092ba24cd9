import { expect, it } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { refusal } from '../support/refusal.ts'
import { accessKey, openHeldTopic, openPublisher, openTopic } from './open-publisher.ts'
import { type Answer, createGate, event, ids, requestId, startTopic } from './scripted-topic.ts'

const abortable = () => {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

it.each<{ name: string; answer: Answer; expected: string | undefined }>([
  { name: 'none', answer: { foreign: 200 }, expected: undefined },
  { name: 'one', answer: { status: 200 }, expected: requestId },
  {
    name: 'one of another form',
    answer: { status: 200, headers: { 'x-ms-request-id': accessKey } },
    expected: undefined,
  },
])('a receipt has the id of its request where Event Grid gave it: $name', async ({ answer, expected }) => {
  const topic = await startTopic(() => answer)
  const receipt = await openPublisher(topic.endpoint).publisher.publish(event('1'))
  expect(receipt).toEqual({ ids: ['1'], count: 1, requestId: expected })
})

it('the id of a request is told by its form: no secret is looked for in it', async () => {
  const output = { authentication: { kind: 'accessKey', accessKey: new Secret(requestId) } } as const
  const { publisher } = await openTopic(undefined, { output })
  expect(await publisher.publish(event('1'))).toMatchObject({ requestId })
})

it.each([{ maxRequestEvents: 3 }, { maxRequestBytes: 3 * JSON.stringify(event('c')).length + 2 }])(
  'calls that were taken back count no more: others that fit into %j still share a request',
  async (limits) => {
    const { topic, open, publisher } = await openHeldTopic(undefined, { limits })
    const first = publisher.publish(event('1'))
    const { signal, abort } = abortable()
    const takenBack = ['a', 'b'].map((id) => refusal(publisher.publish(event(id), { signal })))
    abort()
    expect(await Promise.all(takenBack)).toMatchObject([{ code: 'ABORTED' }, { code: 'ABORTED' }])
    const others = ['c', 'd', 'e'].map((id) => publisher.publish(event(id)))
    open()
    await Promise.all([first, ...others])
    expect(topic.requests.map(({ events }) => ids(events))).toEqual([['1'], ['c', 'd', 'e']])
  },
)

it('a request whose caller has gone holds nobody up: the next call is sent beside it', async () => {
  const { topic, open, publisher } = await openHeldTopic()
  const { signal, abort } = abortable()
  const gone = refusal(publisher.publish(event('1'), { signal }))
  await topic.arrived(1)
  const waiting = publisher.publish(event('2'))
  abort()
  expect(await gone).toMatchObject({ code: 'ABORTED' })
  await topic.arrived(2)
  const later = publisher.publish(event('3'))
  open()
  await Promise.all([waiting, later])
  expect(topic.requests.map(({ events }) => ids(events))).toEqual([['1'], ['2'], ['3']])
})

it('a call is settled once: an answer after its abort changes nothing', async () => {
  const gate = createGate()
  const { topic, publisher } = await openTopic(() => ({ hold: gate.hold }), { limits: { maxQueuedEvents: 1 } })
  const { signal, abort } = abortable()
  const call = refusal(publisher.publish(event('1'), { signal }))
  await topic.arrived(1)
  abort()
  expect(await call).toMatchObject({ code: 'ABORTED' })
  gate.open()
  await publisher.settled()
  expect(publisher.lastFailure()).toBeUndefined()
  expect(await publisher.publish(event('2'))).toMatchObject({ ids: ['2'] })
})
