import { vi } from 'vitest'

/** Repeats a check until it holds, and resolves with its result. Fails only after half a minute: a busy machine is no failure. */
export const eventually = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 30_000 })
