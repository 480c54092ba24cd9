import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, Readable, Stream, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import { runInNewContext } from 'node:vm'
import * as valibot from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type EventHandler, RejectEvent } from '../../src/core/event.ts'
import { cloudEventText, openListener } from '../listener/open-listener.ts'

/** Throws whatever it is given, an error or not. */
function raise(thrown: unknown): never {
  throw thrown
}

const rig = (error: Error, changes: object): unknown => Object.assign(error, changes)
const rigged = (error: Error, changes: object) => raise(rig(error, changes))
const trap = () => raise(new Error('trap'))
const hostile = <T extends object>(target: T): T => new Proxy(target, { get: trap, has: trap, getPrototypeOf: trap })

const order = { items: [{ price: '1' }] }
const zodError = () => z.object({ items: z.array(z.object({ price: z.number() })) }).safeParse(order).error
function valiError(): unknown {
  try {
    return valibot.parse(valibot.object({ items: valibot.array(valibot.object({ price: valibot.number() })) }), order)
  } catch (error) {
    return error
  }
}

function* generate() {}

async function* generateLater() {}

it('shows 120 characters of the id of an event that failed', async () => {
  const { deliver, log } = await openListener({ handler: () => raise(new Error('no')) })
  expect((await deliver(cloudEventText('i'.repeat(500)))).status).toBe(500)
  const line = log.lines.find(({ message }) => message.startsWith('the handler failed'))
  expect(line?.fields).toMatchObject({ id: `${'i'.repeat(120)}…` })
})

const secondCopy = new URL('../../src/core/event.ts', import.meta.url).href

class OwnReject extends RejectEvent {}

const ownClass = { RejectEvent: class RejectEvent extends Error {} }.RejectEvent

/** What a handler of another realm makes: a test runner's sandbox, for instance. */
const otherRealm = (code: string): unknown => runInNewContext(code)

const allSettled = (...work: Promise<unknown>[]) => Promise.allSettled(work)
const cyclic = <T extends object>(members: T) => Object.assign(members, { self: members })
const refused = () => new Response('no', { status: 503 })

class FailedResponse {
  readonly ok = false
  readonly status = 500
  readonly headers = new Map()
}

describe('a handler whose work has not ended, or whose result tells of a failure,', () => {
  it.each<[name: string, result: () => unknown, said: string]>([
    ['a function', () => () => {}, 'returned a function'],
    ['an async function', () => async () => {}, 'returned a function'],
    ['a class', () => class {}, 'returned a function'],
    ['a generator', () => generate(), 'returned an iterator'],
    ['an async generator', () => generateLater(), 'returned an async iterable'],
    ['an async iterable', () => ({ [Symbol.asyncIterator]: () => generateLater() }), 'returned an async'],
    ['an iterator', () => ({ next: () => ({ done: true }) }), 'returned an iterator'],
    ['an iterator helper', () => otherRealm('[1].values().map(String)'), 'returned an iterator'],
    ['a readable stream of Node', () => Readable.from([1]), 'returned an async iterable'],
    ['a stream that is piped', () => Readable.from(['1']).pipe(new PassThrough()), 'returned an async'],
    ['a web stream', () => new ReadableStream(), 'returned an async iterable'],
    ['an observable', () => ({ subscribe: () => ({}) }), 'returned an observable'],
    ['an array of promises', () => [Promise.resolve()], 'returned an array that holds a promise'],
    ['an array of functions', () => [1, () => {}], 'returned an array that holds a function'],
    ['a Response with an error', refused, 'a Response with the status 503'],
    ['a Response that says where to go', () => Response.redirect('http://a.example', 302), 'status 302'],
    ['a failed fetch', () => Response.error(), 'a Response with the status 0'],
    ['the response of a library like fetch', () => new FailedResponse(), 'a Response with the status 500'],
    [
      'the response of a library that has it as a stream',
      () => Object.assign(Readable.from([]), { ok: false, statusCode: 502, headers: {} }),
      'returned an async iterable',
    ],
    ['a list of responses', () => [new Response(), refused()], 'an array that holds a Response'],
    ['an Error', () => new RangeError('too much'), 'an Error (RangeError: too much)'],
    ['a RejectEvent that is returned', () => new RejectEvent('no'), 'an Error (RejectEvent: no)'],
    ['an Error of another realm', () => otherRealm('new Error("far")'), 'an Error (Error: far)'],
    ['a DOMException', () => new DOMException('no', 'AbortError'), 'an Error (AbortError: no)'],
    ['what settled badly', () => allSettled(Promise.resolve(1), Promise.reject('no')), 'that was rejected (no)'],
    [
      'settled promises of another realm',
      () => otherRealm('Promise.allSettled([Promise.reject(new Error("far"))])'),
      '(Error: far)',
    ],
    ['a promise among many members', () => [...Array(9_999).fill({}), Promise.resolve()], 'holds a promise'],
    ['an array of thenables', () => [thenable(() => raise('it must not run'))], 'holds a promise'],
    ['an array with a member that cannot be read', () => [hostile({})], 'a value that cannot be read'],
  ])('and returns %s, is not acknowledged, and the log says why', async (_name, result, said) => {
    let wrap: (value: unknown) => unknown = (value) => value
    const { deliver, log } = await openListener({ handler: () => wrap(result()) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(log.text()).toContain('TypeError: the handler returned ')
    expect(log.text()).toContain(said)
    wrap = async (value) => value
    expect((await deliver(cloudEventText('2'))).status).toBe(500)
  })

  it('may hold promises that reject later: they end no process', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    onTestFinished(() => void process.off('unhandledRejection', onUnhandled))
    const { promise: failure, reject } = Promise.withResolvers<void>()
    class Later extends Promise<void> {}
    const { deliver } = await openListener({
      handler: () => [new Error('first'), Promise.reject(new Error('at once')), failure, Later.resolve(failure)],
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

it.each<[name: string, result: () => unknown]>([
  ['a Response that is fine', () => new Response('fine')],
  ['a response of axios, whatever its status', () => axiosResponse],
  ['data like a Response, as an event may hold', () => ({ ok: false, status: 503, headers: {} })],
  ['the answer of a request, read to its end', () => readToItsEnd(Readable.from(['{}']))],
  ['a stream written and read to its end', () => readToItsEnd(new PassThrough().end('{}'))],
  [
    'a fine response of a library that has it as a stream',
    () => Object.assign(new Stream(), { ok: true, status: 201, headers: {} }),
  ],
  ["a result of one's own", () => ({ ok: false, status: 'rejected', reason: 'no stock' })],
  ['rows that were rejected', () => [{ id: 1, status: 'rejected', reason: 'no stock' }, { id: 2 }]],
  ['what settled well', () => allSettled(Promise.resolve({ a: [1] }), Promise.resolve())],
  ['an object that holds itself', () => cyclic({ a: cyclic([1, null]) })],
  ['an object with methods', () => ({ save() {}, list: [() => {}], stream: new PassThrough() })],
  ['an object of a class, which may keep promises', () => new Row()],
  [
    'an object whose getter throws',
    () => Object.defineProperty({}, 'price', { enumerable: true, get: () => raise(new Error('no price')) }),
  ],
  ['what is deeper than the members of an array', () => [[Promise.resolve(), refused()], { saved: Promise.resolve() }]],
  ['an object that holds a failure', () => ({ saved: Promise.resolve(), by: refused(), error: new Error('no row') })],
  ['a Map and a Set of promises', () => [new Map([['a', Promise.resolve()]]), new Set([Promise.resolve()])]],
  ['what settled well, with a bad Response', () => allSettled(Promise.resolve(refused()))],
  ['a timer', () => setTimeout(() => {})],
  ['a process', () => execFile(process.execPath, ['--version'])],
  ['an event emitter', () => new EventEmitter()],
  ['a writable stream', () => new Writable({ write: (_chunk, _, done) => done() })],
  ['a subscription', () => ({ unsubscribe: () => {} })],
  ['a text of an error', () => 'Error: no'],
  ['a million members', () => Array.from({ length: 1_000 }, () => Array(1_000).fill({ a: 1 }))],
  ['a list that is mostly empty', () => new Array(4_000_000_000)],
  ['bytes', () => Buffer.alloc(1_000_000)],
  [
    'a nested list',
    () => {
      let list: unknown[] = []
      for (let depth = 0; depth < 100_000; depth++) list = [list]
      return list
    },
  ],
])('a handler that returns %s has handled its event', async (_name, result) => {
  const { deliver, log } = await openListener({ handler: () => result() })
  expect((await deliver(cloudEventText('1'))).status).toBe(200)
  expect(log.text()).not.toContain('the handler')
})

it('looks at the first ten thousand members', async () => {
  const { deliver } = await openListener({ handler: () => [...Array(10_000).fill(1), refused()] })
  expect((await deliver(cloudEventText('1'))).status).toBe(200)
})

describe('what a handler throws', () => {
  it.each<[name: string, thrown: unknown, said: string]>([
    ['a text', 'the store is gone', 'the store is gone'],
    ['a text of two lines', 'one\ntwo\u001b[2J', 'one two [2J'],
    ['a long text', 'x'.repeat(5_000), `${'x'.repeat(300)}…`],
    [
      'an AggregateError',
      new AggregateError([new TypeError('a'), 'b'], 'All promises were rejected'),
      'AggregateError: All promises were rejected: TypeError: a; b',
    ],
    ['a wide AggregateError', new AggregateError(Array(9).fill('x')), 'AggregateError: x; x; x; x; x; and 4 more'],
    ['a ZodError', zodError(), 'ZodError: items.0.price: Invalid input: expected number, received string'],
    ['a ValiError', valiError(), 'ValiError: items.0.price: Invalid type: Expected number but received "1"'],
    ['an error whose issues are numbers', rig(new Error('two'), { issues: [1, 2] }), 'Error: two'],
    ['a number', 404, '404'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('no'), 'Symbol(no)'],
    ['an object', { code: 42, reason: 'no stock' }, "{ code: 42, reason: 'no stock' }"],
    ['an object that shows itself', { [inspect.custom]: () => raise('no'), a: 1 }, 'a: 1'],
    ['an array', ['no', 'stock'], "[ 'no', 'stock' ]"],
    ['a function', raise, '[Function: raise]'],
    ['an Error of another realm', otherRealm('new TypeError("far")'), 'TypeError: far'],
    ['a text with our secret', 'with client secret', 'with (redacted)'],
    ['our secret in a URL', new Error('client%20secret'), 'Error: (redacted)'],
    ['a token of somebody', 'Authorization: Bearer abcdef', 'Authorization: Bearer (redacted)'],
  ])('stands in the log, cleaned and bounded: %s', async (_name, thrown, said) => {
    const { deliver, log } = await openListener({ secrets: () => ['client secret'], handler: () => raise(thrown) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    const { fields } = log.lines.find(({ message }) => message.startsWith('the handler failed')) ?? {}
    expect(fields?.error).toContain(said)
    expect(String(fields?.error).length).toBeLessThan(310)
  })
})

describe('a handler', () => {
  it.each<[name: string, handler: EventHandler, status: number]>([
    ['returns nothing', () => undefined, 200],
    ['returns a thenable that resolves', () => thenable((resolve) => resolve(1)), 200],
    ['returns a function with a then', () => Object.assign(() => 1, promiseLike), 200],
    ['returns a thenable that fulfils and fails', () => thenable(both), 200],
    ['returns a thenable that throws', () => thenable(() => raise('no')), 500],
    ['returns what throws when it is looked at', () => hostile({}), 500],
    ['returns an object without prototype', () => Object.create(null), 200],
    ['resolves with an array of values', async () => [1, {}, [null]], 200],
    ['resolves with a Set of values', async () => new Set([1, {}]), 200],
    ['returns a document with methods of an emitter', () => ({ on() {}, emit() {} }), 200],
    ['throws at once', () => raise(new Error('no')), 500],
    ['throws undefined', () => raise(undefined), 500],
    ['rejects with undefined', () => Promise.reject(), 500],
    ['rejects with null', () => Promise.reject(null), 500],
    ['throws an error whose parts throw', () => raise(hostile(new Error('no'))), 500],
    ['rejects with an error whose parts throw', async () => raise(hostile(new Error())), 500],
    ['throws an error whose message is a symbol', () => rigged(new Error(), { message: Symbol('no') }), 500],
    ['throws a RejectEvent whose message is no text', () => rigged(new RejectEvent('no'), { message: null }), 400],
    ['throws an object that only looks like a RejectEvent', () => raise({ name: 'RejectEvent' }), 500],
    ['throws an error of its own called RejectEvent', () => rigged(new Error('no'), { name: 'RejectEvent' }), 500],
    ['throws a class of its own called RejectEvent', () => raise(new ownClass()), 500],
    ['throws a RejectEvent of its own kind', () => raise(new OwnReject('no')), 400],
    [
      'throws the RejectEvent of a second copy of the package',
      async () => {
        const copy = await import(`${secondCopy}?second`)
        expect(copy.RejectEvent).not.toBe(RejectEvent)
        throw new copy.RejectEvent('no')
      },
      400,
    ],
    [
      'changes its event, and throws',
      (event) => {
        for (const name of Object.keys(event.cloudEvent)) Reflect.deleteProperty(event.cloudEvent, name)
        event.data.fill(0)
        throw new Error('no')
      },
      500,
    ],
  ])('that %s is answered as it should be, and the next event is handled', async (_name, handler, status) => {
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
