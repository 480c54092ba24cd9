import { describe, expect, it } from 'vitest'
import { textOf } from '../../src/model/events/event-text.ts'
import { parseCloudEvents } from '../../src/namespaces/namespace-calls.ts'
import { order } from './open-queue.ts'

const structured = 'application/cloudevents+json; charset=utf-8'
const batch = 'application/cloudevents-batch+json'
const attributes = { 'ce-specversion': '1.0', 'ce-id': 'one', 'ce-source': '/shop', 'ce-type': 'order.placed' }
const inBinary = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed' }

const parse = (body: unknown, headers: Record<string, string | undefined> = { 'content-type': structured }) =>
  parseCloudEvents(
    headers,
    Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  )
const parsed = (...given: Parameters<typeof parse>) => parse(...given).map((event) => JSON.parse(textOf(event)))
const binary = (contentType: string) => ({ ...attributes, 'content-type': contentType })

it.each<{ form: string; body: unknown; headers?: Record<string, string>; events: readonly object[] }>([
  { form: 'a single event', body: order, events: [order] },
  {
    form: 'a media type in capitals',
    body: order,
    headers: { 'content-type': 'Application/CloudEvents+JSON ;charset=utf-8' },
    events: [order],
  },
  {
    form: 'data in base64',
    body: { ...inBinary, data_base64: 'AA==' },
    events: [{ ...inBinary, data_base64: 'AA==' }],
  },
  { form: 'data that is null', body: { ...order, data: null }, events: [{ ...order, data: null }] },
  { form: 'a time that is null', body: { ...order, time: null }, events: [{ ...order, time: null }] },
  {
    form: 'an attribute with a name of 20 characters',
    body: { ...order, a2345678901234567890: 1 },
    events: [{ ...order, a2345678901234567890: 1 }],
  },
  {
    form: 'a batch',
    body: [order, { ...order, id: 'two' }],
    headers: { 'content-type': batch },
    events: [order, { ...order, id: 'two' }],
  },
  { form: 'an empty batch', body: [], headers: { 'content-type': batch }, events: [] },
  {
    form: 'a structured event beside ce- headers, which are ignored',
    body: order,
    headers: { 'content-type': structured, ...attributes, 'ce-id': 'other' },
    events: [order],
  },
  {
    form: 'binary mode with JSON',
    body: ' {"total":1} ',
    headers: binary('application/json; charset=utf-8'),
    events: [{ ...inBinary, datacontenttype: 'application/json; charset=utf-8', data: { total: 1 } }],
  },
  {
    form: 'binary mode with JSON of a vendor',
    body: '{"total":1}',
    headers: binary('application/vnd.shop+json'),
    events: [{ ...inBinary, datacontenttype: 'application/vnd.shop+json', data: { total: 1 } }],
  },
  {
    form: 'binary mode with text',
    body: 'hello',
    headers: binary('text/plain'),
    events: [{ ...inBinary, datacontenttype: 'text/plain', data: 'hello' }],
  },
  {
    form: 'binary mode with bytes',
    body: Buffer.from([0, 255]),
    headers: binary('application/jsonish'),
    events: [{ ...inBinary, datacontenttype: 'application/jsonish', data_base64: 'AP8=' }],
  },
  {
    form: 'binary mode with bytes whose media type only ends like JSON',
    body: Buffer.from([0, 255]),
    headers: binary('x-application/json'),
    events: [{ ...inBinary, datacontenttype: 'x-application/json', data_base64: 'AP8=' }],
  },
])('takes $form', ({ body, headers, events }) => expect(parsed(body, headers)).toEqual(events))

it('keeps the digits of numbers, and marks an event of binary mode', () => {
  const text = '{"price":1.10,"id":9007199254740993}'
  const [event] = parse(text, binary('application/json'))
  expect(event).toMatchObject({ isBinary: true })
  expect(event && textOf(event)).toContain('{"id":9007199254740993,"price":1.10}')
  expect(parse(order)[0]).not.toHaveProperty('isBinary')
})

it.each([
  ['2023-11-05T10:12:46.2525140-07:00', '2023-11-05T17:12:46.252514Z'],
  ['2023-11-05T16:14:55.000Z', '2023-11-05T16:14:55Z'],
  ['2023-11-05 16:14:55.846604+00:00', '2023-11-05T16:14:55.846604Z'],
  ['2023-12-31T23:59:59.9999999-00:30', '2024-01-01T00:29:59.9999999Z'],
  ['2023-11-05t16:14:55z', '2023-11-05T16:14:55Z'],
])('writes the time %s as %s', (time, expected) =>
  expect(parsed({ ...order, time })).toEqual([{ ...order, time: expected }]),
)

describe('refuses', () => {
  const nested = JSON.stringify({ ...order, data: 'here' }).replace('"here"', '['.repeat(10_000) + ']'.repeat(10_000))
  const many = (count: number) => Array.from({ length: count }, () => order)

  it.each<{ fault: string; body: unknown; headers?: Record<string, string>; code?: string; says: string }>([
    { fault: 'an event without data', body: { ...order, data: undefined }, says: "'data' attribute is required" },
    { fault: 'another version', body: { ...order, specversion: '0.3' }, says: '`specversion` attribute must be 1.0' },
    ...['id', 'source', 'type'].flatMap((name) =>
      [undefined, '', 5].map((value) => ({
        fault: `the ${name} ${JSON.stringify(value)}`,
        body: { ...order, [name]: value },
        says: `\`${name}\` attribute is required`,
      })),
    ),
    ...['yesterday', '2023-13-01T00:00:00Z', 5].map((time) => ({
      fault: `the time ${time}`,
      body: { ...order, time },
      says: '`time` attribute is not valid',
    })),
    { fault: 'an attribute in capitals', body: { ...order, traceParent: 'x' }, says: "'traceParent' is not valid" },
    { fault: 'an attribute with a sign', body: { ...order, 'a-b': 'x' }, says: "'a-b' is not valid" },
    { fault: 'an attribute of 21 characters', body: { ...order, a23456789012345678901: 1 }, says: 'is not valid' },
    { fault: 'an attribute without a name', body: { ...order, '': 1 }, says: "'' is not valid" },
    { fault: 'a long name, which it cuts', body: { ...order, ['X'.repeat(60)]: 1 }, says: `'${'X'.repeat(50)}'` },
    { fault: 'a list as one event', body: [order], says: 'The body is not a CloudEvent.' },
    { fault: 'what is no JSON', body: '{', says: 'The body is not a CloudEvent.' },
    { fault: 'one event as a batch', body: order, headers: { 'content-type': batch }, says: 'must be a JSON array' },
    { fault: 'a number in a batch', body: [order, 1], headers: { 'content-type': batch }, says: 'is not a CloudEvent' },
    { fault: 'a faulty event in a batch', body: [order, inBinary], headers: { 'content-type': batch }, says: "'data'" },
    { fault: 'an event that is nested too deeply', body: nested, says: 'nested too deeply' },
    { fault: 'no media type', body: order, headers: attributes, says: 'CONTENT-TYPE is not provided' },
    {
      fault: 'another media type',
      body: order,
      headers: { 'content-type': 'application/json' },
      says: "'application/json' is not supported by a namespace topic",
    },
    {
      fault: 'binary mode with data that is no JSON',
      body: '{',
      headers: binary('application/json'),
      says: 'The data is not valid JSON.',
    },
    {
      fault: 'binary mode that says what the data is',
      body: '{}',
      headers: { ...binary('application/json'), 'ce-datacontenttype': 'application/json' },
      says: '`ce-datacontenttype` must not be given',
    },
    {
      fault: 'binary mode without an id',
      body: '{}',
      headers: { ...binary('application/json'), 'ce-id': '' },
      says: '`id` attribute is required',
    },
    {
      fault: '1,001 events',
      body: many(1_001),
      headers: { 'content-type': batch },
      code: 'Forbidden',
      says: '1000 events at most',
    },
    {
      fault: 'more than 1 MiB',
      body: Buffer.alloc(2 ** 20 + 1),
      code: 'Forbidden',
      says: 'The message is too large: 1048576 bytes are allowed.',
    },
  ])('$fault', ({ body, headers, code = 'BadRequest', says }) => {
    expect(() => parse(body, headers)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(says) }),
    )
  })

  it('nothing that is as large, or as much, as is allowed', () => {
    const room = 2 ** 20 - JSON.stringify({ ...order, data: '' }).length
    expect(parse({ ...order, data: 'x'.repeat(room) })).toHaveLength(1)
    expect(parse(many(1_000), { 'content-type': batch })).toHaveLength(1_000)
  })
})
