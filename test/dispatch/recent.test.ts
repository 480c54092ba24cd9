import { expect, it } from 'vitest'
import { createRecentCounts } from '../../src/dispatch/handler.ts'

it('counts what was added in the last two minutes', () => {
  let now = 500
  const counts = createRecentCounts(() => now)
  expect(counts.current()).toEqual({ total: 0, bad: 0 })
  for (const isBad of [false, true, true]) counts.add(isBad)
  now = 60_000
  counts.add(true)
  expect(counts.current()).toEqual({ total: 4, bad: 3 })
  now = 119_999
  expect(counts.current()).toEqual({ total: 4, bad: 3 })
  now = 120_000
  expect(counts.current()).toEqual({ total: 1, bad: 1 })
  counts.add(false)
  now = 180_000
  expect(counts.current()).toEqual({ total: 1, bad: 0 })
  now = 86_400_000
  expect(counts.current()).toEqual({ total: 0, bad: 0 })
})
