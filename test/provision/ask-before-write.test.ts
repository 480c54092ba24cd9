import { beforeEach, expect, it } from 'vitest'
import { silentLogger } from '../../src/core/logger.ts'
import type { EndpointAnswer } from '../../src/provision/handshake.ts'
import { askBeforeWrite } from '../../src/provision/upsert.ts'
import { systemClock } from '../../src/support/time/clock.ts'
import { quickenTime } from '../support/quick-time.ts'

beforeEach(quickenTime)

/** Asks with so much time left of two minutes. */
function ask(leftMs: number, answers: readonly EndpointAnswer[]) {
  let asked = 0
  return askBeforeWrite({
    endpoint: {
      shown: 'https://orders.example.com/api/events',
      ask: async () => answers[asked++] ?? answers.at(-1) ?? { kind: 'emulated' },
    },
    ...{ eventSubscriptionName: 'orders', because: 'other labels', mayWait: false, timeoutMs: 120_000 },
    limits: { signal: new AbortController().signal, deadline: systemClock.elapsed() + leftMs },
    ...{ onAnswer: () => {}, onWait: () => {}, logger: silentLogger, clock: systemClock },
  })
}

const consent = { kind: 'consent', byWaiting: false } as const

it.each<{ name: string; answers: readonly EndpointAnswer[] }>([
  { name: 'silence', answers: [{ kind: 'silence', why: 'no answer in time' }] },
  { name: 'one consent', answers: [consent] },
])('$name at the end of the time is too little evidence for a write', async ({ answers }) => {
  await expect(ask(300, answers)).rejects.toMatchObject({ failure: { kind: 'deadline' } })
})

it('two consents are enough, and an endpoint of an emulator is not waited for, however little time is left', async () => {
  expect(await ask(2_500, [consent])).toBeUndefined()
  expect(await ask(100, [{ kind: 'emulated' }])).toBeUndefined()
})
