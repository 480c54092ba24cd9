import { describe, expect, it } from 'vitest'
import {
  decideRetry,
  documentedRetryDelays,
  jitter,
  outcomeOf,
} from '../../../src/emulator/delivery/queue/retry-schedule.ts'

const seconds = (decision: ReturnType<typeof decideRetry>) =>
  'delayMs' in decision ? decision.delayMs / 1000 : decision
const following = (attempts: number, status: number | undefined, random = 0) =>
  decideRetry({ status, attempts, maxAttempts: 30, random })

describe('the schedule', () => {
  it.each([
    { attempts: 1, expected: 10 },
    { attempts: 2, expected: 30 },
    { attempts: 3, expected: 60 },
    { attempts: 4, expected: 300 },
    { attempts: 5, expected: 600 },
    { attempts: 6, expected: 1800 },
    { attempts: 7, expected: 3600 },
    { attempts: 8, expected: 3 * 3600 },
    { attempts: 9, expected: 6 * 3600 },
    { attempts: 10, expected: 12 * 3600 },
    { attempts: 11, expected: 12 * 3600 },
    { attempts: 29, expected: 12 * 3600 },
  ])('waits $expected s after try $attempts', ({ attempts, expected }) =>
    expect(seconds(following(attempts, 500))).toBe(expected),
  )

  it('has used up a day before its second pause of twelve hours ends', () => {
    const day = 24 * 3600 * 1000
    const total = documentedRetryDelays.reduce((sum, pause) => sum + pause, 0)
    expect(total).toBeLessThan(day)
    expect(total + 12 * 3600 * 1000).toBeGreaterThan(day)
  })

  it('adds a little at random, never takes away', () => {
    expect(seconds(following(1, 500, 0.999))).toBeGreaterThan(10)
    expect(seconds(following(1, 500, 0.999))).toBeLessThan(10 * (1 + jitter))
  })

  it.each([
    { status: 404, least: 300 },
    { status: 408, least: 120 },
    { status: 503, least: 30 },
    { status: 500, least: 10 },
    { status: 302, least: 10 },
    { status: undefined, least: 10 },
  ])('waits at least $least s after $status', ({ status, least }) => {
    expect(seconds(following(1, status))).toBe(least)
    expect(seconds(following(4, status))).toBe(300)
  })

  it('can be replaced, without the longer pauses of some statuses', () => {
    const decide = (attempts: number) =>
      decideRetry({ status: 404, attempts, maxAttempts: 30, random: 0, delays: [100, 200] })
    expect([decide(1), decide(2), decide(3)]).toEqual([{ delayMs: 100 }, { delayMs: 200 }, { delayMs: 200 }])
  })
})

describe('giving up', () => {
  it.each([400, 401, 403, 413])('never tries again after %i', (status) =>
    expect(following(1, status)).toEqual({ giveUp: 'UndeliverableDueToClientError' }),
  )

  it('ends with the last try allowed', () => {
    expect(decideRetry({ status: 500, attempts: 3, maxAttempts: 3, random: 0 })).toEqual({
      giveUp: 'MaxDeliveryAttemptsExceeded',
    })
    expect(decideRetry({ status: 500, attempts: 2, maxAttempts: 3, random: 0 })).toHaveProperty('delayMs')
  })
})

describe('outcomes', () => {
  it.each([200, 201, 202, 203, 204])('%i is success', (status) => expect(outcomeOf(status)).toBe('Delivered'))

  it.each([
    { status: 205, outcome: 'Aborted' },
    { status: 206, outcome: 'Aborted' },
    { status: 299, outcome: 'Aborted' },
    { status: 302, outcome: 'Aborted' },
    { status: 400, outcome: 'BadRequest' },
    { status: 401, outcome: 'Unauthorized' },
    { status: 403, outcome: 'Forbidden' },
    { status: 404, outcome: 'NotFound' },
    { status: 408, outcome: 'TimedOut' },
    { status: 413, outcome: 'PayloadTooLarge' },
    { status: 429, outcome: 'Busy' },
    { status: 500, outcome: 'Busy' },
    { status: 503, outcome: 'Busy' },
  ])('$status is $outcome', ({ status, outcome }) => expect(outcomeOf(status)).toBe(outcome))
})
