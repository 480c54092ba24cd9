import { execFile } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { Duplex, PassThrough, Readable, Stream, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EventHandler, RejectEvent } from '../../src/core/event.ts'
import { cloudEventText, openListener } from '../listener/open-listener.ts'

const hostile = <T extends object>(target: T): T =>
  new Proxy(target, {
    get: () => {
      throw new Error('trap')
    },
    has: () => {
      throw new Error('trap')
    },
    getPrototypeOf: () => {
      throw new Error('trap')
    },
  })

/** Throws whatever it is given, an error or not. */
function raise(thrown: unknown): never {
  throw thrown
}

function* generate() {}

async function* generateLater() {}

it('shows 120 characters of the id of an event that failed', async () => {
  const { deliver, log } = await openListener({ handler: () => raise(new Error('no')) })
  expect((await deliver(cloudEventText('i'.repeat(500)))).status).toBe(500)
  const line = log.lines.find(({ message }) => message.startsWith('the handler failed'))
  expect(line?.fields).toMatchObject({ id: `${'i'.repeat(120)}…` })
})

/** A stream that was read to its end, and is still written. */
async function readOfTwoWays(): Promise<Duplex> {
  const stream = new Duplex({ read: () => void stream.push(null), write: () => {} })
  await once(stream.resume(), 'end')
  return stream
}

const secondCopy = new URL('../../src/core/event.ts', import.meta.url).href

class OwnReject extends RejectEvent {}

const ownClass = { RejectEvent: class RejectEvent extends Error {} }.RejectEvent

describe('a handler that returns before its work has ended', () => {
  it.each<{ name: string; result: () => unknown; said: string }>([
    { name: 'a function', result: () => () => {}, said: 'a function' },
    { name: 'an async function', result: () => async () => {}, said: 'a function' },
    { name: 'a class', result: () => class {}, said: 'a function' },
    { name: 'a generator', result: () => generate(), said: 'an iterator' },
    { name: 'an async generator', result: () => generateLater(), said: 'an async iterable' },
    { name: 'an async iterable', result: () => ({ [Symbol.asyncIterator]: () => generateLater() }), said: 'an async' },
    { name: 'an iterator', result: () => ({ next: () => ({ done: true }) }), said: 'an iterator' },
    { name: 'an iterator helper', result: () => runInNewContext('[1].values().map(String)'), said: 'an iterator' },
    { name: 'a readable stream of Node', result: () => Readable.from([1]), said: 'an async iterable' },
    { name: 'a stream that is piped', result: () => Readable.from(['1']).pipe(new PassThrough()), said: 'an async' },
    { name: 'a writable stream', result: () => new Writable({ write: (_chunk, _, done) => done() }), said: 'a stream' },
    { name: 'a connection whose writing goes on', result: readOfTwoWays, said: 'an async iterable' },
    { name: 'a web stream', result: () => new ReadableStream(), said: 'an async iterable' },
    { name: 'an observable', result: () => ({ subscribe: () => ({}) }), said: 'an observable' },
    { name: 'an old observable', result: () => ({ '@@observable': () => ({}) }), said: 'an observable' },
    { name: 'an array of promises', result: () => [Promise.resolve()], said: 'a value that holds a promise' },
    { name: 'a Set of promises', result: () => new Set([Promise.resolve()]), said: 'a value that holds a promise' },
    {
      name: 'a Map of promises',
      result: () => new Map([['a', Promise.resolve()]]),
      said: 'a value that holds a promise',
    },
    { name: 'a subscription', result: () => ({ unsubscribe: () => {} }), said: 'a subscription' },
    { name: 'a timer', result: () => setTimeout(() => {}), said: 'a timer, process' },
    { name: 'an immediate', result: () => setImmediate(() => {}), said: 'a timer, process' },
    { name: 'a process', result: () => execFile(process.execPath, ['--version']), said: 'a timer, process' },
    { name: 'an event emitter', result: () => new EventEmitter(), said: 'an event emitter' },
    { name: 'an array of functions', result: () => [1, () => {}], said: 'a value that holds a function' },
    { name: 'an array of arrays of streams', result: () => [[new PassThrough()]], said: 'a value that holds an async' },
  ])('with $name is not acknowledged, and the log says why', async ({ result, said }) => {
    let wrap: (value: unknown) => unknown = (value) => value
    const { deliver, log } = await openListener({ handler: () => wrap(result()) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(log.text()).toContain(`TypeError: the handler returned ${said}`)
    wrap = async (value) => value
    expect((await deliver(cloudEventText('2'))).status).toBe(500)
  })
})

/** What a handler of another realm makes: a test runner's sandbox, for instance. */
const otherRealm = (code: string): unknown => runInNewContext(code)

const allSettled = (...work: Promise<unknown>[]) => Promise.allSettled(work)
const cyclic = <T extends object>(members: T) => Object.assign(members, { self: members })
const refused = () => new Response('no', { status: 503 })

describe('a handler whose result tells of a failure', () => {
  it.each<{ name: string; result: () => unknown; said: string }>([
    { name: 'a Response with an error', result: refused, said: 'a Response with the status 503' },
    {
      name: 'a Response that says where to go',
      result: () => Response.redirect('http://a.example', 302),
      said: 'status 302',
    },
    { name: 'a failed fetch', result: () => Response.error(), said: 'a Response with the status 0' },
    {
      name: 'the response of a library like fetch',
      result: () =>
        new (class {
          ok = false
          status = 500
          headers = new Map()
        })(),
      said: 'a Response with the status 500',
    },
    {
      name: 'the response of a library that has it as a stream',
      result: () => Object.assign(Readable.from([]), { ok: false, statusCode: 502, headers: {} }),
      said: 'a Response with the status 502',
    },
    { name: 'a list of responses', result: () => [new Response(), refused()], said: 'a value that holds a Response' },
    { name: 'an object with a Response', result: () => ({ saved: { by: refused() } }), said: 'holds a Response' },
    { name: 'an Error', result: () => new RangeError('too much'), said: 'an Error (RangeError: too much)' },
    { name: 'a RejectEvent that is returned', result: () => new RejectEvent('no'), said: 'an Error (RejectEvent: no)' },
    { name: 'an Error of another realm', result: () => otherRealm('new Error("far")'), said: 'an Error (Error: far)' },
    { name: 'a DOMException', result: () => new DOMException('no', 'AbortError'), said: 'an Error (AbortError: no)' },
    {
      name: 'an object with an error',
      result: () => ({ data: null, error: new Error('no row') }),
      said: 'holds an Error',
    },
    { name: 'a Map with an error', result: () => new Map([['a', [new Error('no')]]]), said: 'holds an Error' },
    {
      name: 'what settled badly',
      result: () => allSettled(Promise.resolve(1), Promise.reject('no')),
      said: 'promise that was rejected (no)',
    },
    {
      name: 'what settled badly, within',
      result: async () => ({ all: await allSettled(Promise.reject(1)) }),
      said: 'holds a settled promise that was rejected (1)',
    },
    {
      name: 'what settled well with a bad Response',
      result: () => allSettled(Promise.resolve(refused())),
      said: 'holds a Response',
    },
    {
      name: 'settled promises of another realm',
      result: () => otherRealm('Promise.allSettled([Promise.reject(new Error("far"))])'),
      said: '(Error: far)',
    },
    {
      name: 'an object with a promise',
      result: () => ({ saved: Promise.resolve() }),
      said: 'a value that holds a promise',
    },
    {
      name: 'an array of arrays with a promise',
      result: () => [[Promise.resolve()]],
      said: 'a value that holds a promise',
    },
    {
      name: 'a promise in an object without prototype',
      result: () => Object.assign(Object.create(null), { a: [Promise.resolve()] }),
      said: 'holds a promise',
    },
    {
      name: 'a promise in an object of another realm',
      result: () => otherRealm('({ saved: Promise.resolve() })'),
      said: 'holds a promise',
    },
    {
      name: 'an object with a thenable',
      result: () => ({ query: thenable(() => raise('it must not run')) }),
      said: 'holds a promise',
    },
    {
      name: 'an object that holds itself and a promise',
      result: () => cyclic({ a: [{ b: Promise.resolve() }] }),
      said: 'holds a promise',
    },
    {
      name: 'a promise beside a large list',
      result: () => [Array(20_000).fill({}), Promise.resolve()],
      said: 'holds a promise',
    },
    {
      name: 'an array with a member that cannot be read',
      result: () => [hostile({})],
      said: 'a value that cannot be read',
    },
    {
      name: 'a revoked proxy',
      result: () => {
        const { proxy, revoke } = Proxy.revocable({}, {})
        revoke()
        return { proxy }
      },
      said: 'a value that cannot be read',
    },
  ])('with $name is not acknowledged, and the log says why', async ({ result, said }) => {
    const { deliver, log } = await openListener({ handler: () => result() })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(log.text()).toContain('TypeError: the handler returned ')
    expect(log.text()).toContain(said)
  })

  it('may hold promises that reject later: they end no process', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
    const { promise: failure, reject } = Promise.withResolvers<void>()
    class Later extends Promise<void> {}
    const { deliver } = await openListener({
      handler: () => ({
        now: Promise.reject(new Error('at once')),
        later: [failure, [new Set([failure.then()])], new Map([['a', Later.resolve(failure)]])],
        loud: new Error('first'),
      }),
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    reject(new Error('later'))
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

async function readToItsEnd<Stream extends Readable>(stream: Stream): Promise<Stream> {
  await text(stream)
  return stream
}

class Row {
  readonly saved = Promise.resolve()
}

const axiosResponse = {
  ...{ status: 500, statusText: 'no', headers: {}, data: { ok: false } },
  config: { transformRequest: [(data: unknown) => data], validateStatus: null, env: { FormData } },
  request: new EventEmitter(),
}

it.each<{ name: string; result: () => unknown }>([
  { name: 'a Response that is fine', result: () => new Response('fine') },
  { name: 'a response of axios, whatever its status', result: () => axiosResponse },
  { name: 'data like a Response, as an event may hold', result: () => ({ ok: false, status: 503, headers: {} }) },
  { name: 'the answer of a request, read to its end', result: () => readToItsEnd(Readable.from(['{}'])) },
  { name: 'a stream written and read to its end', result: () => readToItsEnd(new PassThrough().end('{}')) },
  {
    name: 'a fine response of a library that has it as a stream',
    result: () => Object.assign(new Stream(), { ok: true, status: 201, headers: {} }),
  },
  { name: "a result of one's own", result: () => ({ ok: false, status: 'rejected', reason: 'no stock' }) },
  { name: 'rows that were rejected', result: () => [{ id: 1, status: 'rejected', reason: 'no stock' }, { id: 2 }] },
  { name: 'rows of which some look settled', result: () => [{ status: 'rejected', reason: 'no stock' }, { id: 2 }] },
  { name: 'what settled well', result: () => allSettled(Promise.resolve({ a: [1] }), Promise.resolve()) },
  { name: 'an object that holds itself', result: () => cyclic({ a: cyclic([1, null]) }) },
  { name: 'an object with methods', result: () => ({ save() {}, list: [() => {}], stream: new PassThrough() }) },
  { name: 'an object of a class, which may keep promises', result: () => new Row() },
  {
    name: 'an object whose getter throws',
    result: () => ({
      get price() {
        return raise(new Error('no price'))
      },
    }),
  },
  { name: 'a text of an error', result: () => 'Error: no' },
  { name: 'a million members', result: () => Array.from({ length: 1_000 }, () => Array(1_000).fill({ a: 1 })) },
  { name: 'a list that is mostly empty', result: () => new Array(4_000_000_000) },
  { name: 'bytes', result: () => Buffer.alloc(1_000_000) },
  {
    name: 'a nested list',
    result: () => {
      let list: unknown[] = []
      for (let depth = 0; depth < 100_000; depth++) list = [list]
      return list
    },
  },
])('a handler that returns $name has handled its event', async ({ result }) => {
  const { deliver, log } = await openListener({ handler: () => result() })
  expect((await deliver(cloudEventText('1'))).status).toBe(200)
  expect(log.text()).not.toContain('the handler')
})

it('does not look at the names of members behind the first ten thousand', async () => {
  let looks = 0
  const large = () =>
    new Proxy(
      {},
      {
        ownKeys: () => {
          looks++
          return []
        },
      },
    )
  const { deliver } = await openListener({ handler: () => [1, large(), Array(9_999).fill(1), large(), large()] })
  expect((await deliver(cloudEventText('1'))).status).toBe(200)
  expect(looks).toBe(1)
})

describe('what a handler throws', () => {
  it.each<{ name: string; thrown: unknown; said: string }>([
    { name: 'a text', thrown: 'the store is gone', said: 'the store is gone' },
    { name: 'a text of two lines', thrown: 'one\ntwo\u001b[2J', said: 'one two [2J' },
    { name: 'a long text', thrown: 'x'.repeat(5_000), said: `${'x'.repeat(300)}…` },
    { name: 'a number', thrown: 404, said: '404' },
    { name: 'undefined', thrown: undefined, said: 'undefined' },
    { name: 'null', thrown: null, said: 'null' },
    { name: 'a symbol', thrown: Symbol('no'), said: 'Symbol(no)' },
    { name: 'an object', thrown: { code: 42, reason: 'no stock' }, said: "{ code: 42, reason: 'no stock' }" },
    { name: 'an object that shows itself', thrown: { [inspect.custom]: () => raise('no'), a: 1 }, said: 'a: 1' },
    { name: 'an array', thrown: ['no', 'stock'], said: "[ 'no', 'stock' ]" },
    { name: 'a function', thrown: raise, said: '[Function: raise]' },
    { name: 'an Error of another realm', thrown: otherRealm('new TypeError("far")'), said: 'TypeError: far' },
    { name: 'a text with our secret', thrown: 'with client secret', said: 'with (redacted)' },
    { name: 'our secret in a URL', thrown: new Error('client%20secret'), said: 'Error: (redacted)' },
    { name: 'a token of somebody', thrown: 'Authorization: Bearer abcdef', said: 'Authorization: Bearer (redacted)' },
  ])('stands in the log, cleaned and bounded: $name', async ({ thrown, said }) => {
    const { deliver, log } = await openListener({ secrets: () => ['client secret'], handler: () => raise(thrown) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    const { fields } = log.lines.find(({ message }) => message.startsWith('the handler failed')) ?? {}
    expect(fields?.error).toContain(said)
    expect(String(fields?.error).length).toBeLessThan(310)
  })
})

describe('a handler', () => {
  it.each<{ name: string; handler: EventHandler; status: number }>([
    { name: 'returns nothing', handler: () => undefined, status: 200 },
    { name: 'returns a thenable that resolves', handler: () => thenable((resolve) => resolve(1)), status: 200 },
    { name: 'returns a function with a then', handler: () => Object.assign(() => 1, promiseLike), status: 200 },
    { name: 'returns a thenable that fulfils and fails', handler: () => thenable(both), status: 200 },
    { name: 'returns a thenable that throws', handler: () => thenable(() => raise('no')), status: 500 },
    { name: 'returns what throws when it is looked at', handler: () => hostile({}), status: 500 },
    { name: 'returns an object without prototype', handler: () => Object.create(null), status: 200 },
    { name: 'resolves with an array of values', handler: async () => [1, {}, [null]], status: 200 },
    { name: 'resolves with a Set of values', handler: async () => new Set([1, {}]), status: 200 },
    { name: 'returns a document with methods of an emitter', handler: () => ({ on() {}, emit() {} }), status: 200 },
    { name: 'throws at once', handler: () => raise(new Error('no')), status: 500 },
    { name: 'throws undefined', handler: () => raise(undefined), status: 500 },
    { name: 'rejects with undefined', handler: () => Promise.reject(), status: 500 },
    { name: 'rejects with null', handler: () => Promise.reject(null), status: 500 },
    { name: 'throws an error whose parts throw', handler: () => raise(hostile(new Error('no'))), status: 500 },
    { name: 'rejects with an error whose parts throw', handler: async () => raise(hostile(new Error())), status: 500 },
    {
      name: 'throws an error whose message is a symbol',
      handler: () => raise(Object.assign(new Error('no'), { message: Symbol('no') })),
      status: 500,
    },
    {
      name: 'throws a RejectEvent whose message is no text',
      handler: () => raise(Object.assign(new RejectEvent('no'), { message: null })),
      status: 400,
    },
    {
      name: 'throws an object that only looks like a RejectEvent',
      handler: () => raise({ name: 'RejectEvent' }),
      status: 500,
    },
    {
      name: 'throws an error of its own with the name of RejectEvent',
      handler: () => raise(Object.assign(new Error('no'), { name: 'RejectEvent' })),
      status: 500,
    },
    { name: 'throws a class of its own called RejectEvent', handler: () => raise(new ownClass()), status: 500 },
    { name: 'throws a RejectEvent of its own kind', handler: () => raise(new OwnReject('no')), status: 400 },
    {
      name: 'throws the RejectEvent of a second copy of the package',
      async handler() {
        const copy = await import(`${secondCopy}?second`)
        expect(copy.RejectEvent).not.toBe(RejectEvent)
        throw new copy.RejectEvent('no')
      },
      status: 400,
    },
    {
      name: 'changes its event, and throws',
      handler(event) {
        for (const name of Object.keys(event.cloudEvent)) Reflect.deleteProperty(event.cloudEvent, name)
        event.data.fill(0)
        throw new Error('no')
      },
      status: 500,
    },
  ])('that $name is answered $status, and the next event is handled', async ({ handler, status }) => {
    let calls = 0
    const { deliver, listener } = await openListener({
      input: { maxConcurrency: 1 },
      handler: (event) => (calls++ === 0 ? handler(event) : undefined),
    })
    expect((await deliver(cloudEventText('1'))).status).toBe(status)
    expect((await deliver(cloudEventText('2'))).status).toBe(200)
    expect(listener.status()).toMatchObject({ running: 0, waiting: 0 })
  })
})

const promiseLike = {
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what the test is about
  then: (resolve: (value: unknown) => void) => resolve(1),
}

function thenable(then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void): object {
  return { then }
}

function both(resolve: (value: unknown) => void, reject: (error: unknown) => void): void {
  resolve(1)
  reject(new Error('no'))
}

it('a handler that changes the metadata of an event changes that of no other event of the batch', async () => {
  const seen: (string | undefined)[] = []
  const { deliver } = await openListener({
    handler({ metadata }) {
      seen.push(metadata['aeg-subscription-name'])
      Object.assign(metadata, { 'aeg-subscription-name': 'changed' })
    },
  })
  expect((await deliver(`[${cloudEventText('1')},${cloudEventText('2')}]`)).status).toBe(200)
  expect(seen).toEqual(['ORDERS', 'ORDERS'])
})

describe('a handler that gives away the memory of its event', () => {
  const pad = 'x'.repeat(100_000)
  const texts = ['1', '2', '3'].map((id) => cloudEventText(id, { pad }))

  it.each([
    { name: 'one body each', bodies: texts },
    { name: 'a batch', bodies: [`[${texts.join()}]`] },
  ])('to another thread keeps the bytes of other events: $name', async ({ bodies }) => {
    const received: string[] = []
    const { deliver } = await openListener({
      handler({ data }) {
        const { buffer, byteOffset, length } = data
        if (!(buffer instanceof ArrayBuffer)) throw new Error('no memory of its own')
        const moved = structuredClone(buffer, { transfer: [buffer] })
        received.push(Buffer.from(moved, byteOffset, length).toString())
      },
    })
    for (const body of bodies) expect((await deliver(body)).status).toBe(200)
    expect(received).toEqual(texts)
  })

  it('in a batch that fails is called with all of its bytes again', async () => {
    let gives = true
    const { deliver, events } = await openListener({
      handler({ data: { buffer } }) {
        if (!gives || !(buffer instanceof ArrayBuffer)) return
        structuredClone(buffer, { transfer: [buffer] })
        throw new Error('no')
      },
    })
    expect((await deliver(`[${texts.join()}]`)).status).toBe(500)
    events.length = 0
    gives = false
    expect((await deliver(`[${texts.join()}]`, { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(events.map(({ data }) => data.toString())).toEqual(texts)
  })
})
