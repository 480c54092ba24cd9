import { describe, expect, it } from 'vitest'
import { decideRetry, jitter, outcomeOf } from '../../src/delivery/queue/retry-schedule.ts'

const seconds = (decision: ReturnType<typeof decideRetry>) =>
  'delayMs' in decision ? decision.delayMs / 1000 : decision
const following = (attempts: number, status: number | undefined, random = 0) =>
  decideRetry({
    status,
    outcome: status === undefined ? 'SocketError' : outcomeOf(status),
    attempts,
    maxAttempts: 30,
    random,
  })

describe('the schedule', () => {
  it('waits 10 s, 30 s, 1, 5, 10, 30 min, 1, 3, 6 h, then every 12 h', () => {
    const pauses = Array.from({ length: 12 }, (_, index) => seconds(following(index + 1, 500)))
    const hour = 3600
    expect(pauses.slice(0, 6)).toEqual([10, 30, 60, 300, 600, 1800])
    expect(pauses.slice(6)).toEqual([hour, 3 * hour, 6 * hour, 12 * hour, 12 * hour, 12 * hour])
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

it.each([
  { what: 'a status that is final', status: 400, attempts: 1, giveUp: 'UndeliverableDueToClientError' },
  { what: 'the last attempt', status: 500, attempts: 30, giveUp: 'MaxDeliveryAttemptsExceeded' },
  { what: 'a final status of the last attempt', status: 413, attempts: 30, giveUp: 'UndeliverableDueToClientError' },
])('$what is given up', ({ status, attempts, giveUp }) => expect(following(attempts, status)).toEqual({ giveUp }))

it("a schedule of one's own is kept to, and its last pause repeats; what is random is added to it too", () => {
  const own = (attempts: number, random = 0) =>
    decideRetry({ status: 404, outcome: 'NotFound', attempts, maxAttempts: 30, random, delays: [100, 200] })
  expect([own(1), own(2), own(3), own(29)].map((one) => 'delayMs' in one && one.delayMs)).toEqual([100, 200, 200, 200])
  expect(own(1, 0.5)).toEqual({ delayMs: 105 })
})
