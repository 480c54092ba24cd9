import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { whileAwaited } from '../../../src/sidecar/shared/invoke.ts'

it.each([
  ['close', { destroyed: true }],
  ['cancelled', { cancelled: true }],
] as const)('aborts at once where the caller has gone before, who emits no %s any more', async (gone, state) => {
  const call = Object.assign(new EventEmitter(), state)
  expect(await whileAwaited(call, gone, async ({ aborted }) => aborted)).toBe(true)
  expect(call.listenerCount(gone)).toBe(0)
})
