import { expect, it } from 'vitest'
import { upsertSubscriptions } from '../../src/provision/upsert.ts'
import { refusal } from '../support/refusal.ts'
import { handshakeFailed, refused } from './fake-arm.ts'
import { inputMetadata } from './input.ts'
import { openTarget } from './open-target.ts'
import type { Answer, Asked } from './scripted-arm.ts'

const busy = refused(409, 'Conflict')
/** Answers the requests of a method as told, one after the other, the last answer again and again. */
const each = (method: string, ...answers: (Answer | undefined)[]) => {
  let count = 0
  return (asked: Asked) => (asked.method === method ? answers[Math.min(count++, answers.length - 1)] : undefined)
}

it.each<{ what: string; patience: 'timeout' | 'forever'; answers: (Answer | undefined)[]; pauses: number[] }>([
  {
    what: 'twice as long each time, with no more than half of the time that is left',
    patience: 'timeout',
    answers: [busy],
    // By chance half of: 1,000; 2,000; 4,000; then half of 6,500, 4,875 and so on.
    pauses: [500, 1_000, 2_000, 1_625, 1_219, 914, 686, 514, 386, 289, 217, 163, 122, 92, 69],
  },
  {
    what: 'twice as long each time, half a minute at most',
    patience: 'forever',
    answers: [...Array.from({ length: 7 }, () => busy), undefined],
    pauses: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000],
  },
  {
    what: 'as Resource Manager asks, and the usual pause on top',
    patience: 'forever',
    answers: [{ ...refused(429, 'TooManyRequests'), headers: { 'retry-after': '7' } }, undefined],
    pauses: [7_500],
  },
  {
    what: 'half a minute and more where somebody has to correct the cause',
    patience: 'forever',
    answers: [refused(403, 'AuthorizationFailed'), refused(403, 'AuthorizationFailed'), undefined],
    pauses: [45_000, 45_000],
  },
])('waits before another attempt $what', async ({ patience, answers, pauses }) => {
  const { targetOf, taskOf, failed, time } = await openTarget({ once: each('PUT', ...answers) })
  const upsert = upsertSubscriptions(targetOf(inputMetadata({ subscriptionTimeoutMs: 10_000 })), taskOf({ patience }))
  if (patience === 'timeout') {
    const { code, message, cause, details } = await refusal(upsert)
    expect({ code, details }).toMatchObject({ code: 'TIMEOUT', details: { attempts: pauses.length + 1 } })
    const seconds = Math.round((time.elapsed() - 1_000_000) / 1_000)
    expect(message).toContain(`gave up after ${pauses.length + 1} attempts in ${seconds} s`)
    expect(cause).toBe(failed.at(-1)?.error)
  } else await upsert
  expect(failed.flatMap(({ retryInMs }) => (retryInMs === undefined ? [] : Math.round(retryInMs)))).toEqual(pauses)
})

it('says that one attempt was all, where the time is over with the first', async () => {
  const { targetOf, taskOf, time } = await openTarget({ once: each('PUT', busy) })
  const input = inputMetadata({ subscriptionTimeoutMs: 200 })
  const { code, message, details } = await refusal(upsertSubscriptions(targetOf(input), taskOf()))
  expect({ code, details, waits: time.waits }).toMatchObject({ code: 'TIMEOUT', details: { attempts: 1 }, waits: [] })
  expect(message).toContain('gave up after one attempt in 0 s')
})

it.each([
  { what: 'a write that never ends', isCut: false },
  { what: 'a connection that breaks as the time ends', isCut: true },
])('names the failure before $what, which says more', async ({ isCut }) => {
  const { arm, targetOf, taskOf, time, failed } = await openTarget({
    once({ method }) {
      if (!isCut || method !== 'GET' || failed.length === 0) return undefined
      time.pass(Math.max(0, 1_019_900 - time.elapsed()))
      return 'cut'
    },
  })
  arm.operations.push(handshakeFailed('NotFound'), ...Array.from({ length: 50 }, () => ({ status: 'InProgress' })))
  const upsert = upsertSubscriptions(targetOf(inputMetadata({ subscriptionTimeoutMs: 20_000 })), taskOf())
  const { code, message, details } = await refusal(upsert)
  expect({ code, details }).toMatchObject({ code: 'HANDSHAKE_FAILED', details: { attempts: failed.length } })
  expect(message).toContain('NotFound')
  expect(failed).toHaveLength(2)
})

it.each([false, true])('names what it waited for where it is aborted, after a failure: %s', async (hasFailed) => {
  const aborting = new AbortController()
  const { arm, targetOf, taskOf } = await openTarget({
    once: ({ method }) => (hasFailed && method === 'PUT' ? busy : undefined),
  })
  if (!hasFailed) arm.operations.push({ status: 'InProgress' })
  const task = taskOf({ signal: aborting.signal, onAttempt: () => aborting.abort() })
  const upsert = upsertSubscriptions(targetOf(inputMetadata()), task)
  if (!hasFailed) {
    await expect.poll(() => arm.writes().length).toBe(1)
    aborting.abort()
  }
  const { code, message, cause } = await refusal(upsert)
  expect(code).toBe('ABORTED')
  if (hasFailed) {
    expect(message).toContain('the last failure')
    expect(cause).toMatchObject({ code: 'TIMEOUT' })
  } else expect(cause).toBeUndefined()
})

it('is received from as it is where the right to write is missing and none is needed', async () => {
  const { targetOf, taskOf, log, failed } = await openTarget({ once: each('PUT', refused(403, 'AuthorizationFailed')) })
  const target = { ...targetOf(inputMetadata()), receivesWithoutRights: true }
  expect(await upsertSubscriptions(target, taskOf())).toEqual({ action: 'notPermitted' })
  expect(failed).toEqual([])
  expect(log.filter((line) => line.startsWith('warn'))).toHaveLength(1)
})
