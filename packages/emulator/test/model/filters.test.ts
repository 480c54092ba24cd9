import { describe, expect, it } from 'vitest'
import type { AcceptedEvent } from '../../src/model/events/accepted-event.ts'
import { eventOf } from '../../src/model/events/event-text.ts'
import { compileFilter } from '../../src/model/events/filters.ts'
import type { AdvancedFilter, SubscriptionFilter } from '../../src/model/resources/event-subscription.ts'

const eventGridEvent: AcceptedEvent = {
  schema: 'EventGridSchema',
  body: eventOf({
    id: '1',
    topic: '/subscriptions/1',
    subject: '/Blobs/a.TXT',
    eventType: 'Created',
    eventTime: '2026-01-01T00:00:00Z',
    dataVersion: '2.0',
    metadataVersion: '1',
    data: {
      n: 5,
      text: 'Hello World',
      flag: true,
      nothing: null,
      inner: { n: 7 },
      numbers: [1, 2, 'x'],
      texts: ['Red', 'green', 3],
      empty: [],
      'a.b': 1,
    },
  }),
}
const cloudEvent: AcceptedEvent = {
  schema: 'CloudEventSchemaV1_0',
  body: eventOf({ specversion: '1.0', id: '1', source: '/src', type: 'Created', ext: 'V', num: 5, data: { n: 5 } }),
}

const wants = (filter: SubscriptionFilter, event: AcceptedEvent = eventGridEvent) =>
  compileFilter(filter)(event) === undefined

describe('event type and subject', () => {
  it.each<{ name: string; filter: SubscriptionFilter; expected: boolean }>([
    { name: 'no filter', filter: {}, expected: true },
    { name: 'the event type', filter: { includedEventTypes: ['Created'] }, expected: true },
    { name: 'All', filter: { includedEventTypes: ['All'] }, expected: true },
    { name: 'an empty list of types', filter: { includedEventTypes: [] }, expected: true },
    { name: 'another type', filter: { includedEventTypes: ['Deleted'] }, expected: false },
    { name: 'the type in other letters', filter: { includedEventTypes: ['created'] }, expected: false },
    { name: 'a prefix in other letters', filter: { subjectBeginsWith: '/blobs/' }, expected: true },
    { name: 'a suffix in other letters', filter: { subjectEndsWith: '.txt' }, expected: true },
    {
      name: 'a prefix with its case',
      filter: { subjectBeginsWith: '/Blobs/', isSubjectCaseSensitive: true },
      expected: true,
    },
    {
      name: 'a wrong case that counts',
      filter: { subjectBeginsWith: '/blobs/', isSubjectCaseSensitive: true },
      expected: false,
    },
    { name: 'a star, which is no wildcard', filter: { subjectBeginsWith: '/Blobs/*' }, expected: false },
    {
      name: 'prefix right and suffix wrong',
      filter: { subjectBeginsWith: '/Blobs', subjectEndsWith: '.jpg' },
      expected: false,
    },
    { name: 'empty texts', filter: { subjectBeginsWith: '', subjectEndsWith: '' }, expected: true },
  ])('$name', ({ filter, expected }) => expect(wants(filter)).toBe(expected))
})

describe('advanced filters', () => {
  it.each<AdvancedFilter>([
    { operatorType: 'NumberIn', key: 'data.n', values: [4, 5] },
    { operatorType: 'NumberNotIn', key: 'data.n', values: [4] },
    { operatorType: 'NumberLessThan', key: 'data.n', value: 5.1 },
    { operatorType: 'NumberGreaterThan', key: 'data.n', value: 4 },
    { operatorType: 'NumberLessThanOrEquals', key: 'data.n', value: 5 },
    { operatorType: 'NumberGreaterThanOrEquals', key: 'data.n', value: 5 },
    { operatorType: 'NumberInRange', key: 'data.n', values: [[5, 6]] },
    {
      operatorType: 'NumberInRange',
      key: 'data.n',
      values: [
        [1, 2],
        [4, 5],
      ],
    },
    { operatorType: 'NumberNotInRange', key: 'data.n', values: [[6, 9]] },
    { operatorType: 'BoolEquals', key: 'data.flag', value: true },
    { operatorType: 'StringIn', key: 'data.text', values: ['HELLO world'] },
    { operatorType: 'StringContains', key: 'data.text', values: ['zzz', 'LO W'] },
    { operatorType: 'StringBeginsWith', key: 'data.text', values: ['hell'] },
    { operatorType: 'StringEndsWith', key: 'data.text', values: ['WORLD'] },
    { operatorType: 'StringNotEndsWith', key: 'data.text', values: ['x'] },
    { operatorType: 'IsNullOrUndefined', key: 'data.nothing' },
    { operatorType: 'IsNullOrUndefined', key: 'data.gone.deep' },
    { operatorType: 'IsNotNull', key: 'data.n' },
    { operatorType: 'NumberIn', key: 'data.inner.n', values: [7] },
    { operatorType: 'StringEndsWith', key: 'Subject', values: ['.txt'] },
    { operatorType: 'StringIn', key: 'eventType', values: ['created'] },
    { operatorType: 'StringIn', key: 'DataVersion', values: ['2.0'] },
  ])('%j matches', (filter) => expect(wants({ advancedFilters: [filter] })).toBe(true))

  it.each<AdvancedFilter>([
    { operatorType: 'NumberIn', key: 'data.n', values: [4] },
    { operatorType: 'NumberNotIn', key: 'data.n', values: [5] },
    { operatorType: 'NumberLessThan', key: 'data.n', value: 5 },
    { operatorType: 'NumberGreaterThan', key: 'data.n', value: 5 },
    { operatorType: 'NumberInRange', key: 'data.n', values: [[6, 9]] },
    { operatorType: 'NumberNotInRange', key: 'data.n', values: [[5, 6]] },
    { operatorType: 'BoolEquals', key: 'data.flag', value: false },
    { operatorType: 'StringNotIn', key: 'data.text', values: ['hello world'] },
    { operatorType: 'StringNotContains', key: 'data.text', values: ['zzz', 'LO W'] },
    { operatorType: 'StringNotBeginsWith', key: 'data.text', values: ['hell'] },
    { operatorType: 'IsNullOrUndefined', key: 'data.n' },
    { operatorType: 'IsNotNull', key: 'data.nothing' },
    { operatorType: 'NumberIn', key: 'data.a.b', values: [1] },
    { operatorType: 'IsNotNull', key: 'data.constructor' },
    { operatorType: 'IsNotNull', key: 'type' },
  ])('%j does not match', (filter) => expect(wants({ advancedFilters: [filter] })).toBe(false))

  it('all must hold, also two on one key', () => {
    const low: AdvancedFilter = { operatorType: 'NumberGreaterThan', key: 'data.n', value: 4 }
    expect(wants({ advancedFilters: [low, { operatorType: 'NumberLessThan', key: 'data.n', value: 6 }] })).toBe(true)
    expect(wants({ advancedFilters: [low, { operatorType: 'NumberLessThan', key: 'data.n', value: 5 }] })).toBe(false)
  })
})

const number = [1]
const texts = ['a']
describe.each([
  { key: 'data.missing', what: 'a missing key' },
  { key: 'data.nothing', what: 'null' },
  { key: 'data.inner', what: 'a value of another type' },
])('$what', ({ key }) => {
  it.each<{ filter: AdvancedFilter; expected: boolean }>([
    { filter: { operatorType: 'NumberIn', key, values: number }, expected: false },
    { filter: { operatorType: 'NumberNotIn', key, values: number }, expected: true },
    { filter: { operatorType: 'NumberLessThan', key, value: 1 }, expected: false },
    { filter: { operatorType: 'NumberInRange', key, values: [[0, 9]] }, expected: false },
    { filter: { operatorType: 'NumberNotInRange', key, values: [[0, 9]] }, expected: false },
    { filter: { operatorType: 'BoolEquals', key, value: false }, expected: false },
    { filter: { operatorType: 'StringIn', key, values: texts }, expected: false },
    { filter: { operatorType: 'StringNotIn', key, values: texts }, expected: true },
    { filter: { operatorType: 'StringContains', key, values: texts }, expected: false },
    { filter: { operatorType: 'StringNotContains', key, values: texts }, expected: false },
    { filter: { operatorType: 'StringNotBeginsWith', key, values: texts }, expected: false },
    { filter: { operatorType: 'StringNotEndsWith', key, values: texts }, expected: false },
  ])('$filter.operatorType is $expected', ({ filter, expected }) =>
    expect(wants({ advancedFilters: [filter] })).toBe(expected),
  )
})

describe('arrays', () => {
  const on = (filter: AdvancedFilter) => wants({ advancedFilters: [filter], enableAdvancedFilteringOnArrays: true })

  it.each<AdvancedFilter>([
    { operatorType: 'NumberIn', key: 'data.numbers', values: [2] },
    { operatorType: 'NumberNotIn', key: 'data.numbers', values: [9] },
    { operatorType: 'StringContains', key: 'data.texts', values: ['RE'] },
    { operatorType: 'StringIn', key: 'data.numbers', values: ['X'] },
    { operatorType: 'StringNotContains', key: 'data.empty', values: ['x'] },
    { operatorType: 'IsNotNull', key: 'data.empty' },
  ])('%j matches', (filter) => expect(on(filter)).toBe(true))

  it.each<AdvancedFilter>([
    { operatorType: 'NumberIn', key: 'data.numbers', values: [9] },
    { operatorType: 'NumberNotIn', key: 'data.numbers', values: [2, 9] },
    { operatorType: 'StringContains', key: 'data.empty', values: ['x'] },
  ])('%j does not match', (filter) => expect(on(filter)).toBe(false))

  it('are searched only if the subscription enables it', () => {
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'data.numbers', values: [2] }] })).toBe(false)
  })
})

describe('keys of other schemas', () => {
  it.each<AdvancedFilter>([
    { operatorType: 'StringIn', key: 'source', values: ['/src'] },
    { operatorType: 'StringIn', key: 'specversion', values: ['1.0'] },
    { operatorType: 'StringIn', key: 'ext', values: ['v'] },
  ])('CloudEvents: %j matches', (filter) => expect(wants({ advancedFilters: [filter] }, cloudEvent)).toBe(true))

  it.each<AdvancedFilter>([
    { operatorType: 'StringBeginsWith', key: 'num', values: ['5'] },
    { operatorType: 'IsNotNull', key: 'eventType' },
  ])('CloudEvents: %j does not match', (filter) => expect(wants({ advancedFilters: [filter] }, cloudEvent)).toBe(false))

  const call: AcceptedEvent = {
    schema: 'CloudEventSchemaV1_0',
    body: eventOf({
      ...{ specversion: '1.0', id: '1', source: '/src', type: 'Call', myext: 'V' },
      data: { to: { phoneNumber: { value: 'n' } }, Both: 'upper', both: 'lower', Tags: ['a'] },
    }),
  }

  it.each<AdvancedFilter>([
    { operatorType: 'StringIn', key: 'data.to.PhoneNumber.Value', values: ['n'] },
    { operatorType: 'StringIn', key: 'Data.To.PHONENUMBER.value', values: ['n'] },
    { operatorType: 'StringIn', key: 'Source', values: ['/src'] },
    { operatorType: 'StringIn', key: 'MyExt', values: ['v'] },
    { operatorType: 'StringIn', key: 'data.Both', values: ['upper'] },
    { operatorType: 'StringIn', key: 'data.both', values: ['lower'] },
    { operatorType: 'StringIn', key: 'data.BOTH', values: ['upper'] },
    { operatorType: 'StringIn', key: 'data.tags', values: ['a'] },
    { operatorType: 'StringNotIn', key: 'data.To.phoneNumber.VALUE', values: ['m'] },
  ])('keys in another letter case: %j matches', (filter) => {
    expect(wants({ advancedFilters: [filter], enableAdvancedFilteringOnArrays: true }, call)).toBe(true)
  })

  it.each<AdvancedFilter>([
    { operatorType: 'StringIn', key: 'data.Both', values: ['lower'] },
    { operatorType: 'StringNotIn', key: 'data.to.PhoneNumber.Value', values: ['n'] },
    { operatorType: 'StringIn', key: 'data.to.PhoneNumbers.Value', values: ['n'] },
  ])('keys in another letter case: %j does not match', (filter) => {
    expect(wants({ advancedFilters: [filter] }, call)).toBe(false)
  })

  it('a custom schema is filtered by its own fields and by the mapped ones', () => {
    const event: AcceptedEvent = {
      schema: 'CustomEventSchema',
      body: eventOf({ kind: 'Created', amount: 7 }),
      mapped: eventOf({
        id: '1',
        topic: '/t',
        subject: 'Order/1',
        eventType: 'Created',
        eventTime: '2026-01-01T00:00:00Z',
        dataVersion: '',
        metadataVersion: '1',
        data: { kind: 'Created', amount: 7 },
      }),
    }
    expect(wants({ includedEventTypes: ['Created'], subjectBeginsWith: 'order/' }, event)).toBe(true)
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'amount', values: [7] }] }, event)).toBe(true)
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'data.amount', values: [7] }] }, event)).toBe(
      true,
    )
  })
})

it.each<{ readonly filter: SubscriptionFilter; readonly because: string | undefined }>([
  { filter: {}, because: undefined },
  { filter: { includedEventTypes: ['Deleted'] }, because: 'the event has the type Created' },
  {
    filter: { subjectBeginsWith: '/Invoices/' },
    because: 'the event has the subject "/Blobs/a.TXT", which does not begin with /Invoices/',
  },
  {
    filter: { subjectEndsWith: '.jpg' },
    because: 'the event has the subject "/Blobs/a.TXT", which does not end with .jpg',
  },
  ...[
    { key: 'amount', because: 'the event has no key amount' },
    { key: 'data.inner.amount', because: 'the event has no key data.inner.amount' },
    { key: 'data.n', because: 'data.n of the event is 5: NumberIn does not match' },
    { key: 'data.text', because: 'data.text of the event is "Hello World": NumberIn does not match' },
    { key: 'data.nothing', because: 'data.nothing of the event is null: NumberIn does not match' },
    { key: 'data.inner', because: 'data.inner of the event is an object: NumberIn does not match' },
    {
      key: 'data.numbers',
      because:
        'data.numbers of the event is an array, whose elements count with enableAdvancedFilteringOnArrays alone: NumberIn does not match',
    },
  ].map(({ key, because }) => ({
    filter: { advancedFilters: [{ operatorType: 'NumberIn' as const, key, values: [9] }] },
    because,
  })),
])('an event does not match $filter, since $because', ({ filter, because }) => {
  expect(compileFilter(filter)(eventGridEvent)).toBe(because)
})
