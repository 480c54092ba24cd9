/** Whatever deliveries, handlers, connections and time do, and in whatever order, the promises of the listener hold. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EventHandler, RejectEvent } from '../../src/core/event.ts'
import { createQuietLog } from '../../src/core/quiet-log.ts'
import { createDispatcher, dispatch, loadOf, stopDispatcher, whenIdle } from '../../src/dispatch/dispatch.ts'
import { readDelivery } from '../../src/dispatch/read-delivery.ts'
import { createRedelivery, findEarlier, type RunningEvent, remember } from '../../src/dispatch/redelivery.ts'
import { decideAcknowledgement } from '../../src/listener/acknowledgement.ts'
import { place, unplace } from '../../src/support/work/placed-list.ts'
import { captureLog } from '../support/captured-log.ts'
import { type Body, createLedger, type End, invalidText, type Run } from './acknowledgement-ledger.ts'
import { createManualClock } from './manual-clock.ts'
import { cloudEventText, eventGridText } from './open-listener.ts'

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
      by: fc.oneof(end, fc.constantFrom('takes time', 'none')),
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
  const ledger = createLedger({ maxConcurrency, now: clock.now, joinForMs: 4 * handlerTimeoutMs })
  const held: { readonly run: Run; settle(how: End): void }[] = []
  /** Each body by the number in the metadata of its events. */
  const origin = new Map<string, Body>()
  let behaviour: End | 'takes time' | 'none' = 'takes time'

  const handler: EventHandler = ({ data, metadata }) => {
    const body = origin.get(metadata.body ?? '')
    const index = body?.texts.findIndex((text, at) => text === data.toString() && !body.runs.has(at)) ?? -1
    if (!body || index === -1) throw new Error('an event that no body held')
    const run = ledger.begin(body, index)
    // The handler may do what it likes with its bytes.
    data.fill(0)
    if (behaviour === 'takes time' || behaviour === 'none') {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const settle = (how: End) => {
        run.end = how
        return how === 'resolved' ? resolve() : reject(failures[how])
      }
      held.push({ run, settle })
      return promise
    }
    run.end = behaviour
    if (behaviour !== 'resolved') throw failures[behaviour]
    return undefined
  }

  const dispatcher = createDispatcher({
    eventSubscriptionName: 'orders',
    handler: () => (behaviour === 'none' ? undefined : handler),
    maxConcurrency,
    handlerTimeoutMs,
    log: createQuietLog({ logger: captureLog(), now: clock.now }),
    now: clock.now,
    clock: clock.clock,
  })

  function deliver(
    texts: readonly string[],
    redelivered: boolean,
    { gone, ageMs, bytes }: { gone: boolean; ageMs: number; bytes: number },
  ): void {
    const reading = readDelivery(Buffer.from(texts.length === 1 ? `${texts}` : `[${texts}]`))
    if ('problem' in reading) throw new Error(reading.problem)
    const arrivedAt = clock.now() - ageMs
    const body: Body = {
      texts,
      redelivered,
      arrivedAt,
      dispatchedAt: clock.now(),
      expiresAt: arrivedAt + handlerTimeoutMs,
      runs: new Map(),
      gone,
      status: undefined,
      acknowledged: false,
    }
    ledger.deliver(body)
    const metadata = { body: String(origin.size) }
    origin.set(metadata.body, body)
    dispatch(dispatcher, {
      members: reading.members,
      metadata,
      bytes,
      arrivedAt,
      redelivered,
      settle(outcomes, onKnown) {
        const { status } = decideAcknowledgement(outcomes)
        onKnown(ledger.answer(body, status) && status === 200)
      },
    })
  }

  async function turn(): Promise<void> {
    await new Promise((done) => setImmediate(done))
    const { running, waiting } = loadOf(dispatcher)
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

  return { clock, ledger, dispatcher, held, turn, take }
}

const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length]

it('acknowledges what was handled and nothing else, each body once, and ends with nothing under way', async () => {
  const script = fc.record({
    maxConcurrency: fc.integer({ min: 1, max: 3 }),
    steps: fc.array(step, { maxLength: 40, size: 'max' }),
    draining: fc.array(step, { maxLength: 8 }),
    handlersHang: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(script, async ({ maxConcurrency, steps, draining, handlersHang }) => {
      const { clock, ledger, dispatcher, held, turn, take } = open(maxConcurrency)
      for (const next of steps) await take(next)
      stopDispatcher(dispatcher)
      ledger.drain()
      let idle = false
      const done = whenIdle(dispatcher).then(() => (idle = true))
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
      expect({ ...loadOf(dispatcher), timers: clock.pending() }).toEqual({
        running: 0,
        waiting: 0,
        timers: 0,
      })
    }),
    { numRuns: 600 },
  )
})

it('remembers as many settled events as it may, the latest, and forgets no event that runs', () => {
  const digests = Array.from({ length: 8 }, (_, index) => `digest ${index}`)
  const change = fc.record({
    kind: fc.constantFrom('begin', 'end', 'resolved', 'rejected'),
    digest: fc.constantFrom(...digests),
  })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 4 }),
      fc.array(change, { maxLength: 60, size: 'max' }),
      (capacity, changes) => {
        const redelivery = createRedelivery(capacity)
        const running = new Map<string, RunningEvent>()
        let settled: { readonly digest: string; readonly outcome: 'resolved' | 'rejected' }[] = []
        for (const { kind, digest } of changes) {
          const run = running.get(digest)
          if (kind === 'begin' && !run) {
            const begun: RunningEvent = { event: { digest }, arrivedAt: 0, place: -1 }
            running.set(digest, begun)
            place(redelivery.running, begun)
          } else if (kind === 'end' && run) {
            running.delete(digest)
            unplace(redelivery.running, run)
          } else if (kind === 'resolved' || kind === 'rejected') {
            settled = [...settled.filter((known) => known.digest !== digest), { digest, outcome: kind }].slice(
              -capacity,
            )
            remember(redelivery, digest, kind)
          }
          expect(digests.map((one) => findEarlier(redelivery, one, -1))).toEqual(
            digests.map((one) => running.get(one) ?? settled.find((known) => known.digest === one)?.outcome),
          )
        }
      },
    ),
  )
})
