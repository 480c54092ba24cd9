/** The fake timers that a test itself starts. An earlier test file may have left work in the process that starts timers too. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { onTestFinished, vi } from 'vitest'

/** To be called after `vi.useFakeTimers`, whose `setTimeout` it watches until the test ends. */
export function watchOwnTimers() {
  const own = new AsyncLocalStorage<true>()
  /** Where each timer was started that has neither fired nor been cleared. */
  const open = new Map<unknown, string>()
  const { setTimeout, clearTimeout } = globalThis
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('setTimeout', (callback: () => void, ms?: number) => {
    const timer = setTimeout(() => {
      open.delete(timer)
      callback()
    }, ms)
    if (own.getStore()) open.set(timer, new Error(`a timer of ${ms} ms`).stack ?? '')
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: NodeJS.Timeout | undefined) => {
    open.delete(timer)
    clearTimeout(timer)
  })
  return {
    /** Runs what is watched. */
    run<T>(live: () => Promise<T>): Promise<T> {
      open.clear()
      return own.run(true, live)
    },
    /** The timers that are left, as the stack where each was started. */
    left: () => [...open.values()],
  }
}
