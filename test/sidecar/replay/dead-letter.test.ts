import { expect, it } from 'vitest'
import { type DeadLetter, readDeadLetter } from '../../../src/sidecar/replay/dead-letters.ts'
import { eventGridLetter, letter } from './open-replay.ts'

function read(value: unknown): DeadLetter {
  const dead = readDeadLetter(value)
  if (typeof dead === 'string') throw new Error(dead)
  return dead
}

it.each<{ name: string; given: object; is: Partial<DeadLetter> }>([
  {
    name: 'a CloudEvent',
    given: letter('1'),
    is: {
      ...{ schema: 'CloudEventSchemaV1_0', id: '1', type: 'order.placed' },
      ...{ publishTime: '2026-01-05T10:00:01Z', time: Date.parse('2026-01-05T10:05:00Z') },
    },
  },
  {
    name: 'an Event Grid event',
    given: eventGridLetter('1'),
    is: {
      ...{ schema: 'EventGridSchema', id: '1', type: 'order.placed' },
      ...{ publishTime: '2026-01-05T10:00:01Z', time: Date.parse('2026-01-05T10:05:00Z') },
    },
  },
  {
    name: 'one that was never tried: the time of its publishing',
    given: letter('1', { lastdeliveryattempttime: undefined }),
    is: { time: Date.parse('2026-01-05T10:00:01Z') },
  },
  {
    name: 'one whose last try has no time that can be read',
    given: letter('1', { lastdeliveryattempttime: 'soon' }),
    is: { time: Date.parse('2026-01-05T10:00:01Z') },
  },
  {
    name: 'a CloudEvent that tells its own time alone',
    given: letter('1', { lastdeliveryattempttime: undefined, publishtime: undefined }),
    is: { publishTime: undefined, time: Date.parse('2026-01-05T10:00:00Z') },
  },
  {
    name: 'an Event Grid event that tells its own time alone',
    given: eventGridLetter('1', { lastDeliveryAttemptTime: undefined, publishTime: undefined }),
    is: { publishTime: undefined, time: Date.parse('2026-01-05T10:00:00Z') },
  },
  {
    name: 'an event without any time, as it was published',
    given: { specversion: '1.0', id: '1', type: 't' },
    is: { publishTime: undefined, time: undefined, event: { specversion: '1.0', id: '1', type: 't' } },
  },
])('reads of $name what it tells', ({ given, is }) => expect(read(given)).toMatchObject(is))

it('leaves out what the dead letter has added, and the topic of an Event Grid event', () => {
  const own = ['id', 'type', 'source', 'specversion', 'subject', 'time', 'data']
  expect(Object.keys(read(letter('1')).event).toSorted()).toEqual(own.toSorted())
  expect(read(letter('1', { topic: 'own' })).event).toHaveProperty('topic')
  expect(read(eventGridLetter('1')).event).not.toHaveProperty('topic')
})

it.each([
  { given: null, says: 'it is not a JSON object' },
  { given: [letter('1')], says: 'it is not a JSON object' },
  { given: { id: '1', type: 't' }, says: 'it has neither specversion nor eventType' },
  { given: letter('1', { id: 7 }), says: 'its id or its type is not a text' },
  { given: letter('1', { type: undefined }), says: 'its id or its type is not a text' },
  { given: eventGridLetter('1', { eventType: 7 }), says: 'its id or its type is not a text' },
])('says of $given why it is no event', ({ given, says }) => expect(readDeadLetter(given)).toBe(says))

it('has one key for two dead letters of one event, and another for another event or publishing', () => {
  const { key } = read(letter('1'))
  expect(key).toMatch(/^[\w-]{43}$/)
  const later = { deliveryattempts: 9, lastdeliveryattempttime: '2026-01-07T00:00:00Z' }
  expect(read(letter('1', later)).key).toBe(key)
  expect(read(letter('1', { publishtime: '2026-01-06T00:00:00Z' })).key).not.toBe(key)
  expect(read(letter('1', { data: 2 })).key).not.toBe(key)
})
