import { describe, expect, it } from 'vitest'
import { type EventHandler, RejectEvent } from '../../src/core/event.ts'
import { cloudEventText, openListener } from './open-listener.ts'

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

describe('a handler', () => {
  it.each<{ name: string; handler: EventHandler; status: number }>([
    { name: 'returns nothing', handler: () => undefined, status: 200 },
    { name: 'returns a thenable that resolves', handler: () => thenable((resolve) => resolve(1)), status: 200 },
    { name: 'returns a function with a then', handler: () => Object.assign(() => 1, promiseLike), status: 200 },
    { name: 'returns a thenable that fulfils and fails', handler: () => thenable(both), status: 200 },
    { name: 'returns a thenable that throws', handler: () => thenable(() => raise('no')), status: 500 },
    { name: 'returns what throws when it is looked at', handler: () => hostile({}), status: 500 },
    { name: 'returns an object without prototype', handler: () => Object.create(null), status: 200 },
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

describe('a handler that gives away the memory of its event', () => {
  const batch = `[${cloudEventText('1')},${cloudEventText('2')},${cloudEventText('3')}]`

  it('to another thread fails, and takes nothing of the others', async () => {
    const { deliver, events } = await openListener({
      handler: ({ data: { buffer } }) =>
        buffer instanceof ArrayBuffer && structuredClone(buffer, { transfer: [buffer] }),
    })
    expect((await deliver(batch)).status).toBe(500)
    expect(events.map(({ data }) => data.toString())).toEqual(['1', '2', '3'].map((id) => cloudEventText(id)))
    expect((await deliver(cloudEventText('4'))).status).toBe(500)
  })

  it('by transfer() has the others delivered again, none of them acknowledged unhandled', async () => {
    const handled: string[] = []
    let gives = true
    const { deliver } = await openListener({
      handler({ cloudEvent, data }) {
        handled.push(`${cloudEvent.id} ${data.length}`)
        if (gives && data.buffer instanceof ArrayBuffer) data.buffer.transfer()
      },
    })
    const { length } = cloudEventText('1')
    // Node 22 lets it happen, so that no bytes are left of 2 and 3; Node 24 does not, so that each handling fails.
    expect((await deliver(batch)).status).toBe(500)
    handled.length = 0
    gives = false
    expect((await deliver(batch, { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(handled).toEqual([`1 ${length}`, `2 ${length}`, `3 ${length}`])
  })
})
