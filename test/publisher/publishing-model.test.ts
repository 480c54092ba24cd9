/** Random calls against a topic that refuses poison, throttles, fails, and loses answers. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BindingError } from '../../src/core/errors.ts'
import { tryWorlds } from '../support/random-worlds.ts'
import { openPublisher } from './open-publisher.ts'
import { type Answer, event, ids, problem, startTopic } from './scripted-topic.ts'

const answers = {
  taken: { status: 200 },
  throttled: { status: 429 },
  failed: { status: 503 },
  late: { hold: new Promise((resolve) => setImmediate(resolve)) },
  // Taken, and nobody hears of it.
  lost: { cut: true },
} satisfies Record<string, Answer>

const call = fc.record({
  events: fc.integer({ min: 1, max: 5 }),
  poison: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  /** Turns of the event loop before the call is aborted; 0: never. */
  abortAfter: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40 })),
  /** Turns of the event loop before the next call. */
  gap: fc.integer({ min: 0, max: 10 }),
})
const script = fc.array(fc.constantFrom('taken', 'taken', 'taken', 'throttled', 'failed', 'late', 'lost'), {
  maxLength: 40,
})

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

async function runWorld(
  calls: readonly (typeof call extends fc.Arbitrary<infer T> ? T : never)[],
  kinds: readonly (keyof typeof answers)[],
) {
  const taken = new Map<string, number>()
  const heard = new Map<string, number>()
  const arrivals = new Map<string, number>()
  const count = (where: Map<string, number>, id: string) => where.set(id, (where.get(id) ?? 0) + 1)
  const doubled: string[] = []
  const topic = await startTopic(({ events, index }) => {
    const all = ids(events).map(String)
    for (const id of all) {
      count(arrivals, id)
      // The publisher has heard that this event was taken, and sends it all the same.
      if (heard.has(id)) doubled.push(id)
    }
    if (all.some((id) => id.startsWith('poison'))) return { status: 400, body: problem('BadRequest', 'poison') }
    const kind = kinds[index] ?? 'taken'
    if (kind !== 'throttled' && kind !== 'failed') for (const id of all) count(taken, id)
    if (kind === 'taken') for (const id of all) count(heard, id)
    return answers[kind]
  })
  const limits = { retryBaseMs: 1, retryCapMs: 2, maxRequestEvents: 8 }
  const { publisher } = openPublisher(topic.endpoint, { limits })
  const results = await Promise.all(
    calls.map(async ({ events, poison, abortAfter, gap }, place) => {
      await turns(gap * place)
      const own = Array.from({ length: events }, (_, n) => `${poison && n === 0 ? 'poison' : 'event'}-${place}-${n}`)
      const controller = new AbortController()
      let atAbort: readonly number[] | undefined
      const published = publisher.publish(
        own.map((id) => event(id)),
        { signal: controller.signal },
      )
      if (abortAfter > 0) {
        void turns(abortAfter).then(() => {
          atAbort = own.map((id) => arrivals.get(id) ?? 0)
          controller.abort()
        })
      }
      const outcome = await published.then(
        () => 'published' as const,
        (error: unknown) => (error instanceof BindingError ? error.code : 'unknown'),
      )
      return { own, poison, outcome, atAbort }
    }),
  )
  await publisher.close()
  await topic.close()
  expect(doubled).toEqual([])
  for (const { own, poison, outcome, atAbort } of results) {
    const takenOf = own.map((id) => taken.get(id) ?? 0)
    if (outcome === 'published') expect(takenOf.every((times) => times > 0)).toBe(true)
    else expect(outcome).toBe(poison && outcome !== 'ABORTED' ? 'PUBLISH_REJECTED' : 'ABORTED')
    if (poison) expect(takenOf.every((times) => times === 0)).toBe(true)
    // The request that was under way may still arrive; no further attempt holds them.
    if (outcome !== 'ABORTED' || !atAbort) continue
    own.forEach((id, n) => {
      expect((arrivals.get(id) ?? 0) - (atAbort[n] ?? 0)).toBeLessThanOrEqual(1)
    })
  }
}

it('publishes each event of a call or tells of it, none after an abort, and none again that it knows to be taken', async () => {
  const calls = fc.array(call, { minLength: 1, maxLength: 12 })
  await tryWorlds(fc.tuple(calls, script), { count: 40 }, (world) => runWorld(...world))
})

it('leaves an aborted call out of the next attempt, and publishes those that shared the request', async () => {
  const controllers = [new AbortController(), new AbortController()]
  // The first request is alone; the next holds both calls, and fails while the second is aborted.
  const topic = await startTopic(({ index, events }) => {
    if (index === 0) return { hold: Promise.resolve() }
    if (ids(events).includes('aborted')) {
      controllers[1]?.abort()
      return { status: 503 }
    }
    return { status: 200 }
  })
  const { publisher } = openPublisher(topic.endpoint, { limits: { retryBaseMs: 1 } })
  const calls = ['first', 'kept', 'aborted'].map((id, n) =>
    publisher
      .publish(event(id), { signal: controllers[id === 'aborted' ? 1 : 0]?.signal ?? AbortSignal.abort(n) })
      .then(
        () => 'published',
        (error: unknown) => (error instanceof BindingError ? error.code : 'unknown'),
      ),
  )
  expect(await Promise.all(calls)).toEqual(['published', 'published', 'ABORTED'])
  expect(topic.requests.map(({ events }) => ids(events))).toEqual([['first'], ['kept', 'aborted'], ['kept']])
})
