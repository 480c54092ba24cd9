import { describe, expect, it } from 'vitest'
import { readRetryAfter, retryDelay } from '../../src/publisher/retry-delay.ts'

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

describe('a Retry-After header', () => {
  const now = Date.parse('2026-03-11T08:00:00Z')
  it.each([
    { header: '7', expected: 7_000 },
    { header: ' 0 ', expected: 0 },
    { header: 'Wed, 11 Mar 2026 08:00:09 GMT', expected: 9_000 },
    { header: 'Wed, 11 Mar 2026 07:00:00 GMT', expected: 0 },
    { header: '-1', expected: undefined },
    { header: '1.5', expected: undefined },
    { header: 'soon', expected: undefined },
    { header: '', expected: undefined },
    { header: undefined, expected: undefined },
  ])('$header asks for $expected ms', ({ header, expected }) => {
    expect(readRetryAfter(header, now)).toBe(expected)
  })
})
