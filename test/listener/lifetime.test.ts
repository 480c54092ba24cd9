import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createRoom } from '../../src/dispatch/room.ts'
import { eventually } from '../support/eventually.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { quickenTime } from '../support/quick-time.ts'
import { cloudEventText, openListener, proof, proofLine } from './open-listener.ts'

/** A handler that a test ends by hand, and the moment when it was first called. */
function slowHandler() {
  const called = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  return {
    called: called.promise,
    end: () => end.resolve(),
    handler: () => {
      called.resolve()
      return end.promise
    },
  }
}

/** A delivery whose sender goes before the answer. */
function deliverAndLeave(origin: string, more: Record<string, string> = {}) {
  const leaving = new AbortController()
  const headers = { ...proof, 'content-type': 'application/cloudevents+json', ...more }
  const init = { method: 'POST', headers, body: cloudEventText('1'), signal: leaving.signal }
  const left = fetch(`${origin}/api/events`, init).catch(() => 'left')
  return async () => {
    leaving.abort()
    expect(await left).toBe('left')
  }
}

describe('createListener', () => {
  it('refuses an address that is not of this machine with PORT_UNAVAILABLE', async () => {
    const opening = openListener({ input: { listenAddress: '192.0.2.1' } })
    await expect(opening).rejects.toMatchObject({
      code: 'PORT_UNAVAILABLE',
      message: expect.stringContaining('192.0.2.1'),
    })
  })

  it('listens for IPv4 too when no address is named', async () => {
    const { listener, deliver } = await openListener({ input: { listenAddress: undefined } })
    expect(['::', '0.0.0.0']).toContain(listener.address.address)
    expect((await deliver(cloudEventText('1'))).status).toBe(200)
  })
})

describe('a slow handler', () => {
  it('is answered for with 503 at handlerTimeout, and called anew for the redelivery, however it ended', async () => {
    const clock = createManualClock()
    const slow = slowHandler()
    const { deliver, events } = await openListener({ handler: slow.handler, clock: clock.clock })
    const first = deliver(cloudEventText('1'))
    await slow.called
    clock.advance(24_999)
    expect(events[0]?.signal.aborted).toBe(false)
    clock.advance(1)
    expect((await first).status).toBe(503)
    expect(events[0]?.signal.reason).toMatchObject({ name: 'TimeoutError' })
    slow.end()
    expect((await deliver(cloudEventText('1'), { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(events).toHaveLength(2)
  })

  it('is answered for at handlerTimeout though the clock went back meanwhile', async () => {
    const slow = slowHandler()
    const now = Date.now
    let offset = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + offset)
    const { deliver } = await openListener({ input: { handlerTimeoutMs: 100 }, handler: slow.handler })
    const answer = deliver(cloudEventText('1'))
    await slow.called
    offset = -3_600_000
    onTestFinished(() => {
      clock.mockRestore()
      slow.end()
    })
    expect((await answer).status).toBe(503)
  })

  it.each([
    { name: 'is not begun again by the redelivery', count: '1', calls: 1 },
    { name: 'is begun again by another publication of the same event', count: '0', calls: 2 },
    { name: 'is begun again where nothing tells of a redelivery', count: undefined, calls: 2 },
  ])('whose sender has gone before the answer $name', async ({ count, calls }) => {
    const slow = slowHandler()
    const gone = Promise.withResolvers<void>()
    const { deliver, listener, events, origin } = await openListener({
      handler: slow.handler,
      fastify(server) {
        server.addHook('onRequest', async (_request, reply) => void reply.raw.once('close', () => gone.resolve()))
      },
    })
    const leave = deliverAndLeave(origin)
    await slow.called
    await leave()
    // The listener hears of it a moment later.
    await gone.promise
    slow.end()
    await eventually(() => expect(listener.status().running).toBe(0))
    expect((await deliver(cloudEventText('1'), { 'aeg-delivery-count': count })).status).toBe(200)
    expect(events).toHaveLength(calls)
  })

  it('whose sender goes while a hook of the host holds the answer back is not begun again by the redelivery', async () => {
    const [held, gone, released] = [0, 1, 2].map(() => Promise.withResolvers<void>())
    const { deliver, events, origin } = await openListener({
      fastify(server) {
        server.addHook('onSend', async ({ headers }, reply) => {
          if (headers['x-held'] === undefined) return
          reply.raw.once('close', () => gone?.resolve())
          held?.resolve()
          await released?.promise
        })
      },
    })
    const leave = deliverAndLeave(origin, { 'x-held': 'yes' })
    await held?.promise
    await leave()
    await gone?.promise
    released?.resolve()
    expect((await deliver(cloudEventText('1'), { 'aeg-delivery-count': '1' })).status).toBe(200)
    expect(events).toHaveLength(1)
  })

  it('that keeps all places makes others wait for 3 s and then come again', async () => {
    const clock = createManualClock()
    const slow = slowHandler()
    const time = { clock: clock.clock }
    const input = { maxConcurrency: 1 }
    const { deliver, listener, log } = await openListener({ handler: slow.handler, input, ...time })
    const first = deliver(cloudEventText('1'))
    await slow.called
    const second = deliver(cloudEventText('2'))
    await expect.poll(() => listener.status().waiting).toBe(1)
    clock.advance(3_000)
    const answer = await second
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('30')
    expect(log.text()).toContain('put off a delivery: The event was not handled: no room, no time or no application.')
    slow.end()
    expect((await first).status).toBe(200)
  })

  it('makes a delivery that has waited for room wait for the rest of the 3 s only', async () => {
    const { clock, advance } = createManualClock()
    const slow = slowHandler()
    const room = createRoom(10_000)
    const { deliver, listener } = await openListener({
      ...{ handler: slow.handler, input: { maxConcurrency: 1 } },
      ...{ clock, room },
    })
    const first = deliver(cloudEventText('1'))
    await slow.called
    const rest = room.occupy(10_000)
    const second = deliver(cloudEventText('2'))
    await expect.poll(() => room.waiting()).toBe(1)
    advance(2_000)
    rest.release()
    await expect.poll(() => listener.status().waiting).toBe(1)
    advance(999)
    expect(listener.status().waiting).toBe(1)
    advance(1)
    expect(listener.status().waiting).toBe(0)
    expect((await second).status).toBe(503)
    slow.end()
    expect((await first).status).toBe(200)
  })
})

describe('drain', () => {
  it('takes nothing new, and waits for what is being handled', async () => {
    const slow = slowHandler()
    const { deliver, listener, events } = await openListener({ handler: slow.handler })
    const first = deliver(cloudEventText('1'))
    await slow.called
    let drained = false
    const draining = listener.drain().then(() => {
      drained = true
    })
    const refused = await deliver(cloudEventText('2'))
    expect(refused.status).toBe(503)
    expect(refused.headers.get('connection')).toBe('close')
    expect(listener.status()).toMatchObject({ draining: true, running: 1 })
    expect(drained).toBe(false)
    slow.end()
    expect((await first).status).toBe(200)
    await draining
    expect(events).toHaveLength(1)
  })

  it('waits for handlerTimeout at the longest', async () => {
    const clock = createManualClock()
    const slow = slowHandler()
    const { deliver, listener } = await openListener({ handler: slow.handler, clock: clock.clock })
    const first = deliver(cloudEventText('1'))
    await slow.called
    const draining = listener.drain()
    clock.advance(25_000)
    await draining
    expect((await first).status).toBe(503)
    expect(listener.status().running).toBe(1)
  })
})

describe('stop', () => {
  it('frees the port at once, takes nothing new on open connections, and answers what is being handled', async () => {
    const slow = slowHandler()
    const { deliver, listener, events } = await openListener({ handler: slow.handler })
    const { port } = listener.address
    const opened = connect({ host: '127.0.0.1', port }).on('error', () => {})
    await once(opened, 'connect')
    // From Node 26.10 on, a connection without a request is closed with the server.
    opened.write('POST /api/events HTTP/1.1\r\n')
    const first = deliver(cloudEventText('1'))
    await slow.called
    listener.stop()
    await expect(deliver(cloudEventText('2'))).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
    opened.write(`host: x\r\ncontent-type: application/json\r\n${proofLine}\r\ncontent-length: 0\r\n\r\n`)
    const [answer] = await once(opened, 'data')
    expect(`${answer}`).toMatch(/^HTTP\/1.1 503 [\s\S]*connection: close/i)
    expect(listener.status()).toMatchObject({ draining: true, running: 1 })
    const next = await openListener({ input: { handshakePort: port } })
    expect((await next.deliver(cloudEventText('3'))).status).toBe(200)
    slow.end()
    expect((await first).status).toBe(200)
    await listener.drain()
    expect(events).toHaveLength(1)
  })
})

describe('close', () => {
  it('frees the port, although clients keep their connections', async () => {
    const { listener, deliver, origin } = await openListener()
    await deliver(cloudEventText('1'))
    await listener.close()
    await expect(fetch(`${origin}/api/events`, { method: 'OPTIONS' })).rejects.toThrow()
    const again = await openListener({ input: { handshakePort: listener.address.port } })
    expect(again.listener.address.port).toBe(listener.address.port)
  })

  it('does not wait for a client that never finishes its request', async () => {
    quickenTime()
    const { listener, raw } = await openListener()
    const head = `POST /api/events HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${proofLine}\r\ncontent-length: 9\r\n`
    const invited = Promise.withResolvers<void>()
    const answer = raw(`${head}expect: 100-continue\r\n\r\n{`, { onData: () => invited.resolve() })
    await invited.promise
    await listener.close()
    expect(await answer).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  })

  it('leaves no timer behind for handlers that fail after it', async () => {
    quickenTime()
    const clock = createManualClock()
    const slow = slowHandler()
    const { deliver, listener, log } = await openListener({
      handler: async () => {
        await slow.handler()
        throw new Error('the store is gone')
      },
      clock: clock.clock,
    })
    const answers = ['1', '2', '3'].map((id) => deliver(cloudEventText(id)).catch(() => 'closed'))
    await expect.poll(() => listener.status().running).toBe(3)
    await listener.close()
    await Promise.all(answers)
    slow.end()
    await expect.poll(() => listener.status().running).toBe(0)
    expect(log.text()).toContain('the store is gone')
    expect(clock.pending()).toBe(0)
  })
})
