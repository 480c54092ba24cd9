import { expect, it } from 'vitest'
import { isScarce, nextGrowth } from '../../../src/sidecar/cli/process/garbage-collection.ts'

it.each([
  { percent: 50, lastSecond: 1, lastSeconds: 7, next: 50, why: 'a moderate load' },
  { percent: 50, lastSecond: 2, lastSeconds: undefined, next: 100, why: 'too many collections' },
  { percent: 50, lastSecond: 3, lastSeconds: 3, next: 100, why: 'a load that has just begun' },
  { percent: 400, lastSecond: 9, lastSeconds: 60, next: 400, why: 'no more than five times what is in use' },
  { percent: 200, lastSecond: 0, lastSeconds: undefined, next: 200, why: 'a pause of a few seconds' },
  { percent: 200, lastSecond: 0, lastSeconds: 5, next: 200, why: 'few collections, thanks to the growth' },
  { percent: 200, lastSecond: 1, lastSeconds: 4, next: 100, why: 'the high load is over' },
  { percent: 25, lastSecond: 0, lastSeconds: 0, next: 25, why: 'an idle process' },
])(
  'lets the heap grow by $next % after $lastSecond collections in a second, $lastSeconds in ten, at $percent %: $why',
  ({ percent, lastSecond, lastSeconds, next }) => {
    expect(nextGrowth(percent, { lastSecond, lastSeconds })).toBe(next)
  },
)

it.each([
  { limit: 'of a small container', bytes: 256 * 2 ** 20, scarce: true },
  { limit: 'of a large container', bytes: 512 * 2 ** 20, scarce: false },
  { limit: 'that Node does not know', bytes: 0, scarce: false },
  { limit: 'of a machine without one', bytes: 2 ** 64, scarce: false },
])('a limit $limit keeps the heap small: $scarce', ({ bytes, scarce }) => {
  expect(isScarce(bytes)).toBe(scarce)
})
