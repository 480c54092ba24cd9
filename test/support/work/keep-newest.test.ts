import { expect, it } from 'vitest'
import { keepNewest } from '../../../src/support/work/work.ts'

it('keeps the newest entries: one that is set again is the newest', () => {
  const map = new Map<string, number>()
  for (const key of ['a', 'b', 'a', 'c']) keepNewest(map, key, map.size, 2)
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 2],
  ])
})
