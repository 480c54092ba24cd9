import { expect, it } from 'vitest'
import { BindingError, type BindingErrorCode } from '../../../src/core/errors.ts'
import { type DeadLetter, readDeadLetter } from '../../../src/sidecar/replay/dead-letters.ts'
import { createEitherPublisher, decideUnpublished, type TargetTopic } from '../../../src/sidecar/replay/target-topic.ts'
import { eventGridLetter, letter } from './open-replay.ts'

const read = (value: unknown): DeadLetter => {
  const dead = readDeadLetter(value)
  if (typeof dead === 'string') throw new Error(dead)
  return dead
}
const cloudEvent = read(letter('1'))
const eventGridEvent = read(eventGridLetter('1'))
/** It has no form in the Event Grid schema. */
const bound = read(letter('1', { tenant: 'a' }))

const refusal = (code: BindingErrorCode, status?: number) =>
  new BindingError(code, { what: 'refused', fix: 'mend it', details: { ...(status !== undefined && { status }) } })

/** A publisher to a topic that takes one schema, and the schemas of what it was sent. */
function openPublisher(takes: 'specversion' | 'eventType', topicSchema: TargetTopic['topicSchema'] = 'auto') {
  const sent: string[] = []
  const output = {
    async publish(text: unknown) {
      const event = JSON.parse(String(text))
      sent.push('specversion' in event ? 'specversion' : 'eventType')
      if (!(takes in event)) throw refusal('PUBLISH_REJECTED', 400)
      return { ids: [], count: 1, requestId: undefined }
    },
  }
  return { sent, publisher: createEitherPublisher(output, { topicSchema, defaultSource: '/s' }) }
}

it.each([
  { takes: 'specversion', given: cloudEvent, sent: ['specversion', 'specversion'], converted: false },
  { takes: 'specversion', given: eventGridEvent, sent: ['eventType', 'specversion', 'specversion'], converted: true },
  { takes: 'eventType', given: eventGridEvent, sent: ['eventType', 'eventType'], converted: false },
  { takes: 'eventType', given: cloudEvent, sent: ['specversion', 'eventType', 'eventType'], converted: true },
] as const)(
  'learns from one answer that a topic takes $takes, of $given.schema',
  async ({ takes, given, sent, converted }) => {
    const topic = openPublisher(takes)
    expect(topic.publisher.isSchemaKnown()).toBe(false)
    expect(await topic.publisher.publish(given)).toEqual({ converted })
    expect(topic.publisher.isSchemaKnown()).toBe(true)
    expect(await topic.publisher.publish(given)).toEqual({ converted })
    expect(topic.sent).toEqual(sent)
  },
)

it('learns nothing from an event that fits neither, and says why the topic does not take it as it is', async () => {
  const { sent, publisher } = openPublisher('eventType')
  expect(await publisher.publish(bound)).toBe('refused')
  expect([sent, publisher.isSchemaKnown()]).toEqual([['specversion'], false])
  expect(await publisher.publish(cloudEvent)).toEqual({ converted: true })
  // From then on it is not asked for what has no form.
  expect(await publisher.publish(bound)).toMatch(/no place for tenant/)
  expect(sent).toEqual(['specversion', 'specversion', 'eventType'])
})

it('asks a topic of a known schema nothing twice', async () => {
  const { sent, publisher } = openPublisher('eventType', 'CloudEventSchemaV1_0')
  expect(publisher.isSchemaKnown()).toBe(true)
  expect(await publisher.publish(cloudEvent)).toBe('refused')
  expect(sent).toEqual(['specversion'])
})

it.each([
  { error: refusal('PAYLOAD_INVALID'), isOfEvent: true },
  { error: refusal('PAYLOAD_TOO_LARGE'), isOfEvent: true },
  { error: refusal('PUBLISH_REJECTED', 400), isOfEvent: true },
  { error: refusal('PUBLISH_REJECTED', 404), isOfEvent: false },
  { error: refusal('CREDENTIALS_REJECTED', 400), isOfEvent: false },
  { error: Object.assign(new Error('no answer'), { code: 'PAYLOAD_INVALID' }), isOfEvent: false },
])('takes $error.code $error.details.status for a fault of the event: $isOfEvent', async ({ error, isOfEvent }) => {
  const publisher = createEitherPublisher(
    { publish: () => Promise.reject(error) },
    { topicSchema: 'CloudEventSchemaV1_0', defaultSource: '/s' },
  )
  if (isOfEvent) expect(await publisher.publish(cloudEvent)).toBe('refused')
  else await expect(publisher.publish(cloudEvent)).rejects.toBe(error)
})

it.each([
  { topicSchema: 'auto', given: bound, becomes: { converted: false } },
  { topicSchema: 'CloudEventSchemaV1_0', given: cloudEvent, becomes: { converted: false } },
  { topicSchema: 'EventGridSchema', given: cloudEvent, becomes: { converted: true } },
  { topicSchema: 'CloudEventSchemaV1_0', given: eventGridEvent, becomes: { converted: true } },
  { topicSchema: 'EventGridSchema', given: bound, becomes: expect.stringContaining('no place for tenant') },
] as const)(
  'decides without asking what becomes of $given.schema at $topicSchema',
  ({ topicSchema, given, becomes }) => {
    expect(decideUnpublished(given, { topicSchema, defaultSource: '/s' })).toEqual(becomes)
  },
)
