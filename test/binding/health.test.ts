import { describe, expect, it } from 'vitest'
import { decideHealth, decideInputHealth, decideOutputHealth, decidePullHealth } from '../../src/binding/health.ts'
import { createPullCounts } from '../../src/receiver/pull-counts.ts'

const now = Date.parse('2026-03-11T08:00:00Z')
const minuteMs = 60_000

type PushFacts = Parameters<typeof decideInputHealth>[0]
type PullFacts = Parameters<typeof decidePullHealth>[0]

const none = { total: 0, bad: 0, badInARow: 0, quietMs: Number.POSITIVE_INFINITY }
const quiet = { recent: none, allHang: false }
const listener: PushFacts['listener'] = {
  ...{
    draining: false,
    answered: { 200: 1 },
    strangers: {},
    foreignAt: undefined,
    acceptedAt: undefined,
    lastRefused: undefined,
  },
  ...{ recent: none, crowded: none, handling: quiet },
}
const push: PushFacts = {
  ...{ closed: false, listener, handler: { current() {} }, manages: true, timesDeleted: 0, mayBeRouted: true },
  subscription: { state: 'provisioned', since: now - 10 * minuteMs },
}
const listens = (changes: Partial<PushFacts['listener']>): Partial<PushFacts> => ({
  listener: { ...listener, ...changes },
})
const refused = (status: number, lastAt: number) => listens({ lastRefused: { why: 'it is too large', status, lastAt } })
const all = (total: number, bad = total) => ({ total, bad, badInARow: bad, quietMs: 0 })
/** The last so many, of which none came in the last two minutes. */
const ago = (badInARow: number, quietMs = 10 * minuteMs) => ({ ...none, badInARow, quietMs })
/** An event subscription that delivers to another address. */
const away = (problem: string, awaySince = now - 10 * minuteMs) =>
  ({ state: 'provisioned', since: 1, problem, awaySince }) as const
const gone = { current: undefined, isLost: true }

interface Row<Facts> {
  readonly name: string
  readonly facts: Partial<Facts>
  /** `healthy`, `degraded`, or why it is unhealthy. */
  readonly is: string
  /** In this order, a part of each reason. @default none where healthy */
  readonly says?: readonly string[]
  readonly ready?: boolean
}

describe('push', () => {
  it.each<Row<PushFacts>>([
    { name: 'all is well', facts: {}, is: 'healthy' },
    { name: 'it is closed', facts: { closed: true }, is: 'closed', says: ['does not listen'], ready: false },
    {
      name: 'it is closed, and drained before',
      facts: { closed: true, ...listens({ draining: true }) },
      ...{ is: 'closed', says: ['does not listen'], ready: false },
    },
    { name: 'it drains', facts: listens({ draining: true }), is: 'degraded', says: ['is closing'], ready: false },
    {
      name: 'another replica serves, and this one not yet',
      facts: { mayBeRouted: false },
      ...{ is: 'healthy', ready: false },
    },
    {
      name: 'no handler is there',
      facts: { handler: { current: undefined } },
      is: 'degraded',
      says: ['no application takes events'],
    },
    {
      name: 'the handler has gone',
      facts: { handler: gone },
      ...{ is: 'handler', says: ['no application takes events'] },
    },
    {
      name: 'the handler has gone while the listener drains',
      facts: { handler: gone, ...listens({ draining: true }) },
      ...{ is: 'degraded', says: ['is closing', 'no application takes events'], ready: false },
    },
    {
      name: 'the event subscription is pending',
      facts: { subscription: { state: 'pending' } },
      ...{ is: 'degraded', says: ['^the event subscription is not provisioned yet$'] },
    },
    {
      name: 'the event subscription waits for something',
      facts: { subscription: { state: 'pending', why: 'a handshake' } },
      ...{ is: 'degraded', says: ['not provisioned yet: a handshake$'] },
    },
    {
      name: 'somebody changed it',
      facts: { subscription: { state: 'provisioned', since: 1, problem: 'it has another filter' } },
      ...{ is: 'degraded', says: ['^it has another filter$'] },
    },
    {
      name: 'somebody had it deliver elsewhere',
      facts: {
        subscription: away('it delivers to a hub'),
      },
      ...{ is: 'subscription', says: ['^it delivers to a hub$'] },
    },
    {
      name: 'it names another address, and deliveries come all the same',
      facts: {
        subscription: away('it delivers to another host'),
        ...listens({ acceptedAt: now - 10 * minuteMs }),
      },
      ...{ is: 'degraded', says: ['^it delivers to another host$'] },
    },
    {
      name: 'it names another address, and no delivery has come since',
      facts: {
        subscription: away('it delivers to another host', now - 5 * minuteMs),
        ...listens({ acceptedAt: now - 10 * minuteMs }),
      },
      ...{ is: 'subscription', says: ['^it delivers to another host$'] },
    },
    {
      name: 'it names another address, and no delivery has come for an hour',
      facts: {
        subscription: away('it delivers to another host', 1),
        ...listens({ acceptedAt: now - 60 * minuteMs }),
      },
      ...{ is: 'subscription', says: ['^it delivers to another host$'] },
    },
    { name: 'nobody is asked about it', facts: { subscription: { state: 'unmanaged' } }, is: 'healthy' },
    {
      name: 'it is missing',
      facts: { subscription: { state: 'missing', why: 'it was deleted' } },
      ...{ is: 'subscription', says: ['^no event comes: it was deleted$'] },
    },
    {
      name: 'its upsert failed for a reason that passes',
      facts: { subscription: { state: 'failed', why: '429' } },
      ...{ is: 'degraded', says: ['^the event subscription could not be provisioned: 429$'] },
    },
    {
      name: 'its upsert failed, and it does not deliver',
      facts: { subscription: { state: 'failed', why: 'no consent', delivers: false } },
      ...{
        is: 'subscription',
        says: ['^no event comes: the event subscription could not be provisioned: no consent$'],
      },
    },
    {
      name: 'it was never seen, and a delivery has come',
      facts: { subscription: { state: 'failed', why: 'no role', delivers: 'unseen' } },
      ...{ is: 'degraded', says: ['^the event subscription could not be provisioned: no role$'] },
    },
    {
      name: 'it was never seen, and none has come',
      facts: { subscription: { state: 'failed', why: 'no role', delivers: 'unseen' }, ...listens({ answered: {} }) },
      ...{ is: 'subscription', says: ['no role'] },
    },
    {
      name: 'it is missing while the listener drains',
      facts: { subscription: { state: 'missing', why: 'it was deleted' }, ...listens({ draining: true }) },
      ...{ is: 'degraded', says: ['is closing', 'it was deleted'], ready: false },
    },
    {
      name: 'a delivery without a known credential came within five minutes',
      facts: listens({ foreignAt: now - 5 * minuteMs + 1 }),
      ...{ is: 'degraded', says: ['no credential that is known here: .* sends them again$'] },
    },
    {
      name: 'the same where somebody else writes the event subscription',
      facts: { manages: false, ...listens({ foreignAt: now - 1 }) },
      ...{ is: 'degraded', says: ['no credential that is known here: .* sends them again; .+'] },
    },
    { name: 'such a delivery came five minutes ago', facts: listens({ foreignAt: now - 5 * minuteMs }), is: 'healthy' },
    {
      name: 'such a delivery came before the event subscription was read with our credential',
      facts: { subscription: { state: 'provisioned', since: now - 1 }, ...listens({ foreignAt: now - 2 }) },
      is: 'healthy',
    },
    {
      name: 'such a delivery came in the millisecond in which the event subscription was read',
      facts: { subscription: { state: 'provisioned', since: now - 1 }, ...listens({ foreignAt: now - 1 }) },
      ...{ is: 'degraded', says: ['no credential'] },
    },
    {
      name: 'such a delivery came while nobody is asked about the event subscription',
      facts: { subscription: { state: 'unmanaged' }, ...listens({ foreignAt: now - 1 }) },
      ...{ is: 'degraded', says: ['no credential'] },
    },
    ...[400, 401, 403, 413].map((status) => ({
      name: `a delivery was answered ${status}`,
      facts: refused(status, now - 60 * minuteMs + 1),
      ...{
        is: 'degraded',
        says: [`07:00:00.001Z.* it is too large; .* answered ${status}: Event Grid does not send it again`],
      },
    })),
    {
      name: 'a delivery was answered 415',
      facts: refused(415, now),
      ...{ is: 'degraded', says: ['answered 415: Event Grid sends it again$'] },
    },
    { name: 'a delivery was refused an hour ago', facts: refused(400, now - 60 * minuteMs), is: 'healthy' },
    {
      name: 'half of six deliveries were put off',
      facts: listens({ recent: all(6, 3) }),
      ...{ is: 'deliveries', says: ['^3 of the 6 deliveries'] },
    },
    { name: 'less than half of seven were', facts: listens({ recent: all(7, 3) }), is: 'healthy' },
    { name: 'four of four were', facts: listens({ recent: all(4) }), is: 'healthy' },
    {
      name: 'all were while the listener drains',
      facts: listens({ recent: all(5), draining: true }),
      ...{ is: 'degraded', says: ['is closing', '5 of the 5'], ready: false },
    },
    {
      name: 'the last ten deliveries were, nearly an hour ago',
      facts: listens({ recent: ago(10, 60 * minuteMs - 1) }),
      ...{ is: 'deliveries', says: ['^the last 10 deliveries were refused or put off$'] },
    },
    { name: 'the last ten were an hour ago', facts: listens({ recent: ago(10, 60 * minuteMs) }), is: 'healthy' },
    { name: 'the last nine were', facts: listens({ recent: ago(9) }), is: 'healthy' },
    {
      name: 'half of six deliveries found no free handler call',
      facts: listens({ crowded: all(6, 3) }),
      ...{ is: 'degraded', says: ['^3 of the 6 deliveries .* found no free handler call .* maxConcurrency'] },
    },
    { name: 'less than half of seven found none', facts: listens({ crowded: all(7, 3) }), is: 'healthy' },
    {
      name: 'each of five handler calls failed',
      facts: listens({ handling: { ...quiet, recent: all(5) } }),
      ...{ is: 'handler', says: ['failed the last 5 events'] },
    },
    {
      name: 'each of four calls failed',
      facts: listens({ handling: { ...quiet, recent: all(4) } }),
      is: 'healthy',
    },
    {
      name: 'four of five calls failed',
      facts: listens({ handling: { ...quiet, recent: all(5, 4) } }),
      is: 'healthy',
    },
    {
      name: 'each call failed while the listener drains',
      facts: listens({ handling: { ...quiet, recent: all(5) }, draining: true }),
      ...{ is: 'degraded', says: ['is closing', 'failed the last 5'], ready: false },
    },
    {
      name: 'each handler call that there may be hangs, for long',
      facts: listens({ handling: { ...quiet, allHang: true } }),
      ...{ is: 'handler', says: ['^every handler call .* has run longer than handlerTimeout'] },
    },
    {
      name: 'hanging calls keep deliveries out',
      facts: listens({ handling: { ...quiet, allHang: true }, recent: all(5) }),
      ...{ is: 'handler', says: ['^5 of the 5 deliveries', 'longer than handlerTimeout'] },
    },
    {
      name: 'each handler call hangs while the listener drains',
      facts: listens({ handling: { ...quiet, allHang: true }, draining: true }),
      ...{ is: 'degraded', says: ['is closing', 'longer than handlerTimeout'], ready: false },
    },
    {
      name: 'the last nine calls failed, long ago',
      facts: listens({ handling: { ...quiet, recent: ago(9) } }),
      is: 'healthy',
    },
    {
      name: 'the last ten calls failed, long ago',
      facts: listens({ handling: { ...quiet, recent: ago(10, 24 * 60 * minuteMs) } }),
      ...{ is: 'handler', says: ['failed the last 10 events'] },
    },
  ])('$name: $is', ({ facts, ...expected }) => {
    const health = decideInputHealth({ ...push, ...facts }, now)
    expectHealth(health, expected)
    expect(health.answered).toEqual(facts.listener?.answered ?? { 200: 1 })
  })

  it('says the first cause that applies, and every reason', () => {
    const health = decideInputHealth(
      {
        ...push,
        ...listens({ recent: all(5), handling: { ...quiet, recent: all(5) } }),
        subscription: { state: 'missing', why: 'it was deleted' },
        timesDeleted: 2,
      },
      now,
    )
    expectHealth(health, { is: 'subscription', says: ['it was deleted', '5 of the 5', 'failed the last 5'] })
    expect(health.eventSubscription).toEqual({ state: 'missing', timesDeleted: 2 })
  })
})

describe('pull', () => {
  const receiver: NonNullable<PullFacts['receiver']> = {
    ...{ failure: undefined, everReceived: true, draining: false, handling: quiet, counts: createPullCounts() },
  }
  const receives = (changes: Partial<typeof receiver>): Partial<PullFacts> => ({
    receiver: { ...receiver, ...changes },
  })
  const fails = (forMs: number) => ({ failure: { reason: '503', forMs } })
  const pull: PullFacts = {
    closed: false,
    handler: { current() {} },
    subscription: undefined,
    timesDeleted: 0,
    receiver,
  }

  it.each<Row<PullFacts>>([
    { name: 'all is well', facts: {}, is: 'healthy' },
    { name: 'it is closed', facts: { closed: true }, is: 'closed', says: ['receiver is closing'], ready: false },
    { name: 'it drains', facts: receives({ draining: true }), is: 'degraded', says: ['receiver is closing'] },
    {
      name: 'no handler is there',
      facts: { handler: { current: undefined } },
      is: 'degraded',
      says: ['no application takes events'],
    },
    {
      name: 'the handler has gone',
      facts: { handler: gone },
      ...{ is: 'handler', says: ['no application takes events'] },
    },
    {
      name: 'the handler has gone while it drains',
      facts: { handler: gone, ...receives({ draining: true }) },
      ...{ is: 'degraded', says: ['is closing', 'no application takes events'] },
    },
    {
      name: 'the last ten handler calls failed, long ago',
      facts: receives({ handling: { ...quiet, recent: ago(10, 24 * 60 * minuteMs) } }),
      ...{ is: 'handler', says: ['failed the last 10 events'] },
    },
    { name: 'nothing was received yet', facts: receives({ everReceived: false }), is: 'healthy' },
    { name: 'receives fail for a minute', facts: receives(fails(60_000)), is: 'degraded', says: ['received: 503$'] },
    { name: 'receives fail for longer', facts: receives(fails(60_001)), is: 'receive', says: ['received: 503$'] },
    {
      name: 'receives fail for longer while it drains',
      facts: receives({ ...fails(60_001), draining: true }),
      ...{ is: 'degraded', says: ['is closing', '503'] },
    },
    {
      name: 'the first receive failed',
      facts: receives({ ...fails(0), everReceived: false }),
      ...{ is: 'receive', says: ['503'] },
    },
    {
      name: 'there is no receiver yet',
      facts: { receiver: undefined, subscription: { state: 'pending' } },
      ...{ is: 'degraded', says: ['not provisioned yet'] },
    },
    {
      name: 'there is no receiver yet, and Resource Manager is not asked',
      facts: { receiver: undefined },
      is: 'healthy',
    },
    {
      name: 'there is no receiver, for a reason',
      facts: { receiver: undefined, whyNotStarted: 'no such key' },
      ...{ is: 'receive', says: ['cannot be received: no such key'] },
    },
    {
      name: 'there is no receiver, and the upsert failed',
      facts: { receiver: undefined, subscription: { state: 'failed', why: '429' } },
      ...{ is: 'receive', says: ['could not be provisioned: 429'] },
    },
    {
      name: 'the upsert failed, and it receives',
      facts: { subscription: { state: 'failed', why: 'no role', delivers: 'unseen' } },
      ...{ is: 'degraded', says: ['no role'] },
    },
    {
      name: 'the upsert failed, and it has not received',
      facts: {
        subscription: { state: 'failed', why: 'no role', delivers: 'unseen' },
        ...receives({ everReceived: false }),
      },
      ...{ is: 'subscription', says: ['no role'] },
    },
    {
      name: 'the event subscription is missing',
      facts: { subscription: { state: 'missing', why: 'it was deleted' } },
      ...{ is: 'subscription', says: ['it was deleted'] },
    },
    {
      name: 'somebody had it deliver elsewhere',
      facts: {
        subscription: away('it delivers to a hub'),
      },
      ...{ is: 'subscription', says: ['^it delivers to a hub$'] },
    },
    {
      name: 'it is missing while the receiver drains',
      facts: { subscription: { state: 'missing', why: 'it was deleted' }, ...receives({ draining: true }) },
      ...{ is: 'degraded', says: ['is closing', 'it was deleted'] },
    },
    {
      name: 'each of five handler calls failed',
      facts: receives({ handling: { ...quiet, recent: all(5) } }),
      ...{ is: 'handler', says: ['failed the last 5 events'] },
    },
    {
      name: 'each call failed while it drains',
      facts: receives({ handling: { ...quiet, recent: all(5) }, draining: true }),
      ...{ is: 'degraded', says: ['is closing', 'failed the last 5'] },
    },
    {
      name: 'each handler call that there may be hangs, for long',
      facts: receives({ handling: { ...quiet, allHang: true } }),
      ...{ is: 'handler', says: ['^every handler call .* has run longer than handlerTimeout'] },
    },
    {
      name: 'each handler call hangs while the receiver drains',
      facts: receives({ handling: { ...quiet, allHang: true }, draining: true }),
      ...{ is: 'degraded', says: ['is closing', 'longer than handlerTimeout'] },
    },
  ])('$name: $is', ({ facts, ...expected }) => {
    const health = decidePullHealth({ ...pull, ...facts })
    expectHealth(health, expected)
    expect(health.pull).toEqual(createPullCounts())
    const state = facts.subscription?.state
    expect(health.eventSubscription).toEqual(state && { state, timesDeleted: 0 })
  })
})

function expectHealth(
  { status, cause, reasons, ready }: ReturnType<typeof decideInputHealth>,
  expected: Pick<Row<unknown>, 'is' | 'says' | 'ready'>,
) {
  const { is, says = [], ready: isReady = true } = expected
  expect(status === 'unhealthy' ? cause : status).toBe(is)
  expect(reasons).toEqual(says.map((part) => expect.stringMatching(part)))
  expect(ready).toBe(isReady)
}

it('is the worse of both sides, and unhealthy without one', () => {
  const output = decideOutputHealth('no answer')
  expect(output).toEqual({ status: 'degraded', reasons: ['the last publish failed: no answer'] })
  expect(decideOutputHealth(undefined)).toEqual({ status: 'healthy', reasons: [] })
  const input = decideInputHealth(push, now)
  expect(decideHealth({ input, output })).toEqual({ status: 'degraded', input, output })
  expect(decideHealth({ input, output: undefined })).toEqual({ status: 'healthy', input })
  expect(decideHealth({ input: undefined, output })).toEqual({ status: 'degraded', output })
  const closed = decideInputHealth({ ...push, closed: true }, now)
  expect(decideHealth({ input: closed, output }).status).toBe('unhealthy')
  expect(decideHealth({ input: undefined, output: undefined })).toEqual({ status: 'unhealthy' })
})
