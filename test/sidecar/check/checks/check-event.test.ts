import { expect, it } from 'vitest'
import { caseDifferences, type EventFilter, refusals } from '../../../../src/sidecar/check/checks/check-event.ts'

const cloudEvent = {
  ...{ specversion: '1.0', id: '1', source: '/shop', type: 'order.placed', subject: '/Shop/Orders/1' },
  data: { amount: 5, tags: ['new', 'gift'], paid: true, note: null },
}

const by = (operatorType: string, key: string, wanted = {}) => ({ advancedFilters: [{ operatorType, key, ...wanted }] })

const filters: readonly (readonly [string, EventFilter, boolean])[] = [
  ['no filter', {}, true],
  ['its type', { includedEventTypes: ['order.placed'] }, true],
  ['another type', { includedEventTypes: ['order.paid'] }, false],
  ['All', { includedEventTypes: ['All'] }, true],
  ['a subject in another letter case', { subjectBeginsWith: '/shop/', subjectEndsWith: '/1' }, true],
  ['the same where case counts', { subjectBeginsWith: '/shop/', isSubjectCaseSensitive: true }, false],
  ['NumberIn', by('NumberIn', 'data.amount', { values: [4, 5] }), true],
  ['NumberNotIn', by('NumberNotIn', 'data.amount', { values: [5] }), false],
  ['NumberNotIn on nothing', by('NumberNotIn', 'data.none', { values: [5] }), true],
  ['NumberInRange', by('NumberInRange', 'data.amount', { values: [[5, 9]] }), true],
  ['NumberNotInRange on nothing', by('NumberNotInRange', 'data.none', { values: [[5, 9]] }), false],
  ['NumberLessThan', by('NumberLessThan', 'data.amount', { value: 5 }), false],
  ['NumberLessThanOrEquals', by('NumberLessThanOrEquals', 'data.amount', { value: 5 }), true],
  ['NumberGreaterThan', by('NumberGreaterThan', 'data.amount', { value: 4 }), true],
  ['BoolEquals', by('BoolEquals', 'data.paid', { value: false }), false],
  ['StringContains', by('StringContains', 'subject', { values: ['orders'] }), true],
  ['StringNotContains on nothing', by('StringNotContains', 'data.none', { values: ['x'] }), false],
  ['StringNotIn on nothing', by('StringNotIn', 'data.none', { values: ['x'] }), true],
  ['StringBeginsWith on a number', by('StringBeginsWith', 'data.amount', { values: ['5'] }), false],
  ['a list, without looking into it', by('StringIn', 'data.tags', { values: ['gift'] }), false],
  ['a list', { enableAdvancedFilteringOnArrays: true, ...by('StringIn', 'data.tags', { values: ['GIFT'] }) }, true],
  [
    'a list that must not',
    { enableAdvancedFilteringOnArrays: true, ...by('StringNotIn', 'data.tags', { values: ['gift'] }) },
    false,
  ],
  ['IsNullOrUndefined', by('IsNullOrUndefined', 'data.note'), true],
  ['IsNotNull', by('IsNotNull', 'data.note'), false],
]

it.each(filters)('passes or refuses a CloudEvent by %s', (_name, filter, passes) => {
  expect(refusals(cloudEvent, filter).length === 0).toBe(passes)
})

const call = {
  ...{ id: '1', source: '/shop', type: 'Call.Incoming', specversion: '1.0', myext: 'x' },
  data: { to: { phoneNumber: { value: '+4930000000' } }, Both: 1, both: 2, Tags: ['A'] },
}

it.each([
  { key: 'data.to.PhoneNumber.Value', values: ['+4930000000'], name: 'data.to.phoneNumber.value' },
  { key: 'DATA.TO.PHONENUMBER.VALUE', values: ['+4930000000'], name: 'data.to.phoneNumber.value' },
  { key: 'Source', values: ['/shop'], name: 'source' },
  { key: 'MyExt', values: ['x'], name: 'myext' },
  { key: 'data.tags', values: ['a'], name: 'data.Tags' },
  { key: 'data.to.phoneNumber.value', values: ['+4930000000'], name: undefined },
])('matches the key $key whatever its letter case, and says how the event writes it', ({ key, values, name }) => {
  const filter = { enableAdvancedFilteringOnArrays: true, ...by('StringIn', key, { values }) }
  expect(refusals(call, filter)).toEqual([])
  expect(caseDifferences(call, filter)).toEqual(name === undefined ? [] : [expect.stringContaining(`"${name}"`)])
})

it('takes of two fields that differ in letter case only the one that is written as in the key', () => {
  const passes = (key: string, value: number) => refusals(call, by('NumberIn', key, { values: [value] })).length === 0
  expect([passes('data.Both', 1), passes('data.both', 2), passes('data.Both', 2)]).toEqual([true, true, false])
  expect(refusals(call, by('StringIn', 'data.to.Phone', { values: ['x'] }))).toEqual([
    expect.stringContaining('the event has no such field'),
  ])
})

it('finds the fields of the Event Grid schema in any letter case, and explains a blob that lies elsewhere', () => {
  const event = {
    id: '1',
    eventType: 'Microsoft.Storage.BlobCreated',
    subject: '/blobServices/default/containers/c/blobs/a.txt',
    data: {},
  }
  expect(
    refusals(event, {
      advancedFilters: [{ operatorType: 'StringIn', key: 'EventType', values: ['microsoft.storage.blobcreated'] }],
    }),
  ).toEqual([])
  const [reason] = refusals(event, { subjectBeginsWith: '/blobServices/default/containers/c/a' })
  expect(reason).toContain('a blob lies under /containers/{container}/blobs/')
})
