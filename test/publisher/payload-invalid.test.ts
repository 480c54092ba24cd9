import { describe, expect, it } from 'vitest'
import { toEvents } from '../../src/publisher/payload/to-events.ts'
import { bytes, cloud, context, grid, refusal } from './sample-events.ts'

const circular: Record<string, unknown> = {}
circular.self = circular

/** Throws whatever it is given. */
function raise(thrown: unknown): never {
  throw thrown
}

function givenAway<View extends ArrayBufferView<ArrayBuffer>>(view: View): View {
  structuredClone(view.buffer, { transfer: [view.buffer] })
  return view
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const without = (event: object, name: string) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== name))

describe('PAYLOAD_INVALID says what is wrong:', () => {
  it.each([
    { name: 'a toJSON that gives nothing', payload: { toJSON: () => undefined }, says: 'JSON has no form' },
    { name: 'a toJSON that gives a function', payload: { toJSON: () => () => 1 }, says: 'JSON has no form' },
    { name: 'a toJSON that throws no error', payload: { toJSON: () => raise(undefined) }, says: 'toJSON' },
    { name: 'undefined', payload: undefined, says: 'missing' },
    { name: 'empty bytes', payload: Buffer.alloc(0), says: 'empty' },
    { name: 'an empty array', payload: [], says: 'empty array' },
    { name: 'an empty array as text', payload: ' [ ] ', says: 'empty array' },
    { name: 'a circular object', payload: circular, says: 'circular' },
    { name: 'a BigInt', payload: { a: 1n }, says: 'BigInt' },
    { name: 'a function', payload: () => 1, says: 'function' },
    { name: 'a symbol', payload: Symbol('s'), says: 'symbol' },
    { name: 'a Map, which JSON would empty', payload: { m: new Map([[1, 2]]) }, says: '"m"' },
    { name: 'a Set', payload: new Set([1]), says: 'Set' },
    { name: 'bytes within data', payload: { deep: { b: new Uint8Array(1) } }, says: '"b"' },
    { name: 'a Buffer within data', payload: { deep: { b: Buffer.from('x') } }, says: '"b"' },
    { name: 'a Buffer within an array', payload: { list: [Buffer.from('x')] }, says: 'bytes' },
    { name: 'NaN, which JSON would make null', payload: { n: Number.NaN }, says: '"n"' },
    { name: 'a promise, which JSON would empty', payload: Promise.resolve({ order: 1 }), says: 'a promise, which' },
    { name: 'a promise within data', payload: { deep: { p: Promise.resolve(1) } }, says: 'a promise at "p"' },
    { name: 'a promise as data of an event', payload: { ...cloud, data: Promise.resolve(1) }, says: '"data"' },
    { name: 'an async toJSON', payload: { toJSON: async () => ({ id: 1 }) }, says: 'a promise' },
    { name: 'an invalid Date, which JSON would make null', payload: new Date('x'), says: 'an invalid Date, which' },
    { name: 'an invalid Date within data', payload: { at: new Date(Number.NaN) }, says: 'an invalid Date at "at"' },
    { name: 'an invalid Date within an array', payload: [{ at: [new Date('x')] }], says: 'an invalid Date at "0"' },
    { name: 'too deep an object', payload: bytes('['.repeat(1_001) + ']'.repeat(1_001)), says: 'nested' },
    {
      name: 'a toJSON that throws',
      payload: {
        toJSON: () => {
          throw new Error('SECRET')
        },
      },
      says: 'toJSON',
    },
    { name: 'a stranger among CloudEvents', payload: [cloud, { a: 1 }], says: '[1] is an object' },
    {
      name: 'an event of the other schema among them',
      payload: [cloud, grid],
      says: '[1] is an event of the Event Grid schema',
    },
    { name: 'a CloudEvent without id', payload: without(cloud, 'id'), says: 'id is missing' },
    { name: 'a CloudEvent without source', payload: without(cloud, 'source'), says: 'source is missing' },
    { name: 'a CloudEvent without type', payload: [cloud, without(cloud, 'type')], says: '[1].type is missing' },
    { name: 'specversion 0.3', payload: { ...cloud, specversion: '0.3' }, says: 'specversion must be "1.0"' },
    { name: 'an empty id', payload: { ...cloud, id: '' }, says: 'id must not be empty' },
    { name: 'a number as type', payload: { ...cloud, type: 5 }, says: 'type must be a string, not a number' },
    { name: 'null as source', payload: { ...cloud, source: null }, says: 'source must be a string, not null' },
    { name: 'a source with a space', payload: { ...cloud, source: 'a b' }, says: 'source must be a URI reference' },
    { name: 'an empty subject', payload: { ...cloud, subject: '' }, says: 'subject must not be empty' },
    { name: 'a date without time', payload: { ...cloud, time: '2026-03-11' }, says: 'time must be' },
    { name: 'a time without a zone', payload: { ...cloud, time: '2026-03-11T08:00:00' }, says: 'time must be' },
    { name: 'the 30th of February', payload: { ...cloud, time: '2024-02-30T08:00:00Z' }, says: 'time must be' },
    { name: 'an object as extension', payload: { ...cloud, ext: {} }, says: 'ext must be' },
    { name: 'a fraction as extension', payload: { ...cloud, ext: 1.5 }, says: 'ext must be' },
    { name: 'an integer beyond 32 bits as extension', payload: { ...cloud, ext: 2 ** 31 }, says: 'ext must be' },
    {
      name: 'an upper-case extension name',
      payload: { ...cloud, partitionKey: 'a' },
      says: '"partitionKey" is not an attribute name',
    },
    { name: 'data and data_base64', payload: { ...cloud, data: 1, data_base64: 'AA==' }, says: 'must not both' },
    { name: 'data_base64 that is none', payload: { ...cloud, data_base64: 'A' }, says: 'data_base64 must be base64' },
    { name: 'data_base64 as a number', payload: { ...cloud, data_base64: 1 }, says: 'data_base64 must be a string' },
    { name: 'a control character', payload: { ...cloud, subject: 'a\u0000b' }, says: 'control characters' },
    { name: 'half a surrogate pair in an attribute', payload: { ...cloud, ext: '\udc00' }, says: 'surrogate' },
    {
      name: 'a datacontenttype that is none',
      payload: { ...cloud, datacontenttype: 'json' },
      says: 'datacontenttype must be',
    },
    { name: 'an Event Grid event without subject', payload: without(grid, 'subject'), says: 'subject is missing' },
    { name: 'one without eventTime', payload: without(grid, 'eventTime'), says: 'eventTime is missing' },
    { name: 'one without id', payload: without(grid, 'id'), says: 'id is missing' },
    {
      name: 'one whose eventType is no string',
      payload: { ...grid, eventType: 1 },
      says: 'eventType must be a string',
    },
    { name: 'one whose eventTime is no time', payload: { ...grid, eventTime: 'now' }, says: 'eventTime must be' },
    { name: 'one with a field Event Grid refuses', payload: { ...grid, sas_url: 'x' }, says: 'sas_url is not a field' },
    {
      name: 'metadataVersion other than 1',
      payload: { ...grid, metadataVersion: '2' },
      says: 'metadataVersion must be "1"',
    },
    { name: 'dataVersion as a number', payload: { ...grid, dataVersion: 1 }, says: 'dataVersion must be a string' },
  ])('$name', ({ payload, says }) => {
    const error = refusal(payload)
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(error.message).toContain(says)
    expect(error.message).not.toContain('SECRET')
    expect(error.fix).toBeTruthy()
  })

  it.each([
    {
      what: 'a promise',
      payload: Promise.resolve({ order: 1 }),
      fix: 'await the promise, and give the value that it resolves to',
    },
    { what: 'an invalid Date', payload: { at: new Date('x') }, fix: 'give a valid Date, or null' },
  ])('and what to do about $what', ({ payload, fix }) => {
    expect(refusal(payload).fix).toBe(fix)
  })

  // Made within the test, since the report of a row looks at its values.
  it.each([
    { name: 'a proxy that throws', make: () => new Proxy({}, { get: raise, getPrototypeOf: raise, ownKeys: raise }) },
    { name: 'a revoked proxy', make: revokedProxy },
    { name: 'an array that throws', make: () => new Proxy([], { get: raise }) },
    {
      name: 'a getter that throws',
      make: () => Object.defineProperty({}, 'a', { enumerable: true, get: () => raise(1) }),
    },
    { name: 'a buffer given away', make: () => givenAway(new Uint8Array(3)) },
    { name: 'a view of a buffer given away', make: () => givenAway(new DataView(new ArrayBuffer(3))) },
    { name: 'a toJSON that throws a proxy', make: () => ({ toJSON: () => raise(revokedProxy()) }) },
  ])('$name', ({ make }) => {
    expect(refusal(make()).code).toBe('PAYLOAD_INVALID')
  })

  it.each([
    { name: 'time', metadata: { time: 'yesterday' }, says: 'metadata time must be' },
    { name: 'a name given twice', metadata: { type: 'a', Type: 'b' }, says: 'type is given twice' },
    { name: 'a source with a space', metadata: { source: 'a b' }, says: 'metadata source must be' },
  ])('metadata: $name', ({ metadata, says }) => {
    expect(refusal(1, metadata)).toMatchObject({ code: 'PAYLOAD_INVALID', message: expect.stringContaining(says) })
  })

  it('every fault of an event at once', () => {
    expect(refusal({ specversion: '1.0', id: '', time: 'x', Bad: 1 })).toMatchObject({
      details: { faults: Array.from({ length: 5 }, () => expect.any(String)) },
    })
  })

  it('ten faults by name and the rest by number', () => {
    const error = refusal(Array.from({ length: 50 }, () => ({ ...cloud, id: 1 })))
    expect(error.message).toContain('and 40 more')
    expect(error.message).not.toContain('[10]')
  })
})

describe('the size of an event', () => {
  const eventOf = (size: number, filler: string) => {
    const room = size - Buffer.byteLength(JSON.stringify({ ...cloud, data: '' }))
    const count = Math.floor(room / Buffer.byteLength(filler))
    return { ...cloud, data: filler.repeat(count) + 'x'.repeat(room - count * Buffer.byteLength(filler)) }
  }
  it.each(['x', 'é', '世', '👋'])(
    'is counted in bytes of UTF-8: 1,048,576 of %s are taken, one more is not',
    (filler) => {
      expect(toEvents(eventOf(1_048_576, filler), {}, context).events[0]?.bytes).toBe(1_048_576)
      expect(refusal(eventOf(1_048_577, filler))).toMatchObject({
        code: 'PAYLOAD_TOO_LARGE',
        details: { ids: ['1'], bytes: 1_048_577 },
      })
    },
  )

  it('is that of what is sent: binary data counts as base64', () => {
    expect(toEvents(Buffer.alloc(700_000, 1), {}, context).events).toHaveLength(1)
    expect(refusal(Buffer.alloc(1_000_000, 1)).code).toBe('PAYLOAD_TOO_LARGE')
  })
})
