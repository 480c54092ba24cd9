import { describe, expect, it } from 'vitest'
import { ArmFailureError } from '../../../src/azure/read-failure.ts'
import {
  createSubscriptionKeeper,
  type SubscriptionKeeperOptions,
} from '../../../src/binding/upkeep/subscription-keeper.ts'
import { BindingError } from '../../../src/core/errors.ts'
import type { Differences, SubscriptionCheck, SubscriptionFinding } from '../../../src/provision/look.ts'
import { captureLog } from '../../support/captured-log.ts'
import { createManualClock } from '../../support/manual-clock.ts'

type Upsert = Awaited<ReturnType<SubscriptionKeeperOptions['connect']>>['upsert']

/** A keeper whose upserts end when the test says so, and whose looks find what the test says, at a time that the test sets. */
function open(options: Pick<SubscriptionKeeperOptions, 'addsCredential'> & { provisioning?: 'manage' | 'check' } = {}) {
  const time = createManualClock(1_000_000)
  const asked: { how: Parameters<Upsert>[0]; end: PromiseWithResolvers<Awaited<ReturnType<Upsert>>> }[] = []
  const checks: { how: Parameters<Upsert>[0]; end: PromiseWithResolvers<SubscriptionCheck> }[] = []
  const found: { next: SubscriptionFinding | Error; looks: number } = { next: { kind: 'found' }, looks: 0 }
  const log = captureLog()
  const bring: Upsert = (how) => {
    const end = Promise.withResolvers<Awaited<ReturnType<Upsert>>>()
    const abort = () => end.reject(new BindingError('ABORTED', { what: 'ended' }))
    if (how.signal.aborted) abort()
    how.signal.addEventListener('abort', abort)
    asked.push({ how, end })
    return end.promise
  }
  const keeper = createSubscriptionKeeper({
    ...{ provisioning: 'manage', logger: log, clock: time.clock, random: () => 0.5, ...options },
    connect: async () => ({
      upsert: bring,
      check(how) {
        const end = Promise.withResolvers<SubscriptionCheck>()
        checks.push({ how, end })
        return end.promise
      },
      async inspect() {
        found.looks++
        if (found.next instanceof Error) throw found.next
        return found.next
      },
    }),
  })
  /** Lets callbacks of settled promises run. */
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
  return {
    ...{ time, asked, checks, found, log, keeper, settle },
    async bringUp(outcome: Awaited<ReturnType<Upsert>> = { action: 'created', wroteAt: 1 }) {
      const up = keeper.bringUp('timeout')
      await settle()
      asked.at(-1)?.end.resolve(outcome)
      await up
    },
    /** Ends the upsert that began last. */
    async end(outcome: Awaited<ReturnType<Upsert>>) {
      asked.at(-1)?.end.resolve(outcome)
      await settle()
    },
    async look() {
      time.advance(7.5 * 60_000)
      await settle()
    },
  }
}

/** What a look finds where the event subscription differs from the metadata. */
const differing = (problem: string, how: Partial<Differences> = {}) => ({
  kind: 'found' as const,
  differences: { problem, lacksCredential: false, isDown: false, isAway: false, ...how },
})

it('is provisioned since its own write, or since it was found as another replica wrote it', async () => {
  const { keeper, bringUp } = open()
  expect(keeper.state()).toEqual({ state: 'pending' })
  expect(keeper.isReady()).toBe(true)
  await bringUp({ action: 'created', wroteAt: 5 })
  expect(keeper.state()).toEqual({ state: 'provisioned', since: 5 })
  const second = open()
  await second.bringUp({ action: 'kept' })
  expect(second.keeper.state()).toEqual({ state: 'provisioned', since: second.time.clock.now() })
})

it('is not ready for half a minute after a read that lacks its credential, or until nobody else answers', async () => {
  const [first, second] = [open({ addsCredential: true }), open({ addsCredential: true })]
  for (const { time, asked, keeper, settle } of [first, second]) {
    keeper.bringUp('forever').catch(() => {})
    await settle()
    time.advance(60_000)
    expect(keeper.isReady()).toBe(true)
    asked[0]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: true })
    time.advance(29_999)
    asked[0]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: true })
    asked[0]?.how.onAnswer?.(true)
    expect(keeper.isReady()).toBe(false)
  }
  first.time.advance(1)
  expect(first.keeper.isReady()).toBe(true)
  second.asked[0]?.how.onAnswer?.(false)
  expect(second.keeper.isReady()).toBe(true)
})

it('is ready while nothing is known, also after a failure', async () => {
  const { asked, keeper, settle } = open({ addsCredential: true })
  keeper.bringUp('forever').catch(() => {})
  await settle()
  expect(keeper.isReady()).toBe(true)
  const error = new BindingError('TIMEOUT', { what: 'no answer from ARM' })
  asked[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
  expect(keeper.isReady()).toBe(true)
})

it('is ready once its upsert has succeeded', async () => {
  const { keeper, bringUp } = open({ addsCredential: true })
  await bringUp({ action: 'kept' })
  expect(keeper.isReady()).toBe(true)
})

it('asks nothing before the upkeep of the former side has ended', async () => {
  const { asked, keeper, settle } = open()
  const former = Promise.withResolvers<void>()
  keeper.bringUp('forever', undefined, former.promise).catch(() => {})
  await settle()
  expect(asked).toHaveLength(0)
  former.resolve()
  await settle()
  expect(asked).toHaveLength(1)
})

it('knows since when the event subscription stands, whatever the time of day', async () => {
  const { time, found, keeper, bringUp, look } = open()
  time.advance(10)
  expect(keeper.standsSince()).toBeUndefined()
  await bringUp()
  time.setForward(3_600_000)
  await look()
  expect(keeper.standsSince()).toBe(10)
  found.next = differing('it is Failed', { isDown: true })
  await look()
  expect(keeper.standsSince()).toBeUndefined()
})

it('knows since when the event subscription delivers with our credential', async () => {
  const { time, asked, keeper, settle } = open({ addsCredential: true })
  keeper.bringUp('forever').catch(() => {})
  await settle()
  const look = (delivers: boolean, lacksCredential: boolean) => {
    time.advance(1)
    asked[0]?.how.onLook?.({ exists: true, delivers, lacksCredential })
    return keeper.carriesOursSince()
  }
  expect(keeper.carriesOursSince()).toBeUndefined()
  expect(look(true, true)).toBeUndefined()
  const since = look(true, false)
  expect(since).toBe(time.clock.elapsed())
  expect(look(true, false)).toBe(since)
  expect(look(true, true)).toBeUndefined()
  expect(look(true, false)).toBe(time.clock.elapsed())
  expect(look(false, false)).toBeUndefined()
})

it('says what a write waits for, in whatever state it is', async () => {
  const { asked, keeper, settle } = open()
  keeper.bringUp('forever').catch(() => {})
  await settle()
  asked[0]?.how.onWait?.('the endpoint answered 503')
  expect(keeper.state()).toEqual({ state: 'pending', why: 'the endpoint answered 503' })
  asked[0]?.how.onLook?.({ exists: false, delivers: false, lacksCredential: false })
  const error = new BindingError('TIMEOUT', { what: 'no answer from ARM' })
  asked[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
  asked[0]?.how.onWait?.('the endpoint answered 404')
  expect(keeper.state()).toEqual({ state: 'failed', why: 'the endpoint answered 404', delivers: false })

  const second = open()
  await second.bringUp({ action: 'created', wroteAt: 5 })
  second.keeper.repair()
  await second.settle()
  second.asked[1]?.how.onWait?.('the endpoint answered 503')
  expect(second.keeper.state()).toEqual({ state: 'provisioned', since: 5, problem: 'the endpoint answered 503' })

  const missing = open({ provisioning: 'check' })
  missing.keeper.bringUp('forever').catch(() => {})
  await missing.settle()
  missing.checks[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: true })
  missing.checks[0]?.how.onWait?.('the endpoint answered 503')
  expect(missing.keeper.state()).toEqual({ state: 'missing', why: error.message })
  missing.checks[0]?.end.reject(error)
  await missing.settle()
  expect(missing.keeper.state().state).toBe('missing')
})

it('stays ready once it was', async () => {
  const { asked, keeper, settle } = open({ addsCredential: true })
  keeper.bringUp('forever').catch(() => {})
  await settle()
  asked[0]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: false })
  expect(keeper.isReady()).toBe(true)
  asked[0]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: true })
  expect(keeper.isReady()).toBe(true)
})

it('says why it failed, also while it is tried again', async () => {
  const { asked, keeper, settle } = open()
  const tried = keeper.bringUp('forever')
  await settle()
  const error = new BindingError('PERMISSION_DENIED', { what: 'no role' })
  asked[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
  expect(keeper.state()).toEqual({ state: 'failed', why: error.message, delivers: 'unseen' })
  const passing = new BindingError('TIMEOUT', { what: 'no answer from ARM', fix: 'check the network' })
  asked[0]?.how.onAttempt?.({ attempt: 2, error: passing, retryInMs: 1, isMissing: false })
  expect(keeper.state()).toEqual({ state: 'failed', why: passing.message })
  asked[0]?.end.reject(new Error('with a secret in it'))
  await expect(tried).rejects.toThrow()
  expect(keeper.state()).toEqual({ state: 'failed', why: 'an unexpected error' })
})

it('repairs at most once a minute, and never while an upsert is under way', async () => {
  const { time, asked, log, keeper, settle } = open()
  const up = keeper.bringUp('timeout')
  keeper.repair()
  await settle()
  expect(asked).toHaveLength(1)
  asked[0]?.end.resolve({ action: 'created', wroteAt: 1 })
  await up
  keeper.repair()
  keeper.repair()
  await settle()
  expect(asked).toHaveLength(2)
  asked[1]?.end.reject(new BindingError('PERMISSION_DENIED', { what: 'no role' }))
  await settle()
  // It delivered before: what fails now, however lasting, is no reason to say that it was never seen.
  expect(keeper.state()).toMatchObject({ state: 'failed', why: 'PERMISSION_DENIED: no role' })
  expect(keeper.state()).not.toHaveProperty('delivers')
  time.advance(59_999)
  keeper.repair()
  await settle()
  expect(asked).toHaveLength(2)
  // Somebody sets the clock back: that delays nothing.
  time.setForward(-3_600_000)
  time.advance(1)
  keeper.repair()
  await settle()
  expect(asked).toHaveLength(3)
  expect(log.lines.filter(({ message }) => message.endsWith('reading the event subscription again'))).toHaveLength(2)
  asked[2]?.end.resolve({ action: 'created', wroteAt: 2 })
  await settle()
  expect(keeper.timesDeleted()).toBe(0)
  time.advance(60_000)
  for (const [exists, times] of [
    [true, 0],
    [false, 1],
  ] as const) {
    keeper.repair()
    await settle()
    // Several reads find it missing, of one deletion.
    for (let reads = 0; reads < 2; reads++)
      asked.at(-1)?.how.onLook?.({ exists, delivers: exists, lacksCredential: false })
    asked.at(-1)?.end.resolve({ action: exists ? 'kept' : 'created' })
    await settle()
    expect(keeper.timesDeleted()).toBe(times)
    time.advance(60_000)
  }
})

it('reads at once what Event Grid says to be deleted, also after a repair, and counts it however the reads end', async () => {
  for (const failed of [undefined, 'TIMEOUT', 'SCOPE_NOT_FOUND'] as const) {
    const { asked, keeper, bringUp, settle } = open()
    await bringUp()
    keeper.repair()
    await settle()
    asked[1]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: false })
    asked[1]?.end.resolve({ action: 'kept' })
    await settle()
    keeper.deleted()
    await settle()
    expect(asked).toHaveLength(3)
    const error = failed && new BindingError(failed, { what: 'no' })
    if (error) asked[2]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
    if (failed === 'SCOPE_NOT_FOUND') expect(keeper.state()).toMatchObject({ state: 'failed', delivers: false })
    else asked[2]?.how.onLook?.({ exists: false, delivers: false, lacksCredential: false })
    expect(keeper.timesDeleted()).toBe(1)
    keeper.deleted()
    await settle()
    expect(asked).toHaveLength(3)
  }
})

it('reads again what Event Grid says to be deleted while it is read, which may have been before', async () => {
  const { asked, keeper, bringUp, settle, end } = open()
  await bringUp()
  keeper.repair()
  await settle()
  keeper.deleted()
  await settle()
  expect(asked).toHaveLength(2)
  await end({ action: 'kept' })
  expect(asked).toHaveLength(3)
  await end({ action: 'created' })
  expect(asked).toHaveLength(3)
})

it('repairs nothing before init has succeeded, which does the same', async () => {
  const { time, asked, keeper, settle } = open()
  keeper.repair()
  const user = new AbortController()
  const up = keeper.bringUp('timeout', user.signal)
  const rejected = expect(up).rejects.toMatchObject({ code: 'ABORTED' })
  await settle()
  expect(asked.map(({ how }) => how.patience)).toEqual(['timeout'])
  user.abort()
  await rejected
  keeper.repair()
  await settle()
  expect([asked.length, time.pending()]).toEqual([1, 0])
})

it('is not taken for one that delivers after ten minutes in which it could not be read', async () => {
  const { time, asked, keeper, settle } = open()
  keeper.bringUp('forever').catch(() => {})
  await settle()
  const fail = () => {
    const error = new BindingError('TIMEOUT', { what: 'no answer' })
    asked[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
  }
  time.advance(60_000)
  fail()
  time.advance(10 * 60_000 - 1)
  fail()
  const failed = { state: 'failed', why: 'TIMEOUT: no answer' }
  expect(keeper.state()).toEqual(failed)
  time.advance(1)
  fail()
  expect(keeper.state()).toEqual({ ...failed, delivers: 'unseen' })
  asked[0]?.how.onLook?.({ exists: true, delivers: true, lacksCredential: false })
  fail()
  expect(keeper.state()).toEqual(failed)
  await keeper.close()
})

it('goes on in the background after a failure that does not pass: somebody may correct its cause', async () => {
  const { asked, keeper, found, look, settle } = open()
  const up = keeper.bringUp('forever')
  await settle()
  asked[0]?.end.reject(new BindingError('SUBSCRIPTION_REJECTED', { what: 'it delivers elsewhere' }))
  await expect(up).rejects.toThrow('it delivers elsewhere')
  expect(keeper.state().state).toBe('failed')
  found.next = differing('other', { lacksCredential: true })
  await look()
  expect(asked).toHaveLength(2)
  asked[1]?.end.resolve({ action: 'created', wroteAt: 1 })
  await settle()
  expect(keeper.state().state).toBe('provisioned')
  await keeper.close()
})

it('is ended by close, which waits for it, and does nothing after', async () => {
  const { time, asked, keeper, settle } = open()
  const up = keeper.bringUp('forever')
  await settle()
  const rejected = expect(up).rejects.toMatchObject({ code: 'ABORTED' })
  await keeper.close()
  await rejected
  keeper.repair()
  expect(asked).toHaveLength(1)
  expect(keeper.state()).toEqual({ state: 'pending' })
  expect(time.pending()).toBe(0)
})

it('tells of no failure where close ends a repair', async () => {
  const { keeper, bringUp, settle } = open()
  await bringUp()
  keeper.repair()
  await settle()
  await keeper.close()
  expect(keeper.state().state).toBe('provisioned')
})

describe('the watch', () => {
  it('looks again after five to ten minutes, for as long as nothing is closed', async () => {
    const { time, found, keeper, bringUp, look } = open()
    await bringUp()
    expect(time.delays).toEqual([450_000])
    await look()
    await look()
    expect(found.looks).toBe(2)
    await keeper.close()
    expect(time.pending()).toBe(0)
    expect(found.looks).toBe(2)
  })

  it.each([
    { isDown: true, isAway: false, delivers: false },
    { isDown: false, isAway: true, delivers: false },
    { isDown: false, isAway: false, delivers: undefined },
  ])(
    'after a look at one that is down: $isDown, away: $isAway, a repair that fails tells delivers: $delivers',
    async (row) => {
      const { time, asked, found, keeper, bringUp, look, settle } = open()
      await bringUp()
      const { isDown, isAway, delivers } = row
      found.next = differing('it differs', { isDown, isAway })
      await look()
      time.advance(60_000)
      const error = new BindingError('TIMEOUT', { what: 'no answer from ARM' })
      found.next = error
      keeper.repair()
      await settle()
      asked[1]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: false })
      const state = { state: 'failed', why: error.message }
      expect(keeper.state()).toEqual(delivers === undefined ? state : { ...state, delivers })
    },
  )

  it('writes nothing where somebody changed it, says so once, and again when it is as it was', async () => {
    const { time, asked, found, log, keeper, bringUp, look } = open()
    await bringUp()
    found.next = differing('it delivers to https://other.example.com/', { isAway: true })
    const lines = (...levels: string[]) => log.lines.filter(({ level }) => levels.includes(level))
    await look()
    expect(lines('warn')).toHaveLength(1)
    const awaySince = time.now()
    await look()
    const problem = 'somebody changed the event subscription: it delivers to https://other.example.com/'
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 1, problem, awaySince })
    expect(lines('warn', 'info')).toHaveLength(1)
    found.next = { kind: 'found' }
    await look()
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 1 })
    await look()
    expect(lines('info')).toMatchObject([{ message: 'the event subscription is as it was again' }])
    expect(lines('warn')).toHaveLength(1)
    expect(asked).toHaveLength(1)
  })

  it('adds our credential where that is gone, and tries again what was not permitted', async () => {
    const { asked, found, log, bringUp, end, look } = open()
    await bringUp()
    found.next = differing('other', { lacksCredential: true })
    await look()
    expect(asked).toHaveLength(2)
    expect(log.text()).toContain('our delivery credential is not in the event subscription')
    await end({ action: 'notPermitted' })
    found.next = { kind: 'found' }
    await look()
    expect(asked).toHaveLength(3)
    await end({ action: 'kept' })
    await look()
    expect(asked).toHaveLength(3)
  })

  it.each<[string, SubscriptionFinding]>([
    ['as it should be', { kind: 'found' }],
    ['down', differing('its provisioning state is Failed', { isDown: true })],
  ])('tries an upsert that failed once more, where it is %s', async (_how, finding) => {
    const { asked, found, keeper, bringUp, end, look, settle } = open()
    await bringUp()
    found.next = finding
    keeper.repair()
    await settle()
    asked[1]?.end.reject(new BindingError('TIMEOUT', { what: 'no answer' }))
    await settle()
    await look()
    expect(asked).toHaveLength(3)
    await end({ action: 'kept' })
    expect(keeper.state()).toMatchObject({ state: 'provisioned' })
  })

  it('says that no event comes where the resource itself is gone, counts it once, and comes back with it', async () => {
    const { found, log, keeper, bringUp, end, look } = open()
    await bringUp()
    found.next = new ArmFailureError({ kind: 'notFound', status: 404, code: 'ResourceNotFound', message: 'gone' })
    await look()
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    await look()
    const why = 'the resource that it belongs to does not exist'
    expect(keeper.state()).toEqual({ state: 'failed', why, delivers: false })
    expect(keeper.timesDeleted()).toBe(1)
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
    found.next = { kind: 'missing', certain: true }
    await look()
    await end({ action: 'created', wroteAt: 7 })
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 7 })
    expect(keeper.timesDeleted()).toBe(1)
  })

  it('keeps what it knows while ARM does not answer, and looks again later', async () => {
    const { found, keeper, log, bringUp, look } = open()
    await bringUp()
    found.next = new ArmFailureError({ kind: 'busy', status: 429, code: 'TooManyRequests', message: 'slowly' })
    await look()
    found.next = new Error('no answer')
    await look()
    expect(found.looks).toBe(2)
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 1 })
    const reasons = log.lines.filter(({ level }) => level === 'debug').map(({ fields }) => fields?.reason)
    expect(reasons).toEqual(['TooManyRequests', 'answerUnread'])
  })

  it.each([
    {
      name: 'Azure refuses the client',
      failure: new ArmFailureError({ kind: 'forbidden', status: 403, code: 'AuthorizationFailed', message: 'no role' }),
      says: 'PERMISSION_DENIED (AuthorizationFailed)',
    },
    {
      name: 'Entra refuses the client',
      failure: new BindingError('CREDENTIALS_REJECTED', { what: 'expired', fix: 'make a new one' }),
      says: 'CREDENTIALS_REJECTED: expired; make a new one',
    },
  ])('is degraded while it may not look, as $name, which is logged once', async ({ failure, says }) => {
    const { found, log, keeper, bringUp, look } = open()
    await bringUp()
    found.next = failure
    await look()
    await look()
    const problem = `the event subscription can't be read any more, so a change of it would not be seen: ${says}`
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 1, problem })
    expect(log.lines.filter(({ message }) => message === problem)).toHaveLength(1)
    found.next = { kind: 'found' }
    await look()
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 1 })
  })

  it('creates one again that is gone, which it believes at the second look where the client may not read the list', async () => {
    const { asked, found, log, keeper, bringUp, end, look } = open()
    await bringUp()
    found.next = { kind: 'missing', certain: false }
    await look()
    expect([asked.length, keeper.state()]).toEqual([1, { state: 'provisioned', since: 1 }])
    found.next = { kind: 'found' }
    await look()
    found.next = { kind: 'missing', certain: false }
    await look()
    expect(asked).toHaveLength(1)
    await look()
    expect(keeper.state()).toEqual({ state: 'failed', why: 'it was deleted', delivers: false })
    expect(asked.map(({ how }) => how.patience)).toEqual(['timeout', 'forever'])
    await end({ action: 'created', wroteAt: 7 })
    expect(keeper.state()).toEqual({ state: 'provisioned', since: 7 })
    expect(keeper.timesDeleted()).toBe(1)
    expect(log.text()).toContain('the event subscription is missing; creating it again')
  })
})

it('with check repairs nothing, warns of a difference once, and is unwell until what is missing exists', async () => {
  const { checks, found, log, keeper, look, settle } = open({ provisioning: 'check', addsCredential: true })
  expect(keeper.isReady()).toBe(true)
  keeper.bringUp('forever').catch(() => {})
  await settle()
  const error = new BindingError('TIMEOUT', { what: 'it does not exist' })
  checks[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1, isMissing: true })
  expect(keeper.state()).toEqual({ state: 'missing', why: error.message })
  checks[0]?.end.resolve({ action: 'found', differences: differing('other filter.subjectBeginsWith').differences })
  await settle()
  const problem = 'the event subscription differs from the metadata: other filter.subjectBeginsWith'
  expect(keeper.state()).toMatchObject({ state: 'provisioned', problem })
  found.next = differing('other filter.subjectBeginsWith', { lacksCredential: true })
  await look()
  expect(keeper.state()).toMatchObject({ state: 'provisioned', problem })
  expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  found.next = new ArmFailureError({ kind: 'notFound', status: 404, code: 'ResourceNotFound', message: 'gone' })
  await look()
  expect(keeper.state()).toEqual({ state: 'missing', why: 'the resource that it belongs to does not exist' })
  found.next = { kind: 'missing', certain: true }
  await look()
  expect(keeper.state()).toEqual({ state: 'missing', why: 'it was deleted' })
  expect(checks).toHaveLength(2)
  expect(log.text()).toContain('the event subscription is missing; waiting until somebody creates it')
})

it('with check says that no event comes while Event Grid delivers nothing by it, at the start and later', async () => {
  const { checks, found, keeper, look, settle } = open({ provisioning: 'check' })
  keeper.bringUp('forever').catch(() => {})
  await settle()
  checks[0]?.end.resolve({
    action: 'found',
    differences: differing('its provisioning state is Failed', { isDown: true }).differences,
  })
  await settle()
  const why = 'the event subscription differs from the metadata: its provisioning state is Failed'
  expect(keeper.state()).toEqual({ state: 'failed', why, delivers: false })
  await look()
  checks[1]?.end.resolve({ action: 'found' })
  await settle()
  expect(keeper.state()).toMatchObject({ state: 'provisioned' })
  found.next = differing('its provisioning state is Failed', { isDown: true })
  await look()
  expect(keeper.state()).toEqual({ state: 'failed', why, delivers: false })
})
