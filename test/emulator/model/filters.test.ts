import { describe, expect, it } from 'vitest'
import type { AcceptedEvent } from '../../../src/emulator/model/accepted-event.ts'
import { compileFilter } from '../../../src/emulator/model/filters.ts'
import type { AdvancedFilter, SubscriptionFilter } from '../../../src/emulator/model/model.ts'

const eventGridEvent: AcceptedEvent = {
  schema: 'EventGridSchema',
  body: {
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
  },
}
const cloudEvent: AcceptedEvent = {
  schema: 'CloudEventSchemaV1_0',
  body: { specversion: '1.0', id: '1', source: '/src', type: 'Created', ext: 'V', num: 5, data: { n: 5 } },
}

const wants = (filter: SubscriptionFilter, event: AcceptedEvent = eventGridEvent) => compileFilter(filter)(event)

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

interface Row {
  readonly name: string
  readonly filter: AdvancedFilter
  readonly expected: boolean
}

const rows: Row[] = [
  { name: 'NumberIn hit', filter: { operatorType: 'NumberIn', key: 'data.n', values: [4, 5] }, expected: true },
  { name: 'NumberIn miss', filter: { operatorType: 'NumberIn', key: 'data.n', values: [4] }, expected: false },
  { name: 'NumberNotIn hit', filter: { operatorType: 'NumberNotIn', key: 'data.n', values: [4] }, expected: true },
  { name: 'NumberNotIn miss', filter: { operatorType: 'NumberNotIn', key: 'data.n', values: [5] }, expected: false },
  {
    name: 'NumberLessThan at the bound',
    filter: { operatorType: 'NumberLessThan', key: 'data.n', value: 5 },
    expected: false,
  },
  {
    name: 'NumberLessThan below',
    filter: { operatorType: 'NumberLessThan', key: 'data.n', value: 5.1 },
    expected: true,
  },
  {
    name: 'NumberGreaterThan at the bound',
    filter: { operatorType: 'NumberGreaterThan', key: 'data.n', value: 5 },
    expected: false,
  },
  {
    name: 'NumberGreaterThan above',
    filter: { operatorType: 'NumberGreaterThan', key: 'data.n', value: 4 },
    expected: true,
  },
  {
    name: 'NumberLessThanOrEquals at the bound',
    filter: { operatorType: 'NumberLessThanOrEquals', key: 'data.n', value: 5 },
    expected: true,
  },
  {
    name: 'NumberGreaterThanOrEquals at the bound',
    filter: { operatorType: 'NumberGreaterThanOrEquals', key: 'data.n', value: 5 },
    expected: true,
  },
  {
    name: 'NumberInRange low end',
    filter: { operatorType: 'NumberInRange', key: 'data.n', values: [[5, 6]] },
    expected: true,
  },
  {
    name: 'NumberInRange high end',
    filter: {
      operatorType: 'NumberInRange',
      key: 'data.n',
      values: [
        [1, 2],
        [4, 5],
      ],
    },
    expected: true,
  },
  {
    name: 'NumberInRange outside',
    filter: { operatorType: 'NumberInRange', key: 'data.n', values: [[6, 9]] },
    expected: false,
  },
  {
    name: 'NumberNotInRange inside',
    filter: { operatorType: 'NumberNotInRange', key: 'data.n', values: [[5, 6]] },
    expected: false,
  },
  {
    name: 'NumberNotInRange outside',
    filter: { operatorType: 'NumberNotInRange', key: 'data.n', values: [[6, 9]] },
    expected: true,
  },
  { name: 'BoolEquals', filter: { operatorType: 'BoolEquals', key: 'data.flag', value: true }, expected: true },
  { name: 'BoolEquals other', filter: { operatorType: 'BoolEquals', key: 'data.flag', value: false }, expected: false },
  {
    name: 'StringIn ignores case',
    filter: { operatorType: 'StringIn', key: 'data.text', values: ['HELLO world'] },
    expected: true,
  },
  {
    name: 'StringNotIn',
    filter: { operatorType: 'StringNotIn', key: 'data.text', values: ['hello world'] },
    expected: false,
  },
  {
    name: 'StringContains any of its values',
    filter: { operatorType: 'StringContains', key: 'data.text', values: ['zzz', 'LO W'] },
    expected: true,
  },
  {
    name: 'StringNotContains',
    filter: { operatorType: 'StringNotContains', key: 'data.text', values: ['zzz', 'LO W'] },
    expected: false,
  },
  {
    name: 'StringBeginsWith',
    filter: { operatorType: 'StringBeginsWith', key: 'data.text', values: ['hell'] },
    expected: true,
  },
  {
    name: 'StringNotBeginsWith',
    filter: { operatorType: 'StringNotBeginsWith', key: 'data.text', values: ['hell'] },
    expected: false,
  },
  {
    name: 'StringEndsWith',
    filter: { operatorType: 'StringEndsWith', key: 'data.text', values: ['WORLD'] },
    expected: true,
  },
  {
    name: 'StringNotEndsWith',
    filter: { operatorType: 'StringNotEndsWith', key: 'data.text', values: ['x'] },
    expected: true,
  },
  {
    name: 'IsNullOrUndefined of null',
    filter: { operatorType: 'IsNullOrUndefined', key: 'data.nothing' },
    expected: true,
  },
  {
    name: 'IsNullOrUndefined of nothing',
    filter: { operatorType: 'IsNullOrUndefined', key: 'data.gone.deep' },
    expected: true,
  },
  {
    name: 'IsNullOrUndefined of a value',
    filter: { operatorType: 'IsNullOrUndefined', key: 'data.n' },
    expected: false,
  },
  { name: 'IsNotNull of a value', filter: { operatorType: 'IsNotNull', key: 'data.n' }, expected: true },
  { name: 'IsNotNull of null', filter: { operatorType: 'IsNotNull', key: 'data.nothing' }, expected: false },
  { name: 'a nested key', filter: { operatorType: 'NumberIn', key: 'data.inner.n', values: [7] }, expected: true },
  {
    name: 'a dot in a name, out of reach',
    filter: { operatorType: 'NumberIn', key: 'data.a.b', values: [1] },
    expected: false,
  },
  { name: 'a key of the prototype', filter: { operatorType: 'IsNotNull', key: 'data.constructor' }, expected: false },
  {
    name: 'Subject with a capital',
    filter: { operatorType: 'StringEndsWith', key: 'Subject', values: ['.txt'] },
    expected: true,
  },
  { name: 'eventType', filter: { operatorType: 'StringIn', key: 'eventType', values: ['created'] }, expected: true },
  { name: 'DataVersion', filter: { operatorType: 'StringIn', key: 'DataVersion', values: ['2.0'] }, expected: true },
  {
    name: 'a CloudEvents name on an Event Grid event',
    filter: { operatorType: 'IsNotNull', key: 'type' },
    expected: false,
  },
]

describe('advanced filters', () => {
  it.each(rows)('$name is $expected', ({ filter, expected }) =>
    expect(wants({ advancedFilters: [filter] })).toBe(expected),
  )

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

  it.each<Row>([
    { name: 'any number', filter: { operatorType: 'NumberIn', key: 'data.numbers', values: [2] }, expected: true },
    { name: 'no number', filter: { operatorType: 'NumberIn', key: 'data.numbers', values: [9] }, expected: false },
    {
      name: 'Not with a hit',
      filter: { operatorType: 'NumberNotIn', key: 'data.numbers', values: [2, 9] },
      expected: false,
    },
    {
      name: 'Not without a hit',
      filter: { operatorType: 'NumberNotIn', key: 'data.numbers', values: [9] },
      expected: true,
    },
    { name: 'any text', filter: { operatorType: 'StringContains', key: 'data.texts', values: ['RE'] }, expected: true },
    {
      name: 'elements of another type skipped',
      filter: { operatorType: 'StringIn', key: 'data.numbers', values: ['X'] },
      expected: true,
    },
    {
      name: 'Not in an empty array',
      filter: { operatorType: 'StringNotContains', key: 'data.empty', values: ['x'] },
      expected: true,
    },
    {
      name: 'in an empty array',
      filter: { operatorType: 'StringContains', key: 'data.empty', values: ['x'] },
      expected: false,
    },
    { name: 'IsNotNull of an array', filter: { operatorType: 'IsNotNull', key: 'data.empty' }, expected: true },
  ])('$name is $expected', ({ filter, expected }) => expect(on(filter)).toBe(expected))

  it('are looked into only where the subscription says so', () => {
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'data.numbers', values: [2] }] })).toBe(false)
  })
})

describe('keys of other schemas', () => {
  it.each<Row>([
    { name: 'source', filter: { operatorType: 'StringIn', key: 'source', values: ['/src'] }, expected: true },
    { name: 'specversion', filter: { operatorType: 'StringIn', key: 'specversion', values: ['1.0'] }, expected: true },
    { name: 'an extension', filter: { operatorType: 'StringIn', key: 'ext', values: ['v'] }, expected: true },
    {
      name: 'a number under a text operator',
      filter: { operatorType: 'StringBeginsWith', key: 'num', values: ['5'] },
      expected: false,
    },
    { name: 'eventType', filter: { operatorType: 'IsNotNull', key: 'eventType' }, expected: false },
  ])('CloudEvents: $name is $expected', ({ filter, expected }) =>
    expect(wants({ advancedFilters: [filter] }, cloudEvent)).toBe(expected),
  )

  it('a custom schema is filtered by its own fields and by the mapped ones', () => {
    const event: AcceptedEvent = {
      schema: 'CustomEventSchema',
      body: { kind: 'Created', amount: 7 },
      mapped: {
        id: '1',
        topic: '/t',
        subject: 'Order/1',
        eventType: 'Created',
        eventTime: '2026-01-01T00:00:00Z',
        dataVersion: '',
        metadataVersion: '1',
        data: { kind: 'Created', amount: 7 },
      },
    }
    expect(wants({ includedEventTypes: ['Created'], subjectBeginsWith: 'order/' }, event)).toBe(true)
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'amount', values: [7] }] }, event)).toBe(true)
    expect(wants({ advancedFilters: [{ operatorType: 'NumberIn', key: 'data.amount', values: [7] }] }, event)).toBe(
      true,
    )
  })
})
