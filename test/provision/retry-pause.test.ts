import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decideRetryDelay } from '../../src/provision/attempts.ts'

it('waits anything up to a bound that doubles to 30 s', () => {
  const longest = [1, 2, 3, 6, 7, 1_000].map((attempt) =>
    decideRetryDelay({ code: 'TIMEOUT', attempt, retryAfterMs: 0, random: 1 }),
  )
  expect(longest).toEqual([1_000, 2_000, 4_000, 30_000, 30_000, 30_000])
  expect(decideRetryDelay({ code: 'HANDSHAKE_FAILED', attempt: 9, retryAfterMs: 0, random: 0 })).toBe(0)
})

it('never waits less than Azure asks for, nor an hour and a minute', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('TIMEOUT' as const, 'HANDSHAKE_FAILED' as const, 'PERMISSION_DENIED' as const),
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 10_000_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (code, attempt, retryAfterMs, random) => {
        const ms = decideRetryDelay({ code, attempt, retryAfterMs, random })
        expect(ms).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 3_600_000))
        expect(ms).toBeLessThanOrEqual(3_660_000)
      },
    ),
  )
})
