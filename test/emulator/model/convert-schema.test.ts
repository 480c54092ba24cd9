import { describe, expect, it } from 'vitest'
import { canConvert, deliveredForm } from '../../../src/emulator/model/events/convert-schema.ts'
import { eventOf } from '../../../src/emulator/model/events/event-text.ts'
import type { DeliverySchema, InputSchema } from '../../../src/emulator/model/resources/model.ts'

const grid = 'EventGridSchema'
const cloud = 'CloudEventSchemaV1_0'

describe('conversions', () => {
  it.each<{ from: InputSchema; to: DeliverySchema; allowed: boolean }>([
    { from: grid, to: grid, allowed: true },
    { from: grid, to: cloud, allowed: true },
    { from: grid, to: 'CustomInputSchema', allowed: false },
    { from: cloud, to: cloud, allowed: true },
    { from: cloud, to: grid, allowed: false },
    { from: cloud, to: 'CustomInputSchema', allowed: false },
    { from: 'CustomEventSchema', to: grid, allowed: true },
    { from: 'CustomEventSchema', to: cloud, allowed: true },
    { from: 'CustomEventSchema', to: 'CustomInputSchema', allowed: true },
  ])('$from to $to: $allowed', ({ from, to, allowed }) => expect(canConvert(from, to)).toBe(allowed))
})

const event = {
  id: '1',
  topic: '/subscriptions/1',
  subject: 's',
  eventType: 'T',
  eventTime: '2026-01-05T14:07:09.1234567Z',
  dataVersion: '2.0',
  metadataVersion: '1',
}

it('an Event Grid event becomes a CloudEvent with exactly these attributes, its time unchanged', () => {
  const body = { ...event, data: { a: [1, null] } }
  expect(deliveredForm({ schema: grid, body: eventOf(body) }, cloud).value).toEqual({
    specversion: '1.0',
    id: '1',
    source: '/subscriptions/1',
    type: 'T',
    subject: 's',
    time: '2026-01-05T14:07:09.1234567Z',
    data: { a: [1, null] },
  })
})

it.each([{ data: null }, { data: 0 }, { data: '' }, { data: false }])('data of $data is kept', ({ data }) => {
  expect(deliveredForm({ schema: grid, body: eventOf({ ...event, data }) }, cloud).value).toHaveProperty('data', data)
})

it('an event without data has none afterwards', () => {
  expect(deliveredForm({ schema: grid, body: eventOf(event) }, cloud).value).not.toHaveProperty('data')
})

it('a CloudEvent goes out as it came in, extensions and all', () => {
  const body = { specversion: '1.0', id: '1', source: '/s', type: 't', ext: 'x', data_base64: 'AA==' }
  expect(deliveredForm({ schema: cloud, body: eventOf(body) }, cloud).value).toEqual(body)
})
