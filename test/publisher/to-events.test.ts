import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toEvents } from '../../src/publisher/payload/to-events.ts'
import { bodies, bytes, cloud, context, grid, refusal } from './sample-events.ts'

const made = {
  specversion: '1.0',
  id: 'new-id',
  source: 'https://topic.example/api/events',
  type: 'eventgrid-binding.create',
  time: '2026-03-11T08:00:00.123Z',
}

describe('a payload that is whole events goes as it stands', () => {
  it.each([
    { name: 'a CloudEvent', payload: cloud, expected: [cloud] },
    { name: 'an event of the Event Grid schema', payload: grid, expected: [grid] },
    { name: 'a CloudEvent as text', payload: JSON.stringify(cloud), expected: [cloud] },
    { name: 'a CloudEvent as bytes', payload: bytes(` \n${JSON.stringify(cloud)}`), expected: [cloud] },
    { name: 'bytes with a byte order mark', payload: bytes(`\uFEFF${JSON.stringify(cloud)}`), expected: [cloud] },
    {
      name: 'an array of CloudEvents',
      payload: [cloud, { ...cloud, id: '2' }],
      expected: [cloud, { ...cloud, id: '2' }],
    },
    { name: 'an array of Event Grid events as bytes', payload: bytes(JSON.stringify([grid])), expected: [grid] },
    {
      name: 'an array with a toJSON',
      payload: Object.assign([1], { toJSON: () => cloud }),
      expected: [cloud],
    },
    { name: 'an object with a toJSON', payload: { toJSON: () => cloud }, expected: [cloud] },
    { name: 'binary data', payload: { ...cloud, data_base64: 'AAE=' }, expected: [{ ...cloud, data_base64: 'AAE=' }] },
    {
      name: 'bytes as data',
      payload: { ...cloud, data: new Uint8Array([0, 1]) },
      expected: [{ ...cloud, data_base64: 'AAE=' }],
    },
    { name: 'data null', payload: { ...cloud, data: null }, expected: [{ ...cloud, data: null }] },
    { name: 'an attribute not set', payload: { ...cloud, subject: null }, expected: [{ ...cloud, subject: null }] },
    {
      name: 'time beyond ms',
      payload: { ...cloud, time: '2016-12-31T23:59:60.1234567-08:00' },
      expected: [{ ...cloud, time: '2016-12-31T23:59:60.1234567-08:00' }],
    },
    {
      name: 'topic and metadataVersion',
      payload: { ...grid, topic: '/t', metadataVersion: '1' },
      expected: [{ ...grid, topic: '/t', metadataVersion: '1' }],
    },
    {
      name: 'an eventTime without a zone',
      payload: { ...grid, eventTime: '2026-03-11T08:00:00.1234567' },
      expected: [{ ...grid, eventTime: '2026-03-11T08:00:00.1234567' }],
    },
  ])('$name', ({ payload, expected }) => {
    expect(bodies(payload, { type: 'ignored', id: 'ignored' })).toEqual(expected)
  })

  // Only what Event Grid requires is judged: what was delivered or dead-lettered once can be published again.
  it.each([
    '{ "specversion": "1.0", "id": "1", "source": "/s", "type": "t", "subject": "", "data": 1 }',
    '{"specversion":"1.0","id":"2","source":"a b","type":"t","time":"2023-09-26","correlationId":{"a":[1.10,1E400]}}',
    '{"specversion":"1.0","id":"3","source":"/s","type":"t","data_base64":null,"data":{"a":9007199254740993}}',
    '{"specversion":"1.0","id":"4","source":"/s","type":"t","sequence":4294967296,"e":1.50e2,"e":"\\u0041\\/"}',
    '{"id":"5","subject":"","eventType":"t","eventTime":"now","data":12345678901234567890,"sas_url":1,"metadataVersion":"2"}',
  ])('to the byte: %s', (text) => {
    const wire = (payload: unknown) => toEvents(payload, {}, context).events.map(({ json }) => json)
    expect(wire(text)).toEqual([text])
    expect(wire(`\uFEFF ${text}\n`)).toEqual([` ${text}\n`])
    expect(wire(bytes(`\uFEFF[ ${text} ,${text}]`))).toEqual([text, text])
  })

  it('with half of a surrogate pair written as an escape, which UTF-8 has no form for', () => {
    expect(
      toEvents(`{"specversion":"1.0","id":"1","source":"/s","type":"t","data":"\ud800"}`, {}, context).events[0]?.json,
    ).toContain('"\\ud800"')
  })

  it.each([
    {
      schema: 'CloudEvents',
      event: cloud,
      added: {
        deadletterreason: 'MaxDeliveryAttemptsExceeded',
        deliveryattempts: 3,
        lastdeliveryoutcome: 'NotFound',
        publishtime: 'x',
        lastdeliveryattempttime: 'x',
        lasthttpstatuscode: 404,
      },
    },
    {
      schema: 'Event Grid',
      event: { ...grid, topic: '/t', metadataVersion: '1' },
      added: {
        deadLetterReason: 'MaxDeliveryAttemptsExceeded',
        deliveryAttempts: 3,
        lastDeliveryOutcome: 'NotFound',
        lastHttpStatusCode: 404,
        publishTime: 'x',
        lastDeliveryAttemptTime: 'x',
      },
    },
  ])('without the dead-letter fields, where it is a dead letter of the $schema schema', ({ event, added }) => {
    expect(bodies([{ ...event, ...added }])).toEqual([event])
    const { deadletterreason: _, deadLetterReason: __, ...others }: Record<string, unknown> = added
    expect(bodies({ ...event, ...others })).toEqual([{ ...event, ...others }])
  })
})

describe('a payload that is data becomes a CloudEvent', () => {
  const json = (data: unknown) => ({ datacontenttype: 'application/json', data })
  it.each([
    { name: 'an object', payload: { a: 1 }, expected: json({ a: 1 }) },
    { name: 'null', payload: null, expected: json(null) },
    { name: 'a number', payload: 5, expected: json(5) },
    { name: 'false', payload: false, expected: json(false) },
    { name: 'a Date, by its toJSON', payload: new Date(0), expected: json('1970-01-01T00:00:00.000Z') },
    { name: 'an array whose first element is no event', payload: [1, cloud], expected: json([1, cloud]) },
    { name: 'an object whose event lies deeper', payload: { event: cloud }, expected: json({ event: cloud }) },
    { name: 'text that parses to an object', payload: '{"a":1}', expected: json({ a: 1 }) },
    { name: 'bytes that parse to an array', payload: bytes('[1,2]'), expected: json([1, 2]) },
    { name: 'other text', payload: 'hello', expected: { datacontenttype: 'text/plain', data: 'hello' } },
    { name: 'text that parses to a number', payload: '5', expected: { datacontenttype: 'text/plain', data: '5' } },
    { name: 'text with a byte order mark before JSON', payload: '\uFEFF{"a":1}', expected: json({ a: 1 }) },
    { name: 'empty text', payload: '', expected: { datacontenttype: 'text/plain', data: '' } },
    { name: 'broken JSON', payload: '{"a":', expected: { datacontenttype: 'text/plain', data: '{"a":' } },
    { name: 'half a surrogate pair', payload: '\ud800', expected: { datacontenttype: 'text/plain', data: '\ud800' } },
    {
      name: 'other bytes',
      payload: bytes('hello'),
      expected: { datacontenttype: 'application/octet-stream', data_base64: 'aGVsbG8=' },
    },
    {
      name: 'bytes that are not UTF-8',
      payload: Buffer.from('{"a":"\xff"}', 'latin1'),
      expected: { datacontenttype: 'application/octet-stream', data_base64: 'eyJhIjoi/yJ9' },
    },
    {
      name: 'a typed array, by its own slice',
      payload: new Uint16Array([1, 0x0100, 1]).subarray(1, 2),
      expected: { datacontenttype: 'application/octet-stream', data_base64: 'AAE=' },
    },
    {
      name: 'an ArrayBuffer',
      payload: new Uint8Array([1]).buffer,
      expected: { datacontenttype: 'application/octet-stream', data_base64: 'AQ==' },
    },
  ])('$name', ({ payload, expected }) => {
    expect(bodies(payload)).toEqual([{ ...made, ...expected }])
  })

  it('with the attributes of the invoke metadata, whatever their case', () => {
    const metadata = {
      TYPE: 't',
      Source: '/s',
      subject: 'sub',
      ID: 'i',
      time: '2020-01-01T00:00:00Z',
      DataSchema: 'urn:x',
    }
    expect(bodies(1, { ...metadata, ttlInSeconds: '5', path: '/x' })).toEqual([
      {
        specversion: '1.0',
        type: 't',
        source: '/s',
        subject: 'sub',
        id: 'i',
        time: '2020-01-01T00:00:00Z',
        dataschema: 'urn:x',
        datacontenttype: 'application/json',
        data: 1,
      },
    ])
  })

  it.each(['{ "price": 1.10, "huge": 1E400, "id": 9007199254740993 }', '[ 1.0 ]'])(
    'with JSON to the byte: %s',
    (text) => {
      for (const payload of [text, bytes(text), bytes(`\uFEFF${text} `)]) {
        expect(toEvents(payload, {}, context).events[0]?.json).toContain(`"data":${text}`)
      }
    },
  )

  it('with an empty metadata value counting as absent', () => {
    expect(bodies(1, { type: '', subject: '' })).toEqual([{ ...made, datacontenttype: 'application/json', data: 1 }])
  })

  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  it.each([
    {
      name: 'a real traceparent with its tracestate',
      metadata: { traceparent, tracestate: 'a=b' },
      expected: { traceparent, tracestate: 'a=b' },
    },
    {
      name: 'no traceparent of zeros',
      metadata: { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-00`, tracestate: 'a=b' },
      expected: {},
    },
    {
      name: 'no trace id of zeros',
      metadata: { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
      expected: {},
    },
    {
      name: 'no parent id of zeros',
      metadata: { traceparent: `${traceparent.slice(0, 36)}${'0'.repeat(16)}-01` },
      expected: {},
    },
    { name: 'no traceparent of version ff', metadata: { traceparent: `ff${traceparent.slice(2)}` }, expected: {} },
    { name: 'no traceparent that is none', metadata: { traceparent: 'x' }, expected: {} },
    { name: 'no tracestate alone', metadata: { tracestate: 'a=b' }, expected: {} },
  ])('with $name', ({ metadata, expected }) => {
    expect(bodies(1, metadata)).toEqual([{ ...made, ...expected, datacontenttype: 'application/json', data: 1 }])
  })
})

describe('with topicSchema EventGridSchema', () => {
  const more = { topicSchema: 'EventGridSchema' }

  it('data becomes an event of the Event Grid schema', () => {
    expect(bodies('hello', {}, more)).toEqual([
      {
        id: 'new-id',
        subject: 'eventgrid-binding',
        eventType: 'eventgrid-binding.create',
        eventTime: '2026-03-11T08:00:00.123Z',
        data: 'hello',
        dataVersion: '1.0',
      },
    ])
  })

  it('metadata gives its fields, source its topic', () => {
    const metadata = { type: 't', source: '/topic', subject: 's', id: 'i', time: '2020-01-01T00:00:00Z' }
    expect(bodies({ a: 1 }, metadata, more)).toEqual([
      {
        id: 'i',
        topic: '/topic',
        subject: 's',
        eventType: 't',
        eventTime: '2020-01-01T00:00:00Z',
        data: { a: 1 },
        dataVersion: '1.0',
      },
    ])
  })

  it.each([
    { name: 'a CloudEvent', payload: cloud, metadata: {}, says: 'topicSchema' },
    { name: 'dataschema', payload: 1, metadata: { dataschema: 'urn:x' }, says: 'dataschema' },
    { name: 'bytes that are no JSON', payload: bytes('x'), metadata: {}, says: 'bytes' },
  ])('$name is PAYLOAD_INVALID', ({ payload, metadata, says }) => {
    const error = refusal(payload, metadata, more)
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(error.message).toContain(says)
  })

  it('an Event Grid event is PAYLOAD_INVALID where topicSchema is CloudEventSchemaV1_0', () => {
    const error = refusal(grid, {}, { topicSchema: 'CloudEventSchemaV1_0' })
    expect(error).toMatchObject({ code: 'PAYLOAD_INVALID', details: { field: 'topicSchema' } })
  })
})

describe('any payload', () => {
  it('is taken or refused with a code, and what is taken keeps its data', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withTypedArray: true, withMap: true, withBigInt: true }), (payload) => {
        try {
          for (const body of bodies(payload)) expect(JSON.parse(JSON.stringify(body))).toBeDefined()
        } catch (error) {
          expect(error).toMatchObject({ code: 'PAYLOAD_INVALID' })
        }
      }),
    )
  })

  it('of JSON that is no event is data as it stands, given as value, text or bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!/"(specversion|eventType)":/.test(text) && text !== '[]')
        const data = JSON.stringify(JSON.parse(text))
        expect(JSON.stringify(bodies(value)[0]?.data)).toBe(data)
        if (typeof value !== 'object' || value === null) return
        expect(JSON.stringify(bodies(text)[0]?.data)).toBe(data)
        expect(JSON.stringify(bodies(Buffer.from(text))[0]?.data)).toBe(data)
      }),
    )
  })

  it('with any extensions and data comes out attribute by attribute', () => {
    const names = fc.stringMatching(/^x[a-z0-9]{0,12}$/)
    const values = fc.oneof(
      fc.stringMatching(/^[ -~]*$/),
      fc.boolean(),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    )
    fc.assert(
      fc.property(fc.dictionary(names, values), fc.jsonValue(), (extensions, data) => {
        const event = JSON.parse(JSON.stringify({ ...cloud, ...extensions, data }))
        expect(JSON.stringify(bodies(event)[0])).toBe(JSON.stringify(event))
      }),
    )
  })

  it('is copied, so that what the caller does to it afterwards changes nothing', () => {
    const event = { ...cloud, data: { list: [1] } }
    const [body] = bodies(event)
    event.data.list.push(2)
    expect(body).toEqual({ ...cloud, data: { list: [1] } })
  })
})
