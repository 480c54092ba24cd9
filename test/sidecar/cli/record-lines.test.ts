import { expect, it } from 'vitest'
import {
  deadLetterLine,
  deliveryLine,
  figuresLine,
  handshakeLine,
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
  deliveryCount: 0,
  outcome: 'delivered',
  durationMs: 12.4,
} as const

// The time of day is that of the machine.
const withoutTime = (line: string) => line.replace(/^\d\d:\d\d:\d\d /, '')

it.each([
  {
    name: 'what was delivered',
    record: { ...delivery, status: 200 },
    line: 'delivery audit event one https://audit.example/api/events at http://127.0.0.1:3000/api/events 200 delivered 12 ms',
  },
  {
    name: 'a batch, and no ingress',
    record: { ...delivery, target: delivery.url, status: 200, eventIds: ['one', 'two'] },
    line: 'delivery audit 2 events https://audit.example/api/events 200 delivered 12 ms',
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
    line: 'delivery audit event one https://audit.example/api/events 503 retry in 30 s (try 2) 12 ms',
  },
  {
    name: 'a subscriber that is not there',
    record: {
      ...delivery,
      target: delivery.url,
      error: 'ECONNREFUSED',
      outcome: 'retry',
      nextTryAt: about.at + 600_000,
    },
    line: 'delivery audit event one https://audit.example/api/events ECONNREFUSED retry in 10 min 12 ms',
  },
] as const)('says of a delivery: $name', ({ record, line }) => expect(withoutTime(deliveryLine(record))).toBe(line))

it.each([
  {
    name: 'validated',
    record: { status: 200, outcome: 'validated' },
    line: 'handshake audit OPTIONS https://audit.example/api/events at http://127.0.0.1:3000/api/events 200 validated',
  },
  {
    name: 'failed',
    record: { status: 503, outcome: 'failed', message: 'no consent' },
    line: 'handshake audit OPTIONS https://audit.example/api/events at http://127.0.0.1:3000/api/events 503 failed: no consent',
  },
] as const)('says of a handshake: $name', ({ record, line }) => {
  const whole = { ...about, ...addresses, method: 'OPTIONS', requestHeaders: {}, ...record } as const
  expect(withoutTime(handshakeLine(whole))).toBe(line)
})

it.each([
  {
    name: 'a blob',
    record: {
      blobPath: 'dead/AUDIT/2026/1/5/14/1.json',
      events: [{ deadletterreason: 'MaxDeliveryAttemptsExceeded' }],
    },
    line: 'given up audit 1 event dead-lettered to dead/AUDIT/2026/1/5/14/1.json: MaxDeliveryAttemptsExceeded',
  },
  {
    name: 'nowhere',
    record: { events: [{ deadLetterReason: 'TimeToLiveExceeded' }, {}] },
    line: 'given up audit 2 events dropped: TimeToLiveExceeded',
  },
])('says where events went that were given up: $name', ({ record, line }) =>
  expect(withoutTime(deadLetterLine({ ...about, ...record }))).toBe(line),
)

it('sums up in one line, and mentions drops only where there are some', () => {
  const figures = { perSecond: 1234.5, pending: 2, delivered: 3000, deadLettered: 1, dropped: 0 }
  expect(figuresLine(figures)).toBe('1,235 events/s, 2 pending, 3,000 delivered, 1 dead-lettered')
  expect(figuresLine({ ...figures, dropped: 4 })).toMatch(/, 4 dropped$/)
})

it('shows a warning about an event subscription', () => {
  const record = { ...about, message: 'The emulator does not deliver to destinations of the type EventHub.' }
  expect(withoutTime(warningLine(record))).toBe(`warning audit: ${record.message}`)
})
