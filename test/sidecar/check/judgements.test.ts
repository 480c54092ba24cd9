import { expect, it } from 'vitest'
import { topicUrl } from '../../../src/core/endpoints.ts'
import { readWholeList } from '../../../src/provision/arm/read-list.ts'
import { isAllowed, readPermissions } from '../../../src/sidecar/check/checks/azure/check-permission.ts'
import { addressKind } from '../../../src/sidecar/check/checks/check-dns.ts'
import { caseDifferences, type EventFilter, refusals } from '../../../src/sidecar/check/judge/filter-event.ts'
import { type Finding, failed, joined, ok, warning } from '../../../src/sidecar/check/report/finding.ts'

it.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['10.1.2.3', 'private'],
  ['172.31.0.1', 'private'],
  ['172.32.0.1', 'public'],
  ['100.64.0.1', 'private'],
  ['fd00::1', 'private'],
  ['fe80::1', 'private'],
  ['20.50.1.2', 'public'],
  ['2603:1020::1', 'public'],
])('knows that %s is %s', (address, kind) => expect(addressKind(address)).toBe(kind))

const write = 'Microsoft.EventGrid/eventSubscriptions/write'

it.each<[name: string, is: boolean, ...roles: unknown[]]>([
  ['the action itself, in any letter case', true, { actions: ['microsoft.eventgrid/EVENTSUBSCRIPTIONS/write'] }],
  ['a star at the end', true, { actions: ['Microsoft.EventGrid/*'] }],
  ['a star alone', true, { actions: ['*'] }],
  ['stars in the middle', true, { actions: ['Microsoft.*/*/write'] }],
  ['reading', false, { actions: ['*/read'] }],
  ['a role that excepts it', false, { actions: ['*'], notActions: ['Microsoft.EventGrid/*/Write'] }],
  ['another role that does not', true, { actions: ['*'], notActions: ['*/write'] }, { actions: [write] }],
  ['actions on data', false, { dataActions: [write] }],
  ['nonsense', false, null, 7, { actions: 'x' }],
])('counts as permission to write or not: %s', (_name, is, ...roles) => {
  expect(isAllowed(readPermissions(roles), write)).toBe(is)
})

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

it.each(filters)('judges a CloudEvent by %s', (_name, filter, passes) => {
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

it('knows where a topic of Azure is at an emulator', () => {
  const topics = 'https://127.0.0.1:4430'
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net/api/events', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  // A dot at the end names the same host, whose topic a rehearsal must not reach.
  expect(topicUrl('https://orders.westeurope-1.eventgrid.azure.net./api/events', { topics })).toBe(
    `${topics}/topics/orders/api/events`,
  )
  expect(topicUrl('https://topic.example.com/x', { topics })).toBe('https://topic.example.com/x')
  expect(topicUrl('https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish', { topics })).toBe(
    `${topics}/namespaces/shop/topics/orders:publish`,
  )
})

it('reads all pages of a list, and fails where there are too many of them', async () => {
  const asked: string[] = []
  const next = 'https://management.azure.com/next?api-version=1&page=2'
  const pages = [{ value: [1], nextLink: next }, { value: [2] }]
  const get = async (path: string) => pages[asked.push(path) - 1]
  expect(await readWholeList(get, '/scope', 'permissions')).toEqual([1, 2])
  expect(asked).toEqual(['/scope', next])
  const endless = async () => ({ value: [{}], nextLink: next })
  const failure = { kind: 'answerUnread', message: 'the list of permissions has more than 100 pages' }
  await expect(readWholeList(endless, '/scope', 'permissions')).rejects.toMatchObject({ failure })
})

it.each([[], { value: 5 }, { value: [], error: {} }, { value: [], nextLink: 5 }])(
  'takes %j for no list',
  async (page) => {
    await expect(readWholeList(async () => page, '/scope', 'permissions')).rejects.toMatchObject({
      failure: { kind: 'answerUnread', message: 'it is not a list of permissions' },
    })
  },
)

it.each<{ readonly name: string; readonly given: readonly Finding[]; readonly is: object }>([
  { name: 'all that is well', given: [ok('a'), ok('b')], is: { status: 'ok', detail: 'a\nb' } },
  {
    name: 'what failed, and what is a warning beside it',
    given: [warning('w', { remedy: 'r' }), ok('a'), failed('f', { remedy: 'r', belongsTo: 'azure/scope' })],
    is: { status: 'failed', detail: 'f\nw', remedy: 'r', belongsTo: 'azure/scope' },
  },
])('joins findings: $name', ({ given, is }) => expect(joined(given)).toMatchObject(is))
