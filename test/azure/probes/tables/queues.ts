/** What reaches a storage queue: filters, schemas, domains, and a queue that is gone for a while. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { absent, between, type Pattern } from '../expectation.ts'
import { type Probe, probesWith } from '../probe.ts'
import { cloudEvent, forType, gridEvent, gridSchema, idsOf, putQueue, subscribe } from './asking.ts'

const stored = probesWith('storage')

/** After the events that must come: the time in which no other may. */
const quietMs = 10_000

const advanced = (operatorType: string, key: string, ...values: readonly unknown[]) => ({
  advancedFilters: [{ operatorType, key, ...(values.length > 0 && { values }) }],
})

interface Filtered {
  readonly filter: object
  /** What differs from event to event, by its id. */
  readonly events: Readonly<Record<string, object>>
  readonly delivered: readonly string[]
}

/** Of each event, where nothing else is said. */
const data = { amount: 5 }
const withData = (events: Readonly<Record<string, object>>) =>
  Object.fromEntries(Object.entries(events).map(([id, one]) => [id, { data: one }]))

const filtered = (fact: string, asks: string, { filter, events, delivered }: Filtered) =>
  stored(fact, asks, {
    async ask(world) {
      const queue = await world.openQueue()
      const type = world.unique()
      await subscribe(world, forType(type, queue.destination, { filter }))
      const published = Object.entries(events).map(([id, more]) => cloudEvent(type, { id, ...more }))
      await world.publish(world.made.cloud, published)
      await queue.wait(delivered.length)
      await world.pause(quietMs)
      return idsOf(await queue.events())
    },
    expected: delivered,
  })

/** An Event Grid event as a queue gets it that wants CloudEvents. */
const converted = (fact: string, asks: string, expected: Pattern) =>
  stored(fact, asks, {
    async ask(world) {
      const queue = await world.openQueue()
      const type = world.unique()
      await subscribe(world, forType(type, queue.destination), world.made.grid.id)
      await world.publish(world.made.grid, [gridEvent(type)])
      return (await queue.wait(1))[0]
    },
    expected,
  })

export const queueProbes: readonly Probe[] = [
  filtered('filter-key-case', 'a key in another letter case than the field', {
    filter: advanced('StringIn', 'data.To.PhoneNumber', '1'),
    events: withData({ same: { To: { PhoneNumber: '1' } }, other: { to: { phoneNumber: '1' } }, none: {} }),
    delivered: ['other', 'same'],
  }),
  filtered('filter-text-case', 'a text in another letter case', {
    filter: advanced('StringIn', 'data.word', 'Hello'),
    events: withData({ same: { word: 'Hello' }, other: { word: 'hELLO' }, none: { word: 'Hello!' } }),
    delivered: ['other', 'same'],
  }),
  filtered('filter-missing-key', 'StringNotContains where the key is missing', {
    filter: advanced('StringNotContains', 'data.word', 'a'),
    events: withData({ there: { word: 'xyz' }, missing: {} }),
    delivered: ['there'],
  }),
  filtered('filter-missing-key', 'StringNotIn where the key is missing', {
    filter: advanced('StringNotIn', 'data.word', 'a'),
    events: withData({ there: { word: 'xyz' }, missing: {}, refused: { word: 'a' } }),
    delivered: ['missing', 'there'],
  }),
  filtered('filter-range', 'both ends of a range', {
    filter: advanced('NumberInRange', 'data.n', [1, 3]),
    events: withData({ low: { n: 1 }, high: { n: 3 }, above: { n: 3.01 } }),
    delivered: ['high', 'low'],
  }),
  filtered('filter-null', 'IsNullOrUndefined', {
    filter: advanced('IsNullOrUndefined', 'data.word'),
    events: withData({ null: { word: null }, nothing: {}, there: { word: 'a' } }),
    delivered: ['nothing', 'null'],
  }),
  filtered('filter-arrays', 'a list where lists are not searched', {
    filter: advanced('StringIn', 'data.words', 'a'),
    events: withData({ list: { words: ['a'] }, text: { words: 'a' } }),
    delivered: ['text'],
  }),
  filtered('filter-arrays-any', 'a list where lists are searched', {
    filter: { ...advanced('StringIn', 'data.words', 'a'), enableAdvancedFilteringOnArrays: true },
    events: withData({ one: { words: ['x', 'a'] }, none: { words: ['x'] } }),
    delivered: ['one'],
  }),
  filtered('filter-subject', 'a subject by its beginning, with a star', {
    filter: { subjectBeginsWith: 'or*' },
    events: { star: { subject: 'or*ders' }, other: { subject: 'orders' } },
    delivered: ['star'],
  }),
  filtered('filter-subject-case', 'a subject in another letter case', {
    filter: { subjectEndsWith: '.JPG' },
    events: { same: { subject: 'a.JPG' }, other: { subject: 'a.jpg' }, none: { subject: 'a.png' } },
    delivered: ['other', 'same'],
  }),
  filtered('filter-dots', 'a name with a dot in it', {
    filter: advanced('StringIn', 'data.a.b', 'x'),
    events: withData({ nested: { a: { b: 'x' } }, dotted: { 'a.b': 'x' } }),
    delivered: ['nested'],
  }),
  stored('filter-types', 'an event type in another letter case', {
    async ask(world) {
      const queue = await world.openQueue()
      const type = `Probe.${world.unique()}`
      await subscribe(world, forType(type, queue.destination))
      const events = [cloudEvent(type, { id: 'same' }), cloudEvent(type.toUpperCase(), { id: 'other' })]
      await world.publish(world.made.cloud, events)
      await queue.wait(1)
      await world.pause(quietMs)
      return idsOf(await queue.events())
    },
    expected: ['same'],
  }),
  stored('queue-message', 'an Event Grid event as a message', {
    async ask(world) {
      const queue = await world.openQueue()
      const type = world.unique()
      await subscribe(world, forType(type, queue.destination, { eventDeliverySchema: gridSchema }), world.made.grid.id)
      await world.publish(world.made.grid, [gridEvent(type)])
      return (await queue.wait(1))[0]
    },
    expected: ({ made: { grid } }) => ({ id: 'one', subject: 'probe', topic: grid.id, metadataVersion: '1', data }),
  }),
  converted('schema-conversion', 'an Event Grid event as a CloudEvent', {
    ...{ specversion: '1.0', subject: 'probe', id: 'one', data },
  }),
  converted('schema-no-version', 'what a CloudEvent of an Event Grid event lacks', {
    ...{ dataVersion: absent, datacontenttype: absent, dataschema: absent },
  }),
  converted('schema-times', 'a time with seven digits', { time: '2026-01-05T14:07:09.1234567Z' }),
  stored('domain-cloud-event', 'the source of a CloudEvent of a domain', {
    async ask(world) {
      const queue = await world.openQueue()
      const [type, topic] = [world.unique(), world.unique()]
      await subscribe(world, forType(type, queue.destination), `${world.made.domain.id}/topics/${topic}`)
      await world.publish(world.made.domain, [cloudEvent(type, { source: topic })])
      const [event] = await queue.wait(1)
      return { isRecord: isRecord(event), sameSource: isRecord(event) && event.source === topic }
    },
    expected: { isRecord: true, sameSource: true },
  }),
  stored('queue-missing-again', 'when an event comes to a queue that was not there at first', {
    async ask(world) {
      const queue = await world.openQueue()
      const type = world.unique()
      await subscribe(world, forType(type, queue.destination))
      await queue.remove()
      await world.publish(world.made.cloud, [cloudEvent(type)])
      const published = world.clock.now()
      await world.pause(60_000)
      await queue.makeAgain()
      const came = await queue.wait(1, 15 * 60_000)
      return { count: came.length, afterSeconds: Math.round((world.clock.now() - published) / 1000) }
    },
    expected: { count: 1, afterSeconds: between(295, 900) },
  }),
  stored('subscription-schemas', 'CloudEvents of a topic that is written by the older api-version', {
    ask: async (world) => (await putQueue(world, { apiVersion: '2022-06-15' })).end,
    expected: 'Succeeded',
  }),
]
