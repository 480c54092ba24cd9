import { expect, it } from 'vitest'
import {
  deadLetterLine,
  deliveryLine,
  figuresLine,
  handshakeLine,
  requestLines,
  warningLine,
} from '../../../src/sidecar/cli/output/record-lines.ts'

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

it.each([
  { name: 'what was delivered', record: { ...delivery, status: 200 }, line: '200  audit <- order.placed one' },
  {
    name: 'a batch, and a long try',
    record: { ...delivery, status: 200, eventIds: ['one', 'two'], eventTypes: ['a', 'b'], deliveryCount: 2 },
    line: '200  audit <- 2 events  at try 3',
  },
  {
    name: 'a second try that failed, and when the next comes',
    record: {
      ...delivery,
      target: delivery.url,
      status: 503,
      outcome: 'retry',
      deliveryCount: 1,
      nextTryAt: about.at + 30_000,
    },
    line: '503  audit <- order.placed one  try 3 in 30 s  https://audit.example/api/events',
  },
  {
    name: 'a subscriber that is not there',
    record: { ...delivery, error: 'ECONNREFUSED', outcome: 'retry', nextTryAt: about.at + 600_000 },
    line: '---  audit <- order.placed one  try 2 in 10 min  https://audit.example/api/events at http://127.0.0.1:3000/api/events  ECONNREFUSED',
  },
  {
    name: 'an event that was given up',
    record: { ...delivery, target: delivery.url, eventIds: ['5516a0f2-7c8e-4b'], status: 400, outcome: 'dropped' },
    line: '400  audit <- order.placed 5516a0f2…  given up after 1 try, dropped  https://audit.example/api/events',
  },
] as const)('says of a delivery: $name', ({ record, line }) => expect(withoutTime(deliveryLine(record))).toBe(line))

it.each([
  {
    name: 'validated',
    record: { status: 200, outcome: 'validated' },
    line: '200  handshake audit  OPTIONS https://audit.example/api/events at http://127.0.0.1:3000/api/events  validated',
  },
  {
    name: 'failed',
    record: { status: 503, outcome: 'failed', message: 'no consent' },
    line: '503  handshake audit  OPTIONS https://audit.example/api/events at http://127.0.0.1:3000/api/events  failed  no consent',
  },
] as const)('says of a handshake: $name', ({ record, line }) => {
  const whole = { ...about, ...addresses, method: 'OPTIONS', requestHeaders: {}, ...record } as const
  expect(withoutTime(handshakeLine(whole))).toBe(line)
})

const one = { count: 1, first: [{ type: 'order.placed', id: 'one' }] }
const request = {
  at: about.at,
  face: 'topic',
  method: 'POST',
  url: '/',
  headers: {},
  status: 200,
  requestId: '1',
} as const

it.each([
  {
    name: 'a refused publish',
    record: { status: 401, code: 'Unauthorized', message: 'No key.', publish: { topic: 'orders' } },
    lines: ['401  publish to orders  Unauthorized: No key.'],
  },
  {
    name: 'the first publish to a topic',
    record: { publish: { topic: 'orders', events: one } },
    isFirst: true,
    lines: ['200  publish to orders  order.placed one  the first to this topic'],
  },
  { name: 'a later publish', record: { publish: { topic: 'orders', events: one } }, lines: [] },
  {
    name: 'events that go nowhere',
    record: { publish: { topic: 'orders', events: one, unwanted: { count: 2, first: one.first } } },
    lines: ['200  publish to orders  2 events  no event subscription takes it'],
  },
  {
    name: 'what a receiver got',
    record: { receive: { topic: 'orders', subscriptionName: 'app', events: one, deliveryCount: 2 } },
    lines: ['pull app <- order.placed one  at try 2'],
  },
  { name: 'any other request', record: {}, lines: [] },
])('says of a request: $name', ({ record, isFirst = false, lines }) =>
  expect(requestLines({ ...request, ...record }, isFirst).map(withoutTime)).toEqual(lines),
)

it.each([
  {
    name: 'a blob',
    record: {
      blobPath: 'dead/AUDIT/2026/1/5/14/1.json',
      events: [{ deadletterreason: 'MaxDeliveryAttemptsExceeded' }],
    },
    line: 'lost audit gave up 1 event  dead-lettered to dead/AUDIT/2026/1/5/14/1.json  MaxDeliveryAttemptsExceeded',
  },
  {
    name: 'nowhere',
    record: { events: [{ deadLetterReason: 'TimeToLiveExceeded' }, {}] },
    line: 'lost audit gave up 2 events  dropped  TimeToLiveExceeded',
  },
])('says where events went that were given up: $name', ({ record, line }) =>
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
