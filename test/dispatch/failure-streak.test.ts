import { expect, it } from 'vitest'
import { createFailureStreak } from '../../src/dispatch/failure-streak.ts'

it('counts failures in a row from the first on, and is ended by a success alone', () => {
  let now = 0
  const streak = createFailureStreak(() => now)
  const failAt = (at: number) => {
    now = at
    streak.failed()
    return streak.current()
  }
  expect(streak.current()).toBeUndefined()
  expect(failAt(5)).toEqual({ count: 1, since: 5, lastAt: 5 })
  expect(failAt(7)).toEqual({ count: 2, since: 5, lastAt: 7 })
  expect(failAt(900_000)).toEqual({ count: 3, since: 5, lastAt: 900_000 })
  streak.succeeded()
  expect(streak.current()).toBeUndefined()
  expect(failAt(900_001)).toEqual({ count: 1, since: 900_001, lastAt: 900_001 })
})
