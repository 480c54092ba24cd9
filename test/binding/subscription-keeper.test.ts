import { expect, it } from 'vitest'
import { createSubscriptionKeeper, type SubscriptionKeeperOptions } from '../../src/binding/subscription-keeper.ts'
import { BindingError } from '../../src/core/errors.ts'
import { captureLog } from '../support/captured-log.ts'

type Upsert = SubscriptionKeeperOptions['upsert']

/** A keeper whose upserts end when the test says so, at a time that the test sets. */
function open() {
  const time = { now: 1_000_000, elapsed: 0 }
  const asked: { how: Parameters<Upsert>[0]; end: PromiseWithResolvers<Awaited<ReturnType<Upsert>>> }[] = []
  const log = captureLog()
  const keeper = createSubscriptionKeeper({
    logger: log,
    now: () => time.now,
    elapsed: () => time.elapsed,
    upsert(how) {
      const end = Promise.withResolvers<Awaited<ReturnType<Upsert>>>()
      how.signal.addEventListener('abort', () => end.reject(new BindingError('ABORTED', { what: 'ended' })))
      asked.push({ how, end })
      return end.promise
    },
  })
  return { time, asked, log, keeper }
}

it('stands since its own write, or since it was found as another replica wrote it', async () => {
  const { time, asked, keeper } = open()
  expect(keeper.state()).toEqual({ state: 'pending' })
  const first = keeper.bringUp('timeout')
  asked[0]?.end.resolve({ action: 'created', wroteAt: 5 })
  await first
  expect(keeper.state()).toEqual({ state: 'standing', since: 5 })
  const second = keeper.bringUp('timeout')
  asked[1]?.end.resolve({ action: 'kept' })
  await second
  expect(keeper.state()).toEqual({ state: 'standing', since: time.now })
})

it('tells why it failed, while it is tried again too', async () => {
  const { asked, keeper } = open()
  const tried = keeper.bringUp('forever')
  const error = new BindingError('PERMISSION_DENIED', { what: 'no role' })
  asked[0]?.how.onAttempt?.({ attempt: 1, error, retryInMs: 1 })
  expect(keeper.state()).toEqual({ state: 'failed', why: error.message })
  const passing = new BindingError('TIMEOUT', { what: 'no answer from ARM', fix: 'check the network' })
  asked[0]?.how.onAttempt?.({ attempt: 2, error: passing, retryInMs: 1 })
  expect(keeper.state()).toEqual({ state: 'failed', why: 'no answer from ARM; check the network' })
  asked[0]?.end.reject(new Error('with a secret in it'))
  await expect(tried).rejects.toThrow()
  expect(keeper.state()).toEqual({ state: 'failed', why: 'an unexpected error' })
})

it('repairs at most once a minute, and never while it is under way', async () => {
  const { time, asked, log, keeper } = open()
  const up = keeper.bringUp('timeout')
  keeper.repair()
  expect(asked).toHaveLength(1)
  asked[0]?.end.resolve({ action: 'created', wroteAt: 1 })
  await up
  keeper.repair()
  keeper.repair()
  expect(asked).toHaveLength(2)
  asked[1]?.end.reject(new BindingError('TIMEOUT', { what: 'no answer' }))
  await expect(asked[1]?.end.promise).rejects.toThrow()
  time.elapsed += 59_999
  keeper.repair()
  expect(asked).toHaveLength(2)
  // Somebody sets the clock back: that is not waited for.
  time.now -= 3_600_000
  time.elapsed += 1
  keeper.repair()
  expect(asked).toHaveLength(3)
  expect(log.text()).toContain('could not be put right: TIMEOUT: no answer')
})

it('is ended by close, which waits for it, and repairs nothing after', async () => {
  const { asked, keeper } = open()
  const up = keeper.bringUp('forever')
  const rejected = expect(up).rejects.toMatchObject({ code: 'ABORTED' })
  await keeper.close()
  await rejected
  keeper.repair()
  expect(asked).toHaveLength(1)
  expect(keeper.state()).toEqual({ state: 'pending' })
})
