import { expect, it } from 'vitest'
import type { EventOutcome } from '../../src/dispatch/delivery.ts'
import { decideSettlement, type Settlement } from '../../src/receiver/settler.ts'

it.each<{ outcome: EventOutcome; count: number; expected: Settlement }>([
  { outcome: 'resolved', count: 9, expected: { kind: 'acknowledge' } },
  { outcome: 'rejected', count: 1, expected: { kind: 'reject' } },
  { outcome: 'invalid', count: 1, expected: { kind: 'reject' } },
  { outcome: 'notTried', count: 9, expected: { kind: 'release' } },
  { outcome: 'threw', count: 0, expected: { kind: 'release', delaySeconds: 0 } },
  { outcome: 'threw', count: 1, expected: { kind: 'release', delaySeconds: 0 } },
  { outcome: 'threw', count: 2, expected: { kind: 'release', delaySeconds: 10 } },
  { outcome: 'timedOut', count: 3, expected: { kind: 'release', delaySeconds: 60 } },
  { outcome: 'threw', count: 4, expected: { kind: 'release', delaySeconds: 600 } },
  { outcome: 'threw', count: 5, expected: { kind: 'release', delaySeconds: 3_600 } },
  { outcome: 'timedOut', count: 9, expected: { kind: 'release', delaySeconds: 3_600 } },
])('settles what was $outcome at the delivery count $count', ({ outcome, count, expected }) => {
  expect(decideSettlement(outcome, count)).toEqual(expected)
})
