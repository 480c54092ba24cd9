/** What reaches a storage queue: filters, schemas, domains, and a queue that is gone for a while. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { absent, between } from '../expectation.ts'
import { type Probe, probe } from '../probe.ts'
import { cloudEvent, cloudSchema, forType, gridEvent, gridSchema, idsOf, subscribe } from './asking.ts'

interface FilterCase {
  readonly fact: string
  readonly asks: string
  readonly filter: object
  /** What differs from event to event, by its id. */
  readonly events: Readonly<Record<string, object>>
  readonly delivered: readonly string[]
}

const advanced = (operatorType: string, key: string, more: object) => ({
  advancedFilters: [{ operatorType, key, ...more }],
})

const filterCases: readonly FilterCase[] = [
  {
    ...{ fact: 'filter-key-case', asks: 'a key in another letter case than the field' },
    filter: advanced('StringIn', 'data.To.PhoneNumber', { values: ['1'] }),
    events: {
      same: { data: { To: { PhoneNumber: '1' } } },
      other: { data: { to: { phoneNumber: '1' } } },
      none: { data: {} },
    },
    delivered: ['other', 'same'],
  },
  {
    ...{ fact: 'filter-text-case', asks: 'a text in another letter case' },
    filter: advanced('StringIn', 'data.word', { values: ['Hello'] }),
    events: {
      same: { data: { word: 'Hello' } },
      other: { data: { word: 'hELLO' } },
      none: { data: { word: 'Hello!' } },
    },
    delivered: ['other', 'same'],
  },
  {
    ...{ fact: 'filter-missing-key', asks: 'StringNotContains where the key is missing' },
    filter: advanced('StringNotContains', 'data.word', { values: ['a'] }),
    events: { there: { data: { word: 'xyz' } }, missing: { data: {} } },
    delivered: ['there'],
  },
  {
    ...{ fact: 'filter-missing-key', asks: 'StringNotIn where the key is missing' },
    filter: advanced('StringNotIn', 'data.word', { values: ['a'] }),
    events: { there: { data: { word: 'xyz' } }, missing: { data: {} }, refused: { data: { word: 'a' } } },
    delivered: ['missing', 'there'],
  },
  {
    ...{ fact: 'filter-range', asks: 'both ends of a range' },
    filter: advanced('NumberInRange', 'data.n', { values: [[1, 3]] }),
    events: { low: { data: { n: 1 } }, high: { data: { n: 3 } }, above: { data: { n: 3.01 } } },
    delivered: ['high', 'low'],
  },
  {
    ...{ fact: 'filter-null', asks: 'IsNullOrUndefined' },
    filter: advanced('IsNullOrUndefined', 'data.word', {}),
    events: { null: { data: { word: null } }, nothing: { data: {} }, there: { data: { word: 'a' } } },
    delivered: ['nothing', 'null'],
  },
  {
    ...{ fact: 'filter-arrays', asks: 'a list where lists are not searched' },
    filter: advanced('StringIn', 'data.words', { values: ['a'] }),
    events: { list: { data: { words: ['a'] } }, text: { data: { words: 'a' } } },
    delivered: ['text'],
  },
  {
    ...{ fact: 'filter-arrays-any', asks: 'a list where lists are searched' },
    filter: { ...advanced('StringIn', 'data.words', { values: ['a'] }), enableAdvancedFilteringOnArrays: true },
    events: { one: { data: { words: ['x', 'a'] } }, none: { data: { words: ['x'] } } },
    delivered: ['one'],
  },
  {
    ...{ fact: 'filter-subject', asks: 'a subject by its beginning, with a star' },
    filter: { subjectBeginsWith: 'or*' },
    events: { star: { subject: 'or*ders' }, other: { subject: 'orders' } },
    delivered: ['star'],
  },
  {
    ...{ fact: 'filter-subject-case', asks: 'a subject in another letter case' },
    filter: { subjectEndsWith: '.JPG' },
    events: { same: { subject: 'a.JPG' }, other: { subject: 'a.jpg' }, none: { subject: 'a.png' } },
    delivered: ['other', 'same'],
  },
  {
    ...{ fact: 'filter-dots', asks: 'a name with a dot in it' },
    filter: advanced('StringIn', 'data.a.b', { values: ['x'] }),
    events: { nested: { data: { a: { b: 'x' } } }, dotted: { data: { 'a.b': 'x' } } },
    delivered: ['nested'],
  },
]

/** After the events that must come: the time in which no other may. */
const quietMs = 10_000

export const queueProbes: readonly Probe[] = [
  ...filterCases.map(({ fact, asks, filter, events, delivered }) =>
    probe({
      ...{ fact, asks, needs: ['storage'], expected: delivered },
      async ask(world) {
        const queue = await world.openQueue()
        const type = world.unique()
        await subscribe(world, forType(type, queue.destination, { filter }))
        await world.publish(
          world.made.cloud,
          Object.entries(events).map(([id, more]) => cloudEvent(type, { id, ...more })),
        )
        await queue.wait(delivered.length)
        await world.pause(quietMs)
        return idsOf(await queue.events())
      },
    }),
  ),
  probe({
    fact: 'filter-types',
    asks: 'an event type in another letter case',
    needs: ['storage'],
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
  probe({
    fact: 'queue-message',
    asks: 'an Event Grid event as a message',
    needs: ['storage'],
    async ask(world) {
      const queue = await world.openQueue()
      const type = world.unique()
      await subscribe(world, forType(type, queue.destination, { eventDeliverySchema: gridSchema }), world.made.grid.id)
      await world.publish(world.made.grid, [gridEvent(type)])
      return (await queue.wait(1))[0]
    },
    expected: ({ made }) => ({
      id: 'one',
      subject: 'probe',
      topic: made.grid.id,
      metadataVersion: '1',
      data: { amount: 5 },
    }),
  }),
  ...(
    [
      [
        'schema-conversion',
        'an Event Grid event as a CloudEvent',
        { specversion: '1.0', subject: 'probe', id: 'one', data: { amount: 5 } },
      ],
      [
        'schema-no-version',
        'what a CloudEvent of an Event Grid event lacks',
        { dataVersion: absent, datacontenttype: absent, dataschema: absent },
      ],
      ['schema-times', 'a time with seven digits', { time: '2026-01-05T14:07:09.1234567Z' }],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({
      ...{ fact, asks, expected, needs: ['storage'] },
      async ask(world) {
        const queue = await world.openQueue()
        const type = world.unique()
        await subscribe(world, forType(type, queue.destination), world.made.grid.id)
        await world.publish(world.made.grid, [gridEvent(type)])
        return (await queue.wait(1))[0]
      },
    }),
  ),
  probe({
    fact: 'domain-cloud-event',
    asks: 'the source of a CloudEvent of a domain',
    needs: ['storage'],
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
  probe({
    fact: 'queue-missing-again',
    asks: 'when an event comes to a queue that was not there at first',
    needs: ['storage'],
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
  probe({
    fact: 'subscription-schemas',
    asks: 'CloudEvents of a topic that is written by the older api-version',
    needs: ['storage'],
    async ask({ arm, made, subscriptionAt, openQueue }) {
      const { destination } = await openQueue()
      const body = { properties: { destination, eventDeliverySchema: cloudSchema } }
      return (await arm.write('PUT', subscriptionAt(made.cloud.id), { body, apiVersion: '2022-06-15' })).end
    },
    expected: 'Succeeded',
  }),
]
