import { execFile } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, Readable, Writable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
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
    { name: 'a web stream', result: () => new ReadableStream(), said: 'an async iterable' },
    { name: 'an observable', result: () => ({ subscribe: () => ({}) }), said: 'an observable' },
    { name: 'an old observable', result: () => ({ '@@observable': () => ({}) }), said: 'an observable' },
    { name: 'an array of promises', result: () => [Promise.resolve()], said: 'an array of work' },
    { name: 'a Set of promises', result: () => new Set([Promise.resolve()]), said: 'a collection of work' },
    { name: 'a Map of promises', result: () => new Map([['a', Promise.resolve()]]), said: 'a collection of work' },
    { name: 'a subscription', result: () => ({ unsubscribe: () => {} }), said: 'a subscription' },
    { name: 'a timer', result: () => setTimeout(() => {}), said: 'a timer, process' },
    { name: 'an immediate', result: () => setImmediate(() => {}), said: 'a timer, process' },
    { name: 'a process', result: () => execFile(process.execPath, ['--version']), said: 'a timer, process' },
    { name: 'an event emitter', result: () => new EventEmitter(), said: 'an event emitter' },
    { name: 'an array of functions', result: () => [1, () => {}], said: 'an array of work' },
  ])('with $name is not acknowledged, and the log says why', async ({ result, said }) => {
    let wrap: (value: unknown) => unknown = (value) => value
    const { deliver, log } = await openListener({ handler: () => wrap(result()) })
    expect((await deliver(cloudEventText('1'))).status).toBe(500)
    expect(log.text()).toContain(`TypeError: the handler returned ${said}`)
    wrap = async (value) => value
    expect((await deliver(cloudEventText('2'))).status).toBe(500)
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
    { name: 'resolves with an array of values', handler: async () => [1, {}, [Promise.resolve()]], status: 200 },
    { name: 'resolves with a Set of values', handler: async () => new Set([1, {}]), status: 200 },
    { name: 'resolves with a Response', handler: async () => new Response('fine'), status: 200 },
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
