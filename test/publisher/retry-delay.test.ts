import { describe, expect, it } from 'vitest'
import { retryDelay } from '../../src/publisher/retry-delay.ts'

const bounds = { retryBaseMs: 100, retryCapMs: 1_000, retryAfterCapMs: 5_000 }

describe('the wait before another attempt', () => {
  it.each([
    { name: 'the first: half of the base', attempt: 1, retryAfterMs: undefined, random: 0.5, expected: 50 },
    { name: 'the third: four times the base', attempt: 3, retryAfterMs: undefined, random: 0.5, expected: 200 },
    { name: 'the tenth: the cap', attempt: 10, retryAfterMs: undefined, random: 0.5, expected: 500 },
    { name: 'the thousandth: still the cap', attempt: 1_000, retryAfterMs: undefined, random: 0.999, expected: 999 },
    { name: 'full jitter: as little as nothing', attempt: 5, retryAfterMs: undefined, random: 0, expected: 0 },
    { name: 'Retry-After: no sooner', attempt: 1, retryAfterMs: 2_000, random: 0, expected: 2_000 },
    { name: 'Retry-After with jitter on top', attempt: 1, retryAfterMs: 2_000, random: 0.5, expected: 2_050 },
    { name: 'an enormous Retry-After: its cap', attempt: 1, retryAfterMs: 9e9, random: 0, expected: 5_000 },
  ])('$name', ({ attempt, retryAfterMs, random, expected }) => {
    expect(retryDelay({ ...bounds, attempt, retryAfterMs, random: () => random })).toBe(expected)
  })
})
