import { expect, it } from 'vitest'
import { eventOf } from '../../src/model/events/event-text.ts'
import { ManualClock } from '../../src/model/time/clock.ts'
import { settleLockTokens } from '../../src/namespaces/namespace-calls.ts'
import { createPullQueue } from '../../src/namespaces/pull-queue.ts'

type Operation = Parameters<typeof settleLockTokens>[1]

/** A queue with a locked event, and a call of an operation for it. */
async function openLocked() {
  const clock = new ManualClock(0)
  const queue = createPullQueue({
    clock,
    settings: { lockDurationMs: 60_000, maxDeliveryCount: 10, timeToLiveMs: 3_600_000 },
    changed() {},
    removed() {},
  })
  queue.add({ event: eventOf({ id: '1' }), acceptedAt: 0, deliveryCount: 0 })
  const [locked] = await queue.receive(1, 0, new AbortController().signal)
  const token = locked?.lockToken ?? ''
  const call = (operation: Operation, query = '', body: unknown = { lockTokens: [token] }) =>
    settleLockTokens(queue, operation, new URLSearchParams(query), Buffer.from(JSON.stringify(body)))
  return { clock, queue, token, call }
}

it.each<{ operation: Operation; query?: string; left: object }>([
  { operation: 'acknowledge', left: { available: 0, locked: 0, delayed: 0 } },
  { operation: 'reject', left: { available: 0, locked: 0, delayed: 0 } },
  { operation: 'release', left: { available: 1, locked: 0, delayed: 0 } },
  { operation: 'release', query: 'releaseDelayInSeconds=0', left: { available: 1, locked: 0, delayed: 0 } },
  ...['2023-06-01-preview', '2023-11-01'].map((version) => ({
    ...({ operation: 'release', query: `api-version=${version}&releaseDelayInSeconds=0` } as const),
    left: { available: 1, locked: 0, delayed: 0 },
  })),
  ...['10', '60', '600', '3600'].map((delay) => ({
    ...({ operation: 'release', query: `api-version=2024-06-01&releaseDelayInSeconds=${delay}` } as const),
    left: { available: 0, locked: 0, delayed: 1 },
  })),
  { operation: 'renewLock', query: 'api-version=2024-06-01', left: { available: 0, locked: 1, delayed: 0 } },
  { operation: 'renewLock', query: 'api-version=2023-10-01-preview', left: { available: 0, locked: 1, delayed: 0 } },
])('does $operation with the query "$query"', async ({ operation, query, left }) => {
  const { queue, token, call } = await openLocked()
  expect(call(operation, query)).toEqual({ succeededLockTokens: [token], failedLockTokens: [] })
  expect(queue.figures()).toEqual(left)
})

it('holds an event back for as many seconds as it is told', async () => {
  const { clock, queue, call } = await openLocked()
  call('release', 'api-version=2024-06-01&releaseDelayInSeconds=60')
  await clock.advance(59_999)
  expect(queue.figures()).toMatchObject({ delayed: 1 })
  await clock.advance(1)
  expect(queue.figures()).toMatchObject({ available: 1 })
})

it.each<{ what: string; operation: Operation; query?: string; body?: unknown; says: string }>([
  { what: 'renewLock without a version', operation: 'renewLock', says: 'renewLock needs api-version 2024-06-01.' },
  {
    what: 'renewLock of a version before it',
    operation: 'renewLock',
    query: 'api-version=2023-11-01',
    says: 'renewLock needs api-version 2024-06-01.',
  },
  {
    what: 'a delay of a version before it',
    operation: 'release',
    query: 'api-version=2023-11-01&releaseDelayInSeconds=10',
    says: 'release needs api-version 2024-06-01.',
  },
  {
    what: 'another delay',
    operation: 'release',
    query: 'api-version=2024-06-01&releaseDelayInSeconds=11',
    says: 'releaseDelayInSeconds must be one of 0, 10, 60, 600, 3600.',
  },
  ...[{}, { lockTokens: 'x' }, { lockTokens: [] }, { lockTokens: [1] }, { lockTokens: Array(1_001).fill('x') }].map(
    (body, index) => ({
      ...({ what: `a body that has no tokens, ${index + 1}`, operation: 'acknowledge', body } as const),
      says: 'The body must be { "lockTokens": [ ... ] }.',
    }),
  ),
])('refuses $what', async ({ operation, query, body, says }) => {
  const { queue, call } = await openLocked()
  expect(() => call(operation, query, body)).toThrow(expect.objectContaining({ code: 'BadRequest', message: says }))
  expect(queue.figures()).toMatchObject({ locked: 1 })
})

it('says of each of 1,000 tokens what became of it', async () => {
  const { token, call } = await openLocked()
  const lost = 'a'.repeat(32)
  const { succeededLockTokens, failedLockTokens } = call('acknowledge', '', {
    lockTokens: [token, ...Array(997).fill('x'), lost, `${lost}a`],
  })
  expect(succeededLockTokens).toEqual([token])
  expect(failedLockTokens).toHaveLength(999)
  expect(failedLockTokens.slice(-2)).toMatchObject([
    { lockToken: lost, error: { code: 'TokenLost' } },
    { lockToken: `${lost}a`, error: { code: 'BadToken' } },
  ])
})

it('leaves the delay of a release alone where another operation has one', async () => {
  const { queue, call } = await openLocked()
  call('acknowledge', 'api-version=2024-06-01&releaseDelayInSeconds=11')
  expect(queue.size).toBe(0)
})
