import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTurns, minLeftMs, retryPause } from '../../../src/support/work/work.ts'

const pace = { baseMs: 100, maxMs: 1_000, maxAskedMs: 5_000 }

it.each([
  { name: 'the first: half of the base', attempt: 1, random: 0.5, expected: 50 },
  { name: 'the third: four times the base', attempt: 3, random: 0.5, expected: 200 },
  { name: 'the tenth: the longest', attempt: 10, random: 0.5, expected: 500 },
  { name: 'the thousandth: still the longest', attempt: 1_000, random: 0.999, expected: 999 },
  { name: 'full jitter: as little as nothing', attempt: 5, random: 0, expected: 0 },
  { name: 'Retry-After: no sooner', attempt: 1, retryAfterMs: 2_000, random: 0, expected: 2_000 },
  { name: 'Retry-After with jitter on top', attempt: 1, retryAfterMs: 2_000, random: 0.5, expected: 2_050 },
  { name: 'an enormous Retry-After: its cap', attempt: 1, retryAfterMs: 9e9, random: 0, expected: 5_000 },
  { name: 'a back-off beyond the deadline', attempt: 9, random: 0.999, leftMs: 600, expected: undefined },
  { name: 'a deadline that is too near', attempt: 1, random: 0, leftMs: minLeftMs - 1, expected: undefined },
  { name: 'a deadline that just allows it', attempt: 1, random: 0, leftMs: minLeftMs, expected: 0 },
  {
    name: 'Retry-After beyond the deadline',
    attempt: 1,
    retryAfterMs: 500,
    random: 0,
    leftMs: 500,
    expected: undefined,
  },
])('pauses before another attempt: $name', ({ expected, ...tried }) => {
  expect(retryPause(tried, pace)).toBe(expected)
})

it('never pauses less than is asked for, nor beyond the deadline', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 10_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, retryAfterMs, leftMs, random) => {
        const ms = retryPause({ attempt, retryAfterMs, leftMs, random }, pace)
        if (ms === undefined) return
        expect(ms).toBeGreaterThanOrEqual(Math.min(retryAfterMs, pace.maxAskedMs))
        expect(ms).toBeLessThan(leftMs)
      },
    ),
  )
})

it('does the next work in turn where work before it throws instead of returning a promise', async () => {
  const inTurn = createTurns()
  await expect(inTurn(() => expect.fail('no promise'))).rejects.toThrow('no promise')
  expect(await inTurn(async () => 'next')).toBe('next')
})

it('leaves out work whose signal aborts before its turn, at once, and does what comes behind', async () => {
  const inTurn = createTurns()
  const first = Promise.withResolvers<string>()
  const signals = [new AbortController(), new AbortController()]
  const done: string[] = []
  const running = inTurn(() => first.promise, signals[0]?.signal)
  const left = inTurn(async () => void done.push('left out'), signals[1]?.signal)
  const behind = inTurn(async () => void done.push('behind'))
  // The first work begins before the signals abort.
  await new Promise((turn) => setImmediate(turn))
  for (const controller of signals) controller.abort(new Error('enough'))
  await expect(left).rejects.toThrow('enough')
  expect(done).toEqual([])
  first.resolve('to its end')
  expect(await running).toBe('to its end')
  await behind
  expect(done).toEqual(['behind'])
})
