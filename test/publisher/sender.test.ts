import { describe, expect, it } from 'vitest'
import { retryDelay } from '../../src/publisher/sender.ts'

const bounds = { retryBaseMs: 100, retryCapMs: 1_000, retryAfterCapMs: 5_000 }

describe('the wait before another attempt', () => {
  it.each([
    { name: 'the first: half of the base', attempts: 1, retryAfterMs: 0, random: 0.5, expected: 50 },
    { name: 'the third: four times the base', attempts: 3, retryAfterMs: 0, random: 0.5, expected: 200 },
    { name: 'the tenth: the cap', attempts: 10, retryAfterMs: 0, random: 0.5, expected: 500 },
    { name: 'the thousandth: still the cap', attempts: 1_000, retryAfterMs: 0, random: 0.999, expected: 999 },
    { name: 'full jitter: as little as nothing', attempts: 5, retryAfterMs: 0, random: 0, expected: 0 },
    { name: 'Retry-After: no sooner', attempts: 1, retryAfterMs: 2_000, random: 0, expected: 2_000 },
    { name: 'Retry-After with jitter on top', attempts: 1, retryAfterMs: 2_000, random: 0.5, expected: 2_050 },
    { name: 'an enormous Retry-After: its cap', attempts: 1, retryAfterMs: 9e9, random: 0, expected: 5_000 },
  ])('$name', ({ attempts, retryAfterMs, random, expected }) => {
    expect(retryDelay({ attempts, retryAfterMs, random }, bounds)).toBe(expected)
  })
})
