import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toEvents } from '../../src/publisher/events.ts'
import { bodies, bytes, cloud, context, grid, refusal } from './sample-events.ts'

const made = {
  specversion: '1.0',
  id: 'new-id',
  source: 'https://topic.example/api/events',
  type: 'eventgrid-binding.create',
  time: '2026-03-11T08:00:00.123Z',
}

describe('a payload that is whole events goes as it stands', () => {
  const two = [cloud, { ...cloud, id: '2' }]
  const binary = { ...cloud, data_base64: 'AAE=' }
  const leapSecond = { ...cloud, time: '2016-12-31T23:59:60.1234567-08:00' }

  it.each<[name: string, payload: unknown, expected?: readonly object[]]>([
    ['a CloudEvent', cloud],
    ['an event of the Event Grid schema', grid],
    ['a CloudEvent as text', JSON.stringify(cloud), [cloud]],
    ['a CloudEvent as bytes', bytes(` \n${JSON.stringify(cloud)}`), [cloud]],
    ['bytes with a byte order mark', bytes(`\uFEFF${JSON.stringify(cloud)}`), [cloud]],
    ['an array of CloudEvents', two, two],
    ['an array of Event Grid events as bytes', bytes(JSON.stringify([grid])), [grid]],
    ['an array with a toJSON', Object.assign([1], { toJSON: () => cloud }), [cloud]],
    ['an object with a toJSON', { toJSON: () => cloud }, [cloud]],
    ['binary data', binary],
    ['bytes as data', { ...cloud, data: new Uint8Array([0, 1]) }, [binary]],
    [
      'bytes as data of two',
      two.map((one) => ({ ...one, data: Buffer.from([0, 1]) })),
      [binary, { ...binary, id: '2' }],
    ],
    ['a toJSON before bytes as data', { ...cloud, data: Buffer.from('x'), toJSON: () => cloud }, [cloud]],
    ['data null', { ...cloud, data: null }],
    ['an attribute not set', { ...cloud, subject: null }],
    ['time beyond ms', leapSecond],
    ['topic and metadataVersion', { ...grid, topic: '/t', metadataVersion: '1' }],
    ['an eventTime without a zone', { ...grid, eventTime: '2026-03-11T08:00:00.1234567' }],
  ])('%s', (_name, payload, expected = [Object(payload)]) => {
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

  const reason = 'MaxDeliveryAttemptsExceeded'
  const camelCase = {
    ...{ deadLetterReason: reason, deliveryAttempts: 3, lastDeliveryOutcome: 'NotFound', lastHttpStatusCode: 404 },
    ...{ publishTime: 'x', lastDeliveryAttemptTime: 'x' },
  }
  const lowerCase = Object.fromEntries(Object.entries(camelCase).map(([name, value]) => [name.toLowerCase(), value]))

  it.each([
    { schema: 'CloudEvents', event: cloud, added: lowerCase },
    { schema: 'Event Grid', event: { ...grid, topic: '/t', metadataVersion: '1' }, added: camelCase },
  ])('without the dead-letter fields, where it is a dead letter of the $schema schema', ({ event, added }) => {
    expect(bodies([{ ...event, ...added }])).toEqual([event])
    const { deadletterreason: _, deadLetterReason: __, ...others }: Record<string, unknown> = added
    expect(bodies({ ...event, ...others })).toEqual([{ ...event, ...others }])
  })

  const properties = { deadletterreason: 'x', deliveryattempts: 3, deliveryresult: 'y', publishutc: 'z' }
  const lock = { lockToken: 'x', deliveryCount: 1 }
  const event =
    '{"specversion":"1.0","id":"w","source":"/s","type":"t","event":"x","data":{"total":1.0,"\\u0061":12345678901234567}}'

  it.each([
    { form: 'around it', members: { deadletterProperties: properties }, around: true },
    { form: 'beside it', members: { deadletterProperties: properties }, around: false },
    { form: 'around it, as the prose has it', members: { brokerProperties: properties }, around: true },
    {
      form: 'beside it, in two places',
      members: { brokerProperties: lock, deadletterProperties: properties },
      around: false,
    },
    { form: 'in another letter case', members: { deadLetterProperties: { deadLetterReason: 'x' } }, around: true },
  ])('out of a dead letter of a namespace topic, to the byte: $form', ({ members, around }) => {
    const more = JSON.stringify({ ...members, customDeliveryProperties: { region: 'west' } }).slice(1)
    const letter = around ? `{ "event" : ${event}, ${more}` : `${event.slice(0, -1)},${more}`
    const wire = (payload: unknown) => toEvents(payload, {}, context).events.map(({ json }) => json)
    expect(wire(letter)).toEqual([event])
    expect(wire(`[${letter}, ${letter},${event}]`)).toEqual([event, event, event])
  })

  it('but data that has one in it, and what a namespace gives to a reader, are data', () => {
    for (const data of [
      { event: cloud, brokerProperties: lock },
      { letters: [JSON.parse(event)] },
      { ...properties },
    ]) {
      expect(bodies(data)).toMatchObject([{ data }])
    }
  })
})

describe('a payload that is data becomes a CloudEvent', () => {
  const json = (data: unknown) => ({ datacontenttype: 'application/json', data })
  const text = (data: string) => ({ datacontenttype: 'text/plain', data })
  const binary = (data_base64: string) => ({ datacontenttype: 'application/octet-stream', data_base64 })

  it.each([
    ['an object', { a: 1 }, json({ a: 1 })],
    ['null', null, json(null)],
    ['a number', 5, json(5)],
    ['false', false, json(false)],
    ['a Date, by its toJSON', new Date(0), json('1970-01-01T00:00:00.000Z')],
    ['an array whose first element is no event', [1, cloud], json([1, cloud])],
    ['an object whose event lies deeper', { event: cloud }, json({ event: cloud })],
    ['text that parses to an object', '{"a":1}', json({ a: 1 })],
    ['bytes that parse to an array', bytes('[1,2]'), json([1, 2])],
    ['other text', 'hello', text('hello')],
    ['text that parses to a number', '5', text('5')],
    ['text with a byte order mark before JSON', '\uFEFF{"a":1}', json({ a: 1 })],
    ['empty text', '', text('')],
    ['broken JSON', '{"a":', text('{"a":')],
    ['half a surrogate pair', '\ud800', text('\ud800')],
    ['other bytes', bytes('hello'), binary('aGVsbG8=')],
    ['bytes that are not UTF-8', Buffer.from('{"a":"\xff"}', 'latin1'), binary('eyJhIjoi/yJ9')],
    ['a typed array, by its own slice', new Uint16Array([1, 0x0100, 1]).subarray(1, 2), binary('AAE=')],
    ['an ArrayBuffer', new Uint8Array([1]).buffer, binary('AQ==')],
    ['a SharedArrayBuffer', new SharedArrayBuffer(1), binary('AA==')],
    ['white space before an array', bytes(' \t\r\n[1]'), json([1])],
    ['a line before an object', 'x\n{}', text('x\n{}')],
  ])('%s', (_name, payload, expected) => {
    expect(bodies(payload)).toEqual([{ ...made, ...expected }])
  })

  it('with the attributes of the invoke metadata, whatever their case', () => {
    const time = '2020-01-01T00:00:00Z'
    const metadata = { TYPE: 't', Source: '/s', subject: 'sub', ID: 'i', time, DataSchema: 'urn:x' }
    const attributes = { type: 't', source: '/s', subject: 'sub', id: 'i', time, dataschema: 'urn:x' }
    expect(bodies(1, { ...metadata, ttlInSeconds: '5', path: '/x' })).toEqual([
      { specversion: '1.0', ...attributes, ...json(1) },
    ])
  })

  it.each(['{ "price": 1.10, "huge": 1E400, "id": 9007199254740993 }', '[ 1.0 ]'])(
    'with JSON to the byte: %s',
    (text) => {
      for (const topicSchema of ['auto', 'EventGridSchema'] as const) {
        for (const payload of [text, bytes(text), bytes(`\uFEFF${text} `)]) {
          expect(toEvents(payload, {}, { ...context, topicSchema }).events[0]?.json).toContain(`"data":${text}`)
        }
      }
    },
  )

  it('with an empty metadata value counting as absent, and what is given twice alike as given once', () => {
    expect(bodies(1, { type: '', subject: '' })).toEqual([{ ...made, ...json(1) }])
    expect(bodies(1, { type: 't', TYPE: 't' })).toEqual([{ ...made, type: 't', ...json(1) }])
  })

  it('with a thousand names in the metadata of its call', () => {
    const metadata = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`n${n}`, 'x']))
    expect(bodies(1, metadata)).toEqual([{ ...made, ...json(1) }])
  })

  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const traced = { traceparent, tracestate: 'a=b' }
  const zeros = (count: number) => '0'.repeat(count)

  it.each<[name: string, metadata: Record<string, string>, expected?: object]>([
    ['a real traceparent with its tracestate', traced, traced],
    ['no traceparent of zeros', { ...traced, traceparent: `00-${zeros(32)}-${zeros(16)}-00` }],
    ['no trace id of zeros', { traceparent: `00-${zeros(32)}-00f067aa0ba902b7-01` }],
    ['no parent id of zeros', { traceparent: `${traceparent.slice(0, 36)}${zeros(16)}-01` }],
    ['no traceparent of version ff', { traceparent: `ff${traceparent.slice(2)}` }],
    ['no traceparent that is none', { traceparent: 'x' }],
    ['no tracestate alone', { tracestate: 'a=b' }],
  ])('with %s', (_name, metadata, expected = {}) => {
    expect(bodies(1, metadata)).toEqual([{ ...made, ...expected, ...json(1) }])
  })
})

describe('with topicSchema EventGridSchema', () => {
  const more = { topicSchema: 'EventGridSchema' }

  it('data becomes an event of the Event Grid schema', () => {
    expect(bodies('hello', {}, more)).toEqual([
      {
        ...{ id: 'new-id', subject: 'eventgrid-binding', eventType: 'eventgrid-binding.create' },
        ...{ eventTime: '2026-03-11T08:00:00.123Z', data: 'hello', dataVersion: '1.0' },
      },
    ])
  })

  it('metadata gives its fields, source its topic', () => {
    const time = '2020-01-01T00:00:00Z'
    expect(bodies({ a: 1 }, { type: 't', source: '/topic', subject: 's', id: 'i', time }, more)).toEqual([
      { id: 'i', topic: '/topic', subject: 's', eventType: 't', eventTime: time, data: { a: 1 }, dataVersion: '1.0' },
    ])
  })

  it('a time of the metadata needs no zone', () => {
    const time = '2026-03-11T08:00:00'
    expect(bodies(1, { time }, more)).toMatchObject([{ eventTime: time }])
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
