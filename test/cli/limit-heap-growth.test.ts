import { expect, it } from 'vitest'
import { nextGrowth } from '../../src/cli/limit-heap-growth.ts'

it.each([
  { percent: 50, collections: 3, next: 50, why: 'a moderate load' },
  { percent: 50, collections: 6, next: 100, why: 'too many collections' },
  { percent: 400, collections: 60, next: 400, why: 'no more than five times what is in use' },
  { percent: 200, collections: 1, next: 200, why: 'few collections, thanks to the growth' },
  { percent: 200, collections: 0, next: 100, why: 'the load is over' },
  { percent: 50, collections: 0, next: 50, why: 'an idle process' },
])(
  'lets the heap grow by $next % after $collections collections at $percent %: $why',
  ({ percent, collections, next }) => {
    expect(nextGrowth(percent, collections)).toBe(next)
  },
)
