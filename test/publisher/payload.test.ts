import { Readable, Stream, Writable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { toEvents } from '../../src/publisher/events.ts'
import { bodies, bytes, cloud, context, grid, refusal } from './sample-events.ts'

const circular: Record<string, unknown> = {}
circular.self = circular

const cloudless = { a: 1 }

function circularList(): unknown[] {
  const list: unknown[] = [{}]
  list[0] = { list }
  return list
}

/** Throws whatever it is given. */
function raise(thrown: unknown): never {
  throw thrown
}

function givenAway<View extends ArrayBufferView<ArrayBuffer>>(view: View): View {
  structuredClone(view.buffer, { transfer: [view.buffer] })
  return view
}

const getter = (get: () => unknown) => Object.defineProperty({}, 'a', { enumerable: true, get })
const epoch = '1970-01-01T00:00:00.000Z'

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

class NamedSet extends Set<number> {
  readonly title = 'a'
}

class Order {
  static readonly kind = 'order'
  readonly id = 1
  cancel() {}
}

class Totalled extends Order {
  get total() {
    return this.id * 2
  }
}

class Account {
  readonly owner = 'me'
  readonly #balance = 7
  get balance() {
    return this.#balance
  }
}

/** As some generators of code make them. */
class Named extends Order {
  get [Symbol.toStringTag]() {
    return 'Named'
  }
}

const without = (event: object, name: string) =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== name))

describe('PAYLOAD_INVALID says what is wrong:', () => {
  it.each([
    { name: 'a toJSON that gives nothing', payload: { toJSON: () => undefined }, says: 'JSON cannot express' },
    { name: 'a toJSON that gives a function', payload: { toJSON: () => () => 1 }, says: 'JSON cannot express' },
    { name: 'a toJSON that throws no error', payload: { toJSON: () => raise(undefined) }, says: 'toJSON' },
    { name: 'undefined', payload: undefined, says: 'missing' },
    { name: 'empty bytes', payload: Buffer.alloc(0), says: 'empty' },
    { name: 'an empty array', payload: [], says: 'empty array' },
    { name: 'an empty array as text', payload: ' [ ] ', says: 'empty array' },
    { name: 'a circular object', payload: circular, says: 'circular' },
    { name: 'a BigInt', payload: 1n, says: 'a bigint' },
    { name: 'bytes within data', payload: { deep: { b: new Uint8Array(1) } }, says: '"deep.b"' },
    { name: 'a Buffer within data', payload: { deep: { b: Buffer.from('x') } }, says: '"deep.b"' },
    { name: 'a Buffer within an array', payload: { list: [Buffer.from('x')] }, says: 'bytes' },
    { name: 'an ArrayBuffer', payload: { list: [new ArrayBuffer(1)] }, says: '"list[0]"' },
    { name: 'too deep an object', payload: bytes('['.repeat(1_001) + ']'.repeat(1_001)), says: 'nested' },
    { name: 'a toJSON that throws', payload: { toJSON: () => raise(new Error('SECRET')) }, says: 'toJSON' },
    { name: 'a stranger among CloudEvents', payload: [cloud, { a: 1 }], says: '[1] is an object' },
    { name: 'an event of the other schema', payload: [cloud, grid], says: '[1] is an event of the Event Grid schema' },
    { name: 'a CloudEvent without id', payload: without(cloud, 'id'), says: 'id is missing' },
    { name: 'a CloudEvent without source', payload: without(cloud, 'source'), says: 'source is missing' },
    { name: 'a CloudEvent without type', payload: [cloud, without(cloud, 'type')], says: '[1].type is missing' },
    { name: 'specversion 0.3', payload: { ...cloud, specversion: '0.3' }, says: 'specversion must be "1.0"' },
    { name: 'an empty id', payload: { ...cloud, id: '' }, says: 'id must not be empty' },
    { name: 'a number as type', payload: { ...cloud, type: 5 }, says: 'type must be a string, not a number' },
    { name: 'null as source', payload: { ...cloud, source: null }, says: 'source must be a string, not null' },
    { name: 'an Event Grid event without subject', payload: without(grid, 'subject'), says: 'subject is missing' },
    { name: 'one without eventTime', payload: without(grid, 'eventTime'), says: 'eventTime is missing' },
    { name: 'one without id', payload: without(grid, 'id'), says: 'id is missing' },
    { name: 'one of a number as eventType', payload: { ...grid, eventType: 1 }, says: 'eventType must be a string' },
  ])('$name', ({ payload, says }) => {
    const error = refusal(payload)
    expect(error.code).toBe('PAYLOAD_INVALID')
    expect(error.message).toContain(says)
    expect(error.message).not.toContain('SECRET')
    expect(error.fix).toBeTruthy()
  })

  // Made within the test, since the report of a row looks at its values.
  it.each([
    { name: 'a Blob', make: () => new Blob(['x']), says: 'Blob' },
    { name: 'a File', make: () => new File(['x'], 'a'), says: 'File' },
    { name: 'a Response', make: () => new Response('x'), says: 'Response' },
    { name: 'a Request', make: () => new Request('http://a/'), says: 'Request' },
    { name: 'a Blob with a name', make: () => Object.assign(new Blob(['x']), { filename: 'a' }), says: 'Blob' },
    { name: 'a Response with a field', make: () => Object.assign(new Response('x'), { a: 1 }), says: 'Response' },
    { name: 'a Map with a field', make: () => Object.assign(new Map([[1, 2]]), { a: 1 }), says: 'Map' },
    { name: 'a class of Set with a field', make: () => new NamedSet([1]), says: 'Set' },
    { name: 'a stream of old Node', make: () => Object.assign(new Stream(), { a: 1 }), says: 'a stream' },
    { name: 'a stream that is written', make: () => new Writable(), says: 'a stream' },
    { name: 'Headers', make: () => new Headers({ a: 'b' }), says: 'Headers' },
    { name: 'FormData', make: () => new FormData(), says: 'FormData' },
    { name: 'URLSearchParams', make: () => new URLSearchParams('a=b'), says: 'URLSearchParams' },
    { name: 'a web stream', make: () => new Blob(['x']).stream(), says: 'a stream' },
    { name: 'a stream of Node', make: () => Readable.from(['x']), says: 'a stream' },
    { name: 'an async generator', make: () => (async function* () {})(), says: 'a stream' },
    { name: 'a generator', make: () => (function* () {})(), says: 'Generator' },
    { name: 'an iterator', make: () => [1][Symbol.iterator](), says: 'Iterator' },
    { name: 'an iterator helper', make: () => runInNewContext('[1].values().map(String)'), says: 'Iterator Helper' },
    { name: 'an Error', make: () => new Error('SECRET'), says: 'the kind Error' },
    {
      name: 'an Error with a code',
      make: () => Object.assign(new TypeError('x'), { code: 'E' }),
      says: 'the kind Error',
    },
    { name: 'a DOMException', make: () => new DOMException('x'), says: '' },
    { name: 'a RegExp', make: () => /x/, says: 'RegExp' },
    { name: 'a WeakMap', make: () => new WeakMap(), says: 'WeakMap' },
    { name: 'a WeakRef', make: () => new WeakRef({}), says: 'WeakRef' },
    { name: 'an AbortSignal', make: () => AbortSignal.abort(), says: 'AbortSignal' },
    { name: 'a function', make: () => () => 1, says: 'a function' },
    { name: 'a symbol', make: () => Symbol('s'), says: 'a symbol' },
    { name: 'a promise', make: () => Promise.resolve(1), says: 'the kind Promise' },
    { name: 'a thenable', make: () => Object.fromEntries([['then', () => {}]]), says: 'a function', inside: '.then' },
    { name: 'a BigInt', make: () => 1n, says: 'a bigint' },
    { name: 'a boxed BigInt', make: () => Object(1n), says: 'BigInt' },
    { name: 'a circular object', make: () => circular, says: 'circular', inside: '.self' },
    { name: 'a circle through an array', make: circularList, says: 'circular', inside: '[0].list' },
    { name: 'a getter that throws', make: () => getter(() => raise(new Error('SECRET'))), says: 'fails', inside: '.a' },
    { name: 'a getter that throws no error', make: () => getter(() => raise(undefined)), says: 'fails', inside: '.a' },
    { name: 'a toJSON that throws', make: () => ({ toJSON: () => raise(new Error('SECRET')) }), says: 'fails' },
    { name: 'a proxy that throws', make: () => new Proxy({}, { ownKeys: raise }), says: 'fails' },
    { name: 'a boxed symbol', make: () => Object(Symbol('s')), says: 'Symbol' },
    {
      name: 'a class with private fields only',
      make: () =>
        new (class {
          #a = 1
          a() {
            return this.#a
          }
        })(),
      says: 'an object without fields',
    },
    {
      name: 'a class with a getter and no fields',
      make: () =>
        new (class {
          get total() {
            return 2
          }
        })(),
      says: 'an object without fields',
    },
    { name: 'a class with a name of its own and no fields', make: () => Object.create(Named.prototype), says: 'Named' },
    {
      name: 'an object with inherited values only',
      make: () => Object.create({ a: 1 }),
      says: 'an object without fields',
    },
    {
      name: 'a class whose field is hidden',
      make: () => Object.defineProperty(new (class Empty {})(), 'hidden', { value: 1 }),
      says: 'an object without fields',
    },
    {
      name: 'an object without prototype whose field is hidden',
      make: () => Object.create(null, { hidden: { value: 1 } }),
      says: 'an object without fields',
    },
    {
      name: 'a proxy of a class with a getter only',
      make: () => new Proxy(Object.create(Totalled.prototype), {}),
      says: 'an object without fields',
    },
    { name: 'a proxy of a Map', make: () => new Proxy(new Map(), {}), says: 'Map' },
    {
      name: 'a toJSON that gives nothing',
      make: () => ({ toJSON: () => undefined }),
      says: 'toJSON that returns nothing',
    },
  ])('$name, with its place, at any depth', ({ make, says, inside = '' }) => {
    const rows = [
      { payload: { list: [{ 'a b': make() }] }, place: 'list[0].a b' },
      { payload: [cloud, { ...cloud, data: { deep: make() } }], place: '[1].data.deep' },
      { payload: { toJSON: () => ({ inner: make() }) }, place: 'inner' },
    ]
    for (const { payload, place } of rows) {
      const error = refusal(payload)
      expect(error.code).toBe('PAYLOAD_INVALID')
      expect(error.message).toContain(says)
      expect(error.message).toContain(`at "${place}${inside}"`)
      expect(error.message).not.toContain('SECRET')
      expect(error.fix).toContain('plain JSON data')
    }
    expect(refusal(make()).code).toBe('PAYLOAD_INVALID')
  })

  it.each([
    { name: 'what JSON writes as null', payload: [Number.NaN, undefined, new Date('x')], data: [null, null, null] },
    { name: 'what an array has beside its elements', payload: { a: 'ab'.match(/b/) }, data: { a: ['b'] } },
    { name: 'a member that is named by a symbol', payload: { a: 1, [Symbol('s')]: 2 }, data: { a: 1 } },
    { name: 'one object twice', payload: [cloudless, { again: cloudless }], data: [{ a: 1 }, { again: { a: 1 } }] },
    { name: 'undefined, which everybody leaves out', payload: { a: undefined, b: 1 }, data: { b: 1 } },
    { name: 'an empty object', payload: { a: {} }, data: { a: {} } },
    { name: 'an object without prototype', payload: { a: Object.create(null) }, data: { a: {} } },
    { name: 'an object of another realm', payload: runInNewContext('({ a: { } })'), data: { a: {} } },
    { name: 'a class with fields', payload: { a: new Order() }, data: { a: { id: 1 } } },
    { name: 'boxed values', payload: [Object(1), Object('s'), Object(false)], data: [1, 's', false] },
    { name: 'what has a toJSON', payload: [new Date(0), new URL('http://a/')], data: [epoch, 'http://a/'] },
    {
      name: 'methods, static members and what is hidden from Object.keys',
      payload: Object.defineProperty(new Order(), 'hidden', { value: 1 }),
      data: { id: 1 },
    },
    { name: 'a class with a getter, which is left out', payload: { a: new Totalled() }, data: { a: { id: 1 } } },
    { name: 'a class with a name of its own', payload: { a: new Named() }, data: { a: { id: 1 } } },
    { name: 'a class below it', payload: new (class extends Totalled {})(), data: { id: 1 } },
    { name: 'a class with a private field too', payload: new Account(), data: { owner: 'me' } },
    { name: 'an inherited value', payload: Object.assign(Object.create({ a: 1 }), { b: 2 }), data: { b: 2 } },
    { name: 'a proxy of a class', payload: new Proxy(new Totalled(), {}), data: { id: 1 } },
    { name: 'a class that has nothing', payload: { a: new (class Empty {})() }, data: { a: {} } },
    { name: 'a class below one that has nothing', payload: new (class extends class {} {})(), data: {} },
    {
      name: 'a getter of a class with a toJSON',
      payload: new (class extends Totalled {
        toJSON = () => ({ id: this.id, total: this.total })
      })(),
      data: { id: 1, total: 2 },
    },
    { name: 'a getter of the object itself', payload: getter(() => 2), data: { a: 2 } },
    { name: 'a proxy of plain data', payload: new Proxy({ a: [new Proxy([1], {})] }, {}), data: { a: [[1]] } },
  ])('but not $name', ({ payload, data }) => {
    expect(bodies(payload)[0]?.data).toEqual(data)
  })

  // Made within the test, since the report of a row looks at its values.
  it.each([
    { name: 'a proxy that throws', make: () => new Proxy({}, { get: raise, getPrototypeOf: raise, ownKeys: raise }) },
    { name: 'a revoked proxy', make: revokedProxy },
    { name: 'an array that throws', make: () => new Proxy([], { get: raise }) },
    { name: 'a getter that throws', make: () => getter(() => raise(1)) },
    { name: 'a buffer given away', make: () => givenAway(new Uint8Array(3)) },
    { name: 'a view of a buffer given away', make: () => givenAway(new DataView(new ArrayBuffer(3))) },
    { name: 'a toJSON that throws a proxy', make: () => ({ toJSON: () => raise(revokedProxy()) }) },
  ])('$name', ({ make }) => {
    expect(refusal(make()).code).toBe('PAYLOAD_INVALID')
  })

  it.each([
    {
      name: 'more names than a thousand',
      metadata: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`n${n}`, ''])),
      says: '1001 names',
    },
    { name: 'a name given twice', metadata: { type: 'a', Type: 'b' }, says: 'type is given twice' },
    { name: 'a number', metadata: JSON.parse('{"Type":5}'), says: 'metadata type must be a string, not a number' },
    { name: 'null', metadata: JSON.parse('{"id":null}'), says: 'metadata id must be a string, not null' },
  ])('metadata: $name', ({ metadata, says }) => {
    expect(refusal(1, metadata)).toMatchObject({ code: 'PAYLOAD_INVALID', message: expect.stringContaining(says) })
  })

  it('every fault of an event at once', () => {
    expect(refusal({ specversion: '1.0', id: '', time: 'x', Bad: 1 })).toMatchObject({
      details: { faults: { length: 3 } },
    })
  })

  it.each([
    { events: 10, more: undefined, details: 10 },
    { events: 11, more: 'and 1 more', details: 11 },
    { events: 150, more: 'and 140 more', details: 100 },
  ])('ten faults of $events by name and the rest by number', ({ events, more, details }) => {
    const error = refusal(Array.from({ length: events }, () => ({ ...cloud, id: 1 })))
    expect(/and \d+ more/.exec(error.message)?.[0]).toBe(more)
    expect(error.message).toContain('[9]')
    expect(error.message).not.toContain('[10]')
    expect(error.details).toMatchObject({ faults: { length: details } })
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
