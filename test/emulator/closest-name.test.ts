import { expect, it } from 'vitest'
import { closestName } from '../../src/emulator/model/closest-name.ts'

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
])('takes $written for $meant', ({ written, meant }) => expect(closestName(written, names)).toBe(meant))
