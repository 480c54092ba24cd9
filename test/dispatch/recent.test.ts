import { expect, it } from 'vitest'
import { createRecentCounts } from '../../src/dispatch/handler.ts'

it('counts what was added in the last two minutes', () => {
  let now = 500
  const counts = createRecentCounts({ elapsed: () => now })
  expect(counts.current()).toMatchObject({ total: 0, bad: 0 })
  for (const isBad of [false, true, true]) counts.add(isBad)
  now = 60_000
  counts.add(true)
  expect(counts.current()).toMatchObject({ total: 4, bad: 3 })
  now = 119_999
  expect(counts.current()).toMatchObject({ total: 4, bad: 3 })
  now = 120_000
  expect(counts.current()).toMatchObject({ total: 1, bad: 1 })
  counts.add(false)
  now = 180_000
  expect(counts.current()).toMatchObject({ total: 1, bad: 0 })
  now = 86_400_000
  expect(counts.current()).toMatchObject({ total: 0, bad: 0 })
})

it('counts the bad ones since the last good one, however long ago, and says how long nothing came', () => {
  let now = 500
  const counts = createRecentCounts({ elapsed: () => now })
  expect(counts.current()).toMatchObject({ badInARow: 0, quietMs: Number.POSITIVE_INFINITY })
  for (const isBad of [true, false, true, true]) counts.add(isBad)
  now += 86_400_000
  expect(counts.current()).toEqual({ total: 0, bad: 0, badInARow: 2, quietMs: 86_400_000 })
  counts.add(false)
  expect(counts.current()).toMatchObject({ badInARow: 0, quietMs: 0 })
})
