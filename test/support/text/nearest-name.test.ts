import { expect, it } from 'vitest'
import { nearestName } from '../../../src/support/text/nearest-name.ts'

const names = ['port', 'httpPort', 'topics', 'subscriptions', 'eventSubscriptions']

it.each([
  { written: 'topic', meant: 'topics' },
  { written: 'tpoics', meant: 'topics' },
  { written: 'HTTPPORT', meant: 'httpPort' },
  { written: 'eventSubscription', meant: 'eventSubscriptions' },
  { written: 'colour', meant: undefined },
  { written: 'x', meant: undefined },
  { written: '', meant: undefined },
  { written: 'topics'.repeat(100), meant: undefined },
])('takes $written for $meant', ({ written, meant }) => expect(nearestName(written, names)).toBe(meant))
