import { expect, it } from 'vitest'
import { eventOf, textOf } from '../../src/model/events/event-text.ts'
import { namespaceDeadLetter } from '../../src/namespaces/namespace-queues.ts'

const event = eventOf({ id: '1', data: 5 })

it.each([
  { name: 'that was received', receivedAt: 2_000, attempt: '1970-01-01T00:00:02.0000000Z' },
  { name: 'that nobody received', receivedAt: undefined, attempt: '1970-01-01T00:00:03.0000000Z' },
])('an event $name has its times and its reason', ({ receivedAt, attempt }) => {
  const queued = { event, acceptedAt: 1_000, deliveryCount: 4, receivedAt }
  const added = {
    customDeliveryProperties: {},
    deadletterProperties: {
      deadletterreason: 'Time to live was exceeded',
      deliveryattempts: 4,
      deliveryresult: 'GeneralError',
      publishutc: '1970-01-01T00:00:01.0000000Z',
      deliveryattemptutc: attempt,
    },
  }
  const letter = (queued_: Parameters<typeof namespaceDeadLetter>[0]) =>
    JSON.parse(textOf(namespaceDeadLetter(queued_, 'TimeToLiveExceeded', 3_000)))
  expect(letter(queued)).toEqual({ id: '1', data: 5, ...added })
  expect(letter({ ...queued, event: { ...event, isBinary: true } })).toEqual({ event: { id: '1', data: 5 }, ...added })
})
