import { expect, it, vi } from 'vitest'
import { createQuietLog } from '../../src/core/logger.ts'
import type { NamespaceClient } from '../../src/receiver/namespace-client.ts'
import { createSettler } from '../../src/receiver/settler.ts'
import { captureLog } from '../support/captured-log.ts'
import { createManualClock } from '../support/manual-clock.ts'

it('does not hold up an event by one that has failed often: each has its own pause', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.99)
  const { clock, advance, delays } = createManualClock()
  const logger = captureLog()
  let isDown = true
  const settle = vi.fn<NamespaceClient['settle']>(async () =>
    isDown ? { failure: { status: 503, reason: 'status 503' } } : { failed: new Map() },
  )
  const settler = createSettler({ client: { settle }, log: createQuietLog({ logger, clock }), logger, clock })
  const acknowledge = (lockToken: string, lockMs: number, onEnd = vi.fn()) => {
    const lock = { lockToken, origin: undefined, expiresAt: clock.elapsed() + lockMs }
    settler.settle(lock, { kind: 'acknowledge' }, onEnd)
    return onEnd
  }
  const pauses = () => delays.filter((ms) => ms < 5_000 && ms !== 1_000)
  acknowledge('old', 60_000)
  for (let failures = 1; failures <= 6; failures++) {
    await expect.poll(pauses).toHaveLength(failures)
    advance(5_000)
  }
  const onEnd = acknowledge('new', 2_000)
  await expect.poll(() => settle.mock.lastCall?.[0].lockTokens).toEqual(['new', 'old'])
  isDown = false
  await expect.poll(() => pauses().length).toBeGreaterThan(6)
  advance(200)
  await expect.poll(() => onEnd.mock.calls).toEqual([['done']])
})
