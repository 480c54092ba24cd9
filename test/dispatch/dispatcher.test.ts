import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { EventHandler, ReceivedEvent } from '../../src/core/event.ts'
import { createQuietLog } from '../../src/core/logger.ts'
import { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { readDelivery } from '../../src/dispatch/events.ts'
import { createRoom } from '../../src/dispatch/room.ts'
import { type Acknowledgement, decideAcknowledgement } from '../../src/listener/answers.ts'
import { cloudEventText } from '../listener/open-listener.ts'
import { bracketEvent } from '../support/bracket-event.ts'
import { captureLog } from '../support/captured-log.ts'
import { createManualClock } from '../support/manual-clock.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

interface Call {
  readonly event: ReceivedEvent
  resolve(): Promise<void>
  reject(error: unknown): Promise<void>
}

/** A dispatcher whose handler calls the test ends by hand. */
function openDispatcher(limits: { readonly maxConcurrency?: number; readonly handler?: EventHandler } = {}) {
  const clock = createManualClock()
  const log = captureLog()
  const calls: Call[] = []
  const handler: EventHandler = (event) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const end = (how: () => void) => {
      how()
      // It is heard some microtasks later.
      return new Promise<void>((done) => setImmediate(done))
    }
    calls.push({ event, resolve: () => end(resolve), reject: (error) => end(() => reject(error)) })
    return promise
  }
  const room = createRoom(64 * 1024 * 1024)
  const dispatcher = new Dispatcher({
    eventSubscriptionName: 'orders',
    handler: { current: limits.handler ?? handler },
    maxConcurrency: limits.maxConcurrency ?? 8,
    handlerTimeoutMs: 25_000,
    log: createQuietLog({ logger: log, clock: clock.clock }),
    clock: clock.clock,
  })
  /** Dispatches a batch of events with these ids; `answers` fills when it is answered. */
  function deliver(
    ids: readonly string[],
    delivery: {
      readonly redelivered?: boolean
      readonly arrivedAt?: number
      readonly gone?: boolean
      /** Gets the call by which the sender is heard, which is otherwise done at once. */
      readonly hear?: (onKnown: (isTaken: boolean) => void) => void
      /** Said in place of the bytes that there are, so that no test has to make 20 MiB. */
      readonly bytes?: number
    } = {},
  ) {
    const texts = ids.map((id) => (id === 'invalid' ? '{}' : id === 'brackets' ? bracketEvent(id) : cloudEventText(id)))
    const body = Buffer.from(`[${texts.join()}]`)
    const reading = readDelivery(body)
    if ('problem' in reading) throw new Error(reading.problem)
    const answers: Acknowledgement['status'][] = []
    dispatcher.dispatch({
      members: reading.members,
      metadata: {},
      share: room.occupy(delivery.bytes ?? body.length),
      arrivedAt: delivery.arrivedAt ?? clock.clock.elapsed(),
      redelivered: delivery.redelivered ?? false,
      settle(outcomes, onKnown) {
        const { status } = decideAcknowledgement(outcomes)
        answers.push(status)
        if (delivery.hear) delivery.hear(onKnown)
        else onKnown(status === 200 && !delivery.gone)
      },
    })
    return answers
  }
  const warnings = () => log.lines.filter(({ level }) => level === 'warn')
  return {
    clock,
    calls,
    log,
    warnings,
    room,
    dispatcher,
    deliver,
    handled: () => calls.map((call) => call.event.cloudEvent.id),
  }
}

describe('handlerTimeout', () => {
  it('aborts the signal of a copy of the event too, and one that is first looked at afterwards', () => {
    const { clock, calls, deliver } = openDispatcher()
    deliver(['1', '2'])
    const [copied, event] = calls.map((call) => call.event)
    const copy = { ...copied }
    clock.advance(25_000)
    expect([copy.signal?.aborted, event?.signal.aborted]).toEqual([true, true])
  })

  it('ends each delivery at a time of its own, in whatever order they came', () => {
    const { clock, deliver } = openDispatcher()
    const first = deliver(['1'])
    const older = deliver(['2'], { arrivedAt: clock.clock.elapsed() - 10_000 })
    clock.advance(5_000)
    const last = deliver(['3'])
    const answersAfter = (ms: number) => {
      clock.advance(ms)
      return [first, older, last].map(([status]) => status)
    }
    expect(answersAfter(9_999)).toEqual([undefined, undefined, undefined])
    expect(answersAfter(1)).toEqual([undefined, 503, undefined])
    expect(answersAfter(10_000)).toEqual([503, 503, undefined])
    expect(answersAfter(4_999)).toEqual([503, 503, undefined])
    expect(answersAfter(1)).toEqual([503, 503, 503])
  })

  it('that was over before the body had come means 503 without a try', () => {
    const { clock, calls, deliver } = openDispatcher()
    expect(deliver(['1'], { arrivedAt: clock.clock.elapsed() - 25_000 })).toEqual([503])
    expect(calls).toHaveLength(0)
  })
})

describe('a handler that fails', () => {
  it('has a line of the log for each error at once, and one for all failures with the same half a minute later', async () => {
    const { calls, deliver, warnings, clock } = openDispatcher()
    const failBy = async (id: string, error: string) => {
      deliver([id])
      await calls.at(-1)?.reject(new Error(error))
    }
    for (const id of ['a', 'b', 'c']) await failBy(id, 'answered 404')
    for (const id of ['d', 'e']) await failBy(id, 'answered 500')
    expect(warnings().map(({ fields }) => fields)).toEqual([
      { id: 'a', error: 'Error: answered 404' },
      { id: 'd', error: 'Error: answered 500' },
    ])
    clock.advance(30_000)
    expect(
      warnings()
        .slice(2)
        .map(({ fields }) => fields),
    ).toEqual([
      { ids: 'b, c', error: 'Error: answered 404', leftOut: 2 },
      { ids: 'e', error: 'Error: answered 500', leftOut: 1 },
    ])
  })

  const caused = (depth: number): Error =>
    depth === 0 ? new Error('depth 0') : new Error(`depth ${depth}`, { cause: caused(depth - 1) })
  const ofItself = new Error('of itself')
  ofItself.cause = ofItself

  it.each<[name: string, error: unknown, shown: readonly string[]]>([
    ['an error', new Error('alone'), ['Error: alone']],
    ['a text', 'no error', ['no error']],
    ['an error with a cause', caused(1), ['Error: depth 1', 'Error: depth 0']],
    ['an error with four causes', caused(4), [4, 3, 2, 1, 0].map((depth) => `Error: depth ${depth}`)],
    ['an error with more', caused(5), [5, 4, 3, 2, 1].map((depth) => `Error: depth ${depth}`)],
    ['an error that is its own cause', ofItself, Array(5).fill('Error: of itself')],
    ['an error with a text for a cause', new Error('outer', { cause: 'a text' }), ['Error: outer', 'a text']],
    [
      'several errors',
      new AggregateError([new Error('one'), new Error('two')], 'all'),
      ['AggregateError: all', 'Error: one', 'Error: two'],
    ],
    [
      'an error whose stack has many lines',
      Object.assign(new Error(), { stack: Array.from({ length: 30 }, (_, line) => `${line}`).join('\n') }),
      ['0'],
    ],
  ])('has a line at debug with the stacks of %s', async (_, error, shown) => {
    const { calls, deliver, log } = openDispatcher()
    deliver(['a'])
    await calls[0]?.reject(error)
    const [line, ...others] = log.lines.filter(({ level }) => level === 'debug')
    expect(others).toEqual([])
    const { id, stack, cause } = line?.fields ?? {}
    expect(id).toBe('a')
    // The first line of a stack is the error, the others say where it was made.
    const firstLines = [stack, ...(cause === undefined ? [] : [cause])]
      .flatMap((text) => String(text).split('\n'))
      .filter((text) => !/^\s*at |^[1-9]/.test(text))
    expect(firstLines).toEqual(shown)
    expect(String(stack).split('\n').length).toBeLessThanOrEqual(20)
  })
})

it('tells of a member of a body that is not an event, with its place and the reason', () => {
  const { deliver, warnings } = openDispatcher()
  expect(deliver(['invalid'])).toEqual([400])
  deliver(['1', 'invalid'])
  expect(warnings().map(({ message, fields }) => ({ message, ...fields }))).toEqual([
    {
      message: 'a delivery holds something that is not an event',
      position: 0,
      reason: 'it has neither specversion nor eventType',
    },
  ])
})

describe('after stop', () => {
  it('a delivery that waits is given up, one that runs is answered by its handler, and a new one is not begun', async () => {
    const { calls, deliver, dispatcher } = openDispatcher({ maxConcurrency: 2 })
    const running = deliver(['1'])
    const begun = deliver(['2', '3'])
    const waiting = deliver(['4'])
    dispatcher.stop()
    const late = deliver(['5'])
    expect([running, begun, waiting, late]).toEqual([[], [], [503], [503]])
    await calls[0]?.resolve()
    await calls[1]?.resolve()
    expect([running, begun]).toEqual([[200], [503]])
    expect(calls).toHaveLength(2)
  })

  it('it is idle once every handler has ended, also those whose time was over', async () => {
    const { calls, clock, deliver, dispatcher } = openDispatcher()
    deliver(['1', '2'])
    dispatcher.stop()
    let isIdle = false
    const idle = dispatcher.idle().then(() => {
      isIdle = true
    })
    clock.advance(25_000)
    await calls[0]?.resolve()
    expect(isIdle).toBe(false)
    await calls[1]?.resolve()
    await idle
    expect(isIdle).toBe(true)
    await dispatcher.idle()
  })
})

describe('a handler that does not end in time', () => {
  it('has a line with the id of its event, the limit and what to do; a failure afterwards has none', async () => {
    const { calls, deliver, warnings, clock } = openDispatcher()
    deliver(['a', 'b'])
    await calls[1]?.resolve()
    clock.advance(25_000)
    await calls[0]?.reject(new Error('aborted'))
    expect(warnings()).toEqual([
      {
        level: 'warn',
        message: 'the handler did not end in time, so the event is not acknowledged',
        fields: { id: 'a', handlerTimeout: '25s', advice: expect.stringContaining('handlerTimeout') },
      },
    ])
  })

  it('has a line for a redelivery that joined its call too', () => {
    const { deliver, warnings, clock } = openDispatcher()
    deliver(['a'])
    clock.advance(10_000)
    deliver(['a'], { redelivered: true })
    clock.advance(25_000)
    expect(warnings()).toHaveLength(1)
    clock.advance(20_000)
    expect(warnings().map(({ fields }) => fields?.id ?? fields?.ids)).toEqual(['a', 'a'])
  })
})

describe('the status', () => {
  it('says that all calls hang as long as each call that there may be runs for longer than its time', async () => {
    const { calls, deliver, clock, dispatcher } = openDispatcher({ maxConcurrency: 2 })
    const allHang = () => dispatcher.status().handling.allHang
    deliver(['a'])
    clock.advance(10_000)
    deliver(['b'])
    clock.advance(24_999)
    expect(allHang()).toBe(false)
    clock.advance(1)
    expect(allHang()).toBe(true)
    // The failures of the last two minutes say nothing any more.
    clock.advance(10 * 60_000)
    expect(dispatcher.status().handling).toMatchObject({ recent: { total: 0, badInARow: 2 }, allHang: true })
    await calls[1]?.resolve()
    expect(allHang()).toBe(false)
    deliver(['c'])
    expect(allHang()).toBe(false)
  })

  it('counts handler calls, not what is known of earlier ones', async () => {
    const { calls, deliver, clock, dispatcher } = openDispatcher()
    const answers = deliver(['good', 'bad'])
    await calls[0]?.resolve()
    await calls[1]?.reject(new Error('down'))
    clock.advance(120_000)
    for (let redelivery = 0; redelivery < 5; redelivery++) {
      answers.push(...deliver(['good', 'bad'], { redelivered: true }))
      await calls.at(-1)?.reject(new Error('down'))
    }
    expect(calls).toHaveLength(7)
    expect(dispatcher.status().handling).toMatchObject({ recent: { total: 5, bad: 5, badInARow: 6 } })
  })

  it('counts a call that hangs once, though redeliveries join the call', async () => {
    const { calls, deliver, clock, dispatcher } = openDispatcher()
    deliver(['hangs'])
    clock.advance(10_000)
    deliver(['hangs'], { redelivered: true })
    clock.advance(25_000)
    await calls[0]?.resolve()
    expect(dispatcher.status().handling).toMatchObject({ recent: { total: 1, bad: 1, badInARow: 1 } })
  })
})

describe('maxConcurrency', () => {
  it('bounds the events of a batch too, and lets others in between them', async () => {
    const { calls, deliver, handled } = openDispatcher({ maxConcurrency: 2 })
    const batch = deliver(['1', '2', '3', '4'])
    deliver(['other'])
    expect(handled()).toEqual(['1', '2'])
    await calls[0]?.resolve()
    await calls[1]?.resolve()
    expect(handled()).toEqual(['1', '2', '3', 'other'])
    for (const call of calls.slice(2)) await call.resolve()
    await calls[4]?.resolve()
    expect(batch).toEqual([200])
  })

  it('lets the rest of a batch that has begun wait for longer', async () => {
    const { clock, calls, deliver } = openDispatcher({ maxConcurrency: 1 })
    const answers = deliver(['1', '2'])
    clock.advance(10_000)
    await calls[0]?.resolve()
    await calls[1]?.resolve()
    expect(answers).toEqual([200])
  })

  it('forgets the short wait of a batch once it is let in', async () => {
    const { clock, calls, deliver } = openDispatcher({ maxConcurrency: 1 })
    deliver(['other'])
    const answers = deliver(['1', '2'])
    clock.advance(2_000)
    await calls[0]?.resolve()
    clock.advance(3_000)
    expect(answers).toEqual([])
    await calls[1]?.resolve()
    await calls[2]?.resolve()
    expect(answers).toEqual([200])
  })

  it('handles a body to its end that has begun, though it is larger than the whole queue', async () => {
    const { calls, deliver } = openDispatcher({ maxConcurrency: 1 })
    const answers = deliver(['1', '2'], { bytes: 64 * 1024 * 1024 + 1 })
    await calls[0]?.resolve()
    await calls[1]?.resolve()
    expect(answers).toEqual([200])
  })

  it('gives back the room of a body when its sender is heard and its last handler call has ended', async () => {
    const { calls, deliver, room, clock } = openDispatcher({ maxConcurrency: 2 })
    let hear: (isTaken: boolean) => void = () => {}
    deliver(['1', '2'], { bytes: 1_000, hear: (onKnown) => (hear = onKnown) })
    await calls[0]?.resolve()
    clock.advance(25_000)
    hear(false)
    expect(room.used()).toBe(1_000)
    await calls[1]?.resolve()
    expect(room.used()).toBe(0)
  })

  it('bounds the queue in number', () => {
    const { deliver, dispatcher } = openDispatcher({ maxConcurrency: 1 })
    deliver(['running'])
    for (let index = 0; index < 1_000; index++) deliver([`${index}`])
    expect(dispatcher.status().waiting).toBe(1_000)
    expect(deliver(['too many'])).toEqual([503])
  })

  it('counts what waiting events take beside their bytes', () => {
    const { deliver, dispatcher, room } = openDispatcher({ maxConcurrency: 1 })
    deliver(['running'], { bytes: 0 })
    const ids = Array.from({ length: 100 }, (_, index) => String(index))
    while (deliver(ids, { bytes: 70_000 }).length === 0);
    // 64 MiB, at 300 bytes for each event beside those of its body.
    expect(dispatcher.status().waiting).toBe(671)
    expect(room.used()).toBe(67_100_000)
  })

  it('survives a thousand waiting bodies whose handlers end at once', async () => {
    const first = Promise.withResolvers<void>()
    let count = 0
    const { deliver } = openDispatcher({
      maxConcurrency: 1,
      handler: () => (count++ === 0 ? first.promise : undefined),
    })
    const answers = Array.from({ length: 1_001 }, (_, index) => deliver([`${index}`]))
    first.resolve()
    await new Promise((done) => setImmediate(done))
    expect(answers.every(([status]) => status === 200)).toBe(true)
  })
})

describe('a redelivery', () => {
  const again = { redelivered: true }

  it('that is handled anew waits for a free call like any other', async () => {
    const { clock, calls, deliver, handled } = openDispatcher({ maxConcurrency: 1 })
    deliver(['1'])
    clock.advance(25_000)
    const joined = deliver(['1'], again)
    const other = deliver(['2'])
    await calls[0]?.resolve()
    expect(handled()).toEqual(['1', '2'])
    await calls[1]?.resolve()
    await calls[2]?.resolve()
    expect([joined, other]).toEqual([[200], [200]])
    expect(handled()).toEqual(['1', '2', '1'])
  })

  it('is acknowledged at the late end of the call that it joined where another was, whoever waits', async () => {
    const { clock, calls, deliver, room } = openDispatcher({ maxConcurrency: 2 })
    deliver(['1'])
    clock.advance(90_000)
    const joined = deliver(['1'], again)
    clock.advance(10_000)
    deliver(['1'], { ...again, gone: true })
    await calls[1]?.resolve()
    deliver(['2'])
    deliver(['3'])
    room.occupy(64 * 1024 * 1024)
    await calls[0]?.resolve()
    expect(joined).toEqual([200])
  })

  it('is handled anew by a free call though there is no room to wait for one', async () => {
    const { clock, calls, deliver, handled, room } = openDispatcher()
    deliver(['1'])
    clock.advance(10_000)
    const joined = deliver(['1'], again)
    room.occupy(64 * 1024 * 1024)
    clock.advance(15_000)
    await calls[0]?.resolve()
    expect(handled()).toEqual(['1', '1'])
    await calls[1]?.resolve()
    expect(joined).toEqual([200])
  })

  it('is forgotten once it is answered, however long the handler goes on', async () => {
    const { deliver, clock, dispatcher } = openDispatcher()
    deliver(['1'])
    const bodies: WeakRef<object>[] = []
    for (let round = 0; round < 3; round++) {
      bodies.push(new WeakRef(deliver(['1'], { redelivered: true })))
      clock.advance(25_000)
    }
    deliver(['1'], { redelivered: true })
    // A new turn, since a WeakRef holds on until the end of the one it was made in.
    await new Promise((turn) => setImmediate(turn))
    collectGarbage()
    expect(bodies.map((body) => body.deref())).toEqual([undefined, undefined, undefined])
    expect(dispatcher.status().running).toBe(1)
  })

  it('runs anew once the handling has run for four times handlerTimeout, in case it hangs', async () => {
    const { clock, calls, deliver } = openDispatcher()
    deliver(['1'])
    clock.advance(99_999)
    const joined = deliver(['1'], again)
    expect(calls).toHaveLength(1)
    clock.advance(1)
    const anew = deliver(['1'], again)
    expect(calls).toHaveLength(2)
    await calls[1]?.resolve()
    expect([joined, anew]).toEqual([[], [200]])
  })

  it('of a batch that gave up another event is not handled anew: its answer is 503 in any case', async () => {
    const { clock, calls, deliver, handled } = openDispatcher({ maxConcurrency: 1 })
    deliver(['joined'])
    clock.advance(22_000)
    const batch = deliver(['joined', 'waits'], { redelivered: true })
    clock.advance(3_000)
    expect(batch).toEqual([])
    await calls[0]?.resolve()
    expect(batch).toEqual([503])
    expect(handled()).toEqual(['joined'])
  })

  it('joins the new handling of an event whose first handling hangs', async () => {
    const { clock, calls, deliver } = openDispatcher()
    deliver(['1'])
    clock.advance(100_000)
    const second = deliver(['1'], again)
    const third = deliver(['1'], again)
    expect(calls).toHaveLength(2)
    await calls[1]?.resolve()
    expect([second, third]).toEqual([[200], [200]])
  })

  it('that waits for a call that hangs is not handled anew where another was and is acknowledged', async () => {
    const { clock, calls, deliver } = openDispatcher()
    deliver(['1'])
    clock.advance(99_999)
    const joined = deliver(['1'], again)
    clock.advance(1)
    const anew = deliver(['1'], again)
    await calls[1]?.resolve()
    await calls[0]?.resolve()
    expect([joined, anew, calls.length]).toEqual([[200], [200], 2])
  })

  it('that waits for a free call is not handled anew where another was and is acknowledged', async () => {
    const { calls, deliver, handled } = openDispatcher({ maxConcurrency: 1 })
    const answers = [deliver(['0']), deliver(['1'], again), deliver(['2']), deliver(['1'], again)]
    for (const place of [0, 1, 2]) await calls[place]?.resolve()
    expect(answers).toEqual([[200], [200], [200], [200]])
    expect(handled()).toEqual(['0', '1', '2'])
  })

  it('of another event is not taken for one whose bytes were overwritten by those of the other', async () => {
    const { calls, deliver } = openDispatcher()
    deliver(['1'], { gone: true })
    calls[0]?.event.data.write(cloudEventText('2'))
    await calls[0]?.resolve()
    deliver(['2'], again)
    expect(calls).toHaveLength(2)
  })

  it('keeps its bytes alone while it joins', async () => {
    const { deliver } = openDispatcher()
    deliver(['brackets'])
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    const joined = [deliver(['brackets'], again), deliver(['brackets'], again), deliver(['brackets'], again)]
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
    expect(joined).toEqual([[], [], []])
  })

  it('keeps no bytes of its own while it joins', async () => {
    const { deliver, calls } = openDispatcher()
    const large = `1${'x'.repeat(1_000_000)}`
    deliver([large])
    const before = process.memoryUsage().arrayBuffers
    const joined = Array.from({ length: 20 }, () => deliver([large], again))
    // V8 frees the bytes of dead buffers on another thread; the next collection waits for it.
    const grown = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers - before
    }
    await expect.poll(grown).toBeLessThan(2_000_000)
    await calls[0]?.resolve()
    expect(joined.flat()).toEqual(joined.map(() => 200))
  })

  it('takes no place of its own while it joins', async () => {
    const { clock, calls, deliver } = openDispatcher({ maxConcurrency: 1 })
    deliver(['1'])
    const joined = deliver(['1'], again)
    clock.advance(4_000)
    await calls[0]?.resolve()
    expect(joined).toEqual([200])
  })

  it('of an event that was acknowledged runs it, for nothing is kept of it', async () => {
    const { calls, deliver } = openDispatcher()
    for (const place of [0, 1, 2]) {
      deliver(['1'], place > 0 ? again : {})
      await calls[place]?.resolve()
    }
    expect(calls).toHaveLength(3)
  })

  it('has the outcome from before while its sender is not heard, and where the answer was not taken', async () => {
    const { calls, deliver } = openDispatcher()
    const tell: ((isTaken: boolean) => void)[] = []
    for (const id of ['taken', 'lost']) deliver([id], { hear: (onKnown) => void tell.push(onKnown) })
    for (const call of calls) await call.resolve()
    expect([deliver(['taken'], again), deliver(['lost'], again)]).toEqual([[200], [200]])
    expect(calls).toHaveLength(2)
    tell[0]?.(true)
    tell[1]?.(false)
    expect(deliver(['lost'], again)).toEqual([200])
    expect(calls).toHaveLength(2)
    expect(deliver(['taken'], again)).toEqual([])
    expect(calls).toHaveLength(3)
  })

  it('remembers 10,000 events, and forgets the oldest beyond', async () => {
    let served = 0
    const { deliver } = openDispatcher({ maxConcurrency: 20_000, handler: () => void served++ })
    const ids = Array.from({ length: 10_001 }, (_, index) => `${index}`)
    for (const id of ids) deliver([id], { gone: true })
    expect(served).toBe(10_001)
    deliver(['1'], again)
    expect(served).toBe(10_001)
    deliver(['0'], again)
    expect(served).toBe(10_002)
  })
})
