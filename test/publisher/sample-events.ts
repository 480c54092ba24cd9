import { BindingError } from '../../src/core/errors.ts'
import { toEvents } from '../../src/publisher/events.ts'

export const context = {
  topicSchema: 'auto',
  defaultSource: 'https://topic.example/api/events',
  maxEventBytes: 1_048_576,
  now: () => Date.parse('2026-03-11T08:00:00.123Z'),
  newId: () => 'new-id',
} as const

export const cloud = { specversion: '1.0', id: '1', source: '/s', type: 't' }

export const grid = {
  id: '1',
  subject: 's',
  eventType: 't',
  eventTime: '2026-03-11T08:00:00Z',
  data: { a: 1 },
  dataVersion: '1',
}

/** The events that a payload becomes, parsed from what is sent. */
export const bodies = (
  payload: unknown,
  metadata: Record<string, string> = {},
  more: object = {},
): Record<string, unknown>[] =>
  toEvents(payload, metadata, { ...context, ...more }).events.map(({ json }) => JSON.parse(json))

export function refusal(payload: unknown, metadata: Record<string, string> = {}, more: object = {}): BindingError {
  try {
    bodies(payload, metadata, more)
  } catch (error) {
    if (error instanceof BindingError) return error
    throw error
  }
  throw new Error('the payload was taken')
}

export const bytes = (text: string) => Buffer.from(text)
