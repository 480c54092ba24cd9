/** Whatever deliveries, handlers, connections and time do, and in whatever order, the promises of the listener hold. */
import { AsyncLocalStorage } from 'node:async_hooks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EventHandler, RejectEvent } from '../../src/core/event.ts'
import { createQuietLog, silentLogger } from '../../src/core/logger.ts'
import type { Delivery } from '../../src/dispatch/delivery.ts'
import { Dispatcher } from '../../src/dispatch/dispatcher.ts'
import { readDelivery } from '../../src/dispatch/events.ts'
import { createRoom } from '../../src/dispatch/room.ts'
import { decideAcknowledgement } from '../../src/listener/answers.ts'
import { cloudEventText, eventGridText } from '../listener/open-listener.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { tryWorlds } from '../support/random-worlds.ts'
import { type Body, createLedger, type End, invalidText, type Run } from './acknowledgement-ledger.ts'

const handlerTimeoutMs = 25_000

const end = fc.constantFrom<End>('resolved', 'rejected', 'threw')
/** Differing in id, source, bytes, or the space between them. */
const text = fc.constantFrom(
  cloudEventText('1'),
  cloudEventText('2'),
  cloudEventText('1', { source: '/other' }),
  cloudEventText('1', { data: 'other' }),
  cloudEventText('1').replace('{', '{ '),
  eventGridText('1'),
  invalidText,
)
const sender = {
  gone: fc.boolean(),
  /** How long the body took to arrive. */
  ageMs: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(10_000, 24_999, 25_000)),
  /** Two of the greater ones are more than may wait. */
  bytes: fc.constantFrom(1_000, 40 * 1024 * 1024),
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('deliver'),
      texts: fc.array(text, { minLength: 1, maxLength: 4 }),
      redelivered: fc.boolean(),
      ...sender,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('deliverAgain'), body: fc.nat(), ...sender }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('endRun'), run: fc.nat(), how: end }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.constantFrom(1, 2_999, 3_000, 12_000, 25_000) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('replaceHandler'),
      by: fc.oneof(end, fc.constantFrom('takes time', 'obeys its signal', 'none')),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('hangUp'), body: fc.nat() }) },
  // Without one between them, steps happen before anybody has heard of the ones before.
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('turn') }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const failures = { rejected: new RejectEvent('never'), threw: new Error('no') }

/** A dispatcher and the ledger that watches it. */
function open(maxConcurrency: number) {
  const clock = createManualClock()
  const room = createRoom(64 * 1024 * 1024)
  const ledger = createLedger({ maxConcurrency, now: clock.clock.elapsed, joinForMs: 4 * handlerTimeoutMs })
  const held: { readonly run: Run; settle(how: End): void }[] = []
  /** Each body by the number in the metadata of its events. */
  const origin = new Map<string, Body>()
  let behaviour: End | 'takes time' | 'obeys its signal' | 'none' = 'takes time'
  /** The asynchronous context of each body. */
  const context = new AsyncLocalStorage<Body>()

  const handler: EventHandler = ({ data, metadata, signal }) => {
    const body = origin.get(metadata.body ?? '')
    const index = body?.texts.findIndex((text, at) => text === data.toString() && !body.runs.has(at)) ?? -1
    if (!body || index === -1) throw new Error('an event that no body held')
    if (context.getStore() !== body) ledger.faults.push('an event is handled in the context of another')
    const run = ledger.begin(body, index)
    // The handler may do what it likes with its bytes.
    data.fill(0)
    if (behaviour === 'takes time' || behaviour === 'obeys its signal' || behaviour === 'none') {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const settle = (how: End) => {
        if (run.end) return
        ledger.endRun(run, how)
        return how === 'resolved' ? resolve() : reject(failures[how])
      }
      held.push({ run, settle })
      if (behaviour === 'obeys its signal') signal.addEventListener('abort', () => settle('resolved'))
      return promise
    }
    ledger.endRun(run, behaviour)
    if (behaviour !== 'resolved') throw failures[behaviour]
    return undefined
  }

  const dispatcher = new Dispatcher({
    eventSubscriptionName: 'orders',
    handler: {
      get current() {
        return behaviour === 'none' ? undefined : handler
      },
    },
    maxConcurrency,
    handlerTimeoutMs,
    log: createQuietLog({ logger: silentLogger }),
    clock: clock.clock,
  })

  function deliver(
    texts: readonly string[],
    redelivered: boolean,
    { gone, ageMs, bytes }: { gone: boolean; ageMs: number; bytes: number },
  ): void {
    const reading = readDelivery(Buffer.from(texts.length === 1 ? `${texts}` : `[${texts}]`))
    if ('problem' in reading) throw new Error(reading.problem)
    const arrivedAt = clock.clock.elapsed() - ageMs
    const body: Body = {
      texts,
      redelivered,
      arrivedAt,
      dispatchedAt: clock.clock.elapsed(),
      expiresAt: arrivedAt + handlerTimeoutMs,
      runs: new Map(),
      gone,
      status: undefined,
      acknowledged: false,
      openThen: [],
    }
    ledger.deliver(body)
    const metadata = { body: String(origin.size) }
    origin.set(metadata.body, body)
    const delivery: Delivery = {
      members: reading.members,
      metadata,
      share: room.occupy(bytes),
      arrivedAt,
      redelivered,
      settle(outcomes, onKnown) {
        const { status } = decideAcknowledgement(outcomes)
        if (context.getStore() !== body) ledger.faults.push('a body is answered in the context of another')
        onKnown(ledger.answer(body, status) && status === 200)
      },
    }
    context.run(body, () => dispatcher.dispatch(delivery))
  }

  async function turn(): Promise<void> {
    await new Promise((done) => setImmediate(done))
    const { running, waiting } = dispatcher.status()
    ledger.rest(running, waiting)
  }

  async function take(next: Step): Promise<void> {
    if (next.kind === 'deliver') deliver(next.texts, next.redelivered, next)
    else if (next.kind === 'deliverAgain') {
      const again = pick(
        ledger.bodies.filter(({ status, acknowledged }) => status !== undefined && !acknowledged),
        next.body,
      )
      if (again) deliver(again.texts, true, next)
    } else if (next.kind === 'endRun')
      pick(
        held.filter(({ run }) => !run.end),
        next.run,
      )?.settle(next.how)
    else if (next.kind === 'pass') clock.advance(next.ms)
    else if (next.kind === 'replaceHandler') behaviour = next.by
    else if (next.kind === 'hangUp') {
      const body = pick(
        ledger.bodies.filter(({ status }) => status === undefined),
        next.body,
      )
      if (body) body.gone = true
    } else await turn()
    expect(ledger.faults).toEqual([])
  }

  return { clock, ledger, dispatcher, held, turn, take, room }
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length]

it('acknowledges what was handled and nothing else, each body once, and ends with nothing under way', async () => {
  const script = fc.record({
    maxConcurrency: fc.integer({ min: 1, max: 3 }),
    steps: fc.array(step, { maxLength: 40, size: 'max' }),
    draining: fc.array(step, { maxLength: 8 }),
    handlersHang: fc.boolean(),
  })
  await tryWorlds(script, { count: 300 }, async ({ maxConcurrency, steps, draining, handlersHang }) => {
    const { clock, ledger, dispatcher, held, turn, take, room } = open(maxConcurrency)
    for (const next of steps) await take(next)
    dispatcher.stop()
    ledger.drain()
    let idle = false
    const done = dispatcher.idle().then(() => (idle = true))
    for (const next of draining) await take(next)
    await turn()
    if (ledger.open().length > 0) expect(idle).toBe(false)
    if (handlersHang) {
      clock.advance(handlerTimeoutMs)
      expect(clock.pending()).toBe(0)
    }
    for (const { run, settle } of held) if (!run.end) settle('resolved')
    await turn()
    ledger.end()
    expect(ledger.faults).toEqual([])
    await done
    expect({ ...dispatcher.status(), timers: clock.pending() }).toMatchObject({ running: 0, waiting: 0, timers: 0 })
    expect(room.used()).toBe(0)
  })
})
