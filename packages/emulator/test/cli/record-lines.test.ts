import { expect, it } from 'vitest'
import {
  deadLetterLine,
  deliveryLine,
  figuresLine,
  handshakeLine,
  requestLines,
  warningLine,
} from '../../src/cli/record-lines.ts'

const about = {
  at: Date.UTC(2026, 0, 5, 14, 7, 9),
  subscriptionId: '/subscriptions/1/providers/Microsoft.EventGrid/eventSubscriptions/audit',
  subscriptionName: 'audit',
}
const addresses = { url: 'https://audit.example/api/events', target: 'http://127.0.0.1:3000/api/events' }
const delivery = {
  ...about,
  ...addresses,
  headers: {},
  body: '',
  eventIds: ['one'],
  eventTypes: ['order.placed'],
  deliveryCount: 0,
  outcome: 'delivered',
  durationMs: 12.4,
} as const

// The time of day is that of the machine.
const withoutTime = (line: readonly { readonly text: string }[]) =>
  line
    .map(({ text }) => text)
    .join('')
    .replace(/^\d\d:\d\d:\d\d {2}/, '')

const { url } = addresses
const at = `${url} at ${addresses.target}`
const next = (ms: number) => ({ outcome: 'retry', nextTryAt: about.at + ms }) as const

it.each<[record: Partial<Parameters<typeof deliveryLine>[0]>, line: string]>([
  [{ status: 200 }, '200  audit <- order.placed one'],
  [
    { status: 200, eventIds: ['one', 'two'], eventTypes: ['a', 'b'], deliveryCount: 2 },
    '200  audit <- 2 events  at try 3',
  ],
  [
    { target: url, status: 503, deliveryCount: 1, ...next(30_000) },
    `503  audit <- order.placed one  try 3 in 30 s  ${url}`,
  ],
  [{ error: 'ECONNREFUSED', ...next(600_000) }, `---  audit <- order.placed one  try 2 in 10 min  ${at}  ECONNREFUSED`],
  [
    { target: url, eventIds: ['5516a0f2-7c8e-4b'], status: 400, outcome: 'dropped' },
    `400  audit <- order.placed 5516a0f2…  given up after 1 try, dropped  ${url}`,
  ],
])('says of the delivery %j', (record, line) =>
  expect(withoutTime(deliveryLine({ ...delivery, ...record }))).toBe(line),
)

it.each([
  [{ status: 200, outcome: 'validated' }, `200  handshake audit  OPTIONS ${at}  validated`],
  [
    { status: 503, outcome: 'failed', message: 'no consent' },
    `503  handshake audit  OPTIONS ${at}  failed  no consent`,
  ],
] as const)('says of the handshake %j', (record, line) => {
  const whole = { ...about, ...addresses, method: 'OPTIONS', requestHeaders: {}, ...record } as const
  expect(withoutTime(handshakeLine(whole))).toBe(line)
})

const one = { count: 1, first: [{ type: 'order.placed', id: 'one' }] }
const request = {
  at: about.at,
  route: 'topic',
  method: 'POST',
  url: '/',
  headers: {},
  status: 200,
  requestId: '1',
} as const

const topic = 'orders'

it.each<[name: string, record: Partial<Parameters<typeof requestLines>[0]>, line?: string]>([
  [
    'a refused publish',
    { status: 401, code: 'Unauthorized', message: 'No key.', publish: { topic } },
    '401  publish to orders  Unauthorized: No key.',
  ],
  [
    'a blob whose event goes nowhere',
    { route: 'blob', status: 201, publish: { topic: 'acc', events: one, unwanted: one } },
    '201  blobs of acc  order.placed one  no event subscription takes it',
  ],
  [
    'a call that did not reach Azurite',
    { route: 'blob', status: 502, code: 'AzuriteUnavailable', message: 'No answer.', publish: { topic: 'acc' } },
    '502  blobs of acc  AzuriteUnavailable: No answer.',
  ],
  ['a later publish', { publish: { topic, events: one } }],
  [
    'events that go nowhere',
    { publish: { topic, events: one, unwanted: { count: 2, first: one.first } } },
    '200  publish to orders  2 events  no event subscription takes it',
  ],
  [
    'what a receiver got',
    { receive: { topic, subscriptionName: 'app', events: one, deliveryCount: 2 } },
    'pull app <- order.placed one  at try 2',
  ],
  ['any other request', {}],
])('says of a request: %s', (_name, record, line) =>
  expect(requestLines({ ...request, ...record }, false).map(withoutTime)).toEqual(line === undefined ? [] : [line]),
)

it('says of the first publish to a topic that it is that', () => {
  const lines = requestLines({ ...request, publish: { topic, events: one } }, true)
  expect(lines.map(withoutTime)).toEqual(['200  publish to orders  order.placed one  the first to this topic'])
  const ofBlob = requestLines({ ...request, route: 'blob', publish: { topic: 'acc', events: one } }, true)
  expect(ofBlob.map(withoutTime)).toEqual(['200  blobs of acc  order.placed one  the first of this account'])
})

it.each([
  [
    { blobPath: 'dead/AUDIT/2026/1/5/14/1.json', events: [{}], reasons: ['MaxDeliveryAttemptsExceeded'] },
    'lost audit gave up 1 event  dead-lettered to dead/AUDIT/2026/1/5/14/1.json  MaxDeliveryAttemptsExceeded',
  ],
  [
    { events: [{}, {}], reasons: ['TimeToLiveExceeded', 'Rejected'] },
    'lost audit gave up 2 events  dropped  TimeToLiveExceeded',
  ],
])('says where events went that were given up: %j', (record, line) =>
  expect(withoutTime(deadLetterLine({ ...about, ...record }))).toBe(line),
)

it('sums up in one line, and mentions drops only where there are some', () => {
  const figures = { perSecond: 1234.5, pending: 2, delivered: 3000, deadLettered: 1, dropped: 0, refused: 0 }
  expect(figuresLine(figures)).toBe('1,235 events/s, 2 pending, 3,000 delivered, 1 dead-lettered')
  expect(figuresLine({ ...figures, dropped: 4 })).toMatch(/, 4 dropped$/)
  expect(figuresLine({ ...figures, refused: 1 })).toMatch(/, 1 publish refused$/)
})

it('shows a warning about an event subscription', () => {
  const record = { ...about, message: 'The emulator does not deliver to destinations of the type EventHub.' }
  expect(withoutTime(warningLine(record))).toBe(`warn audit  ${record.message}`)
})
