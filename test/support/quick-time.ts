/** Time that passes while nothing else happens: for tests in which something waits by the machine's clock between real requests. */
import { performance } from 'node:perf_hooks'
import { onTestFinished, vi } from 'vitest'

/** What passes in each idle turn of the event loop, which takes a millisecond or more, in ms. */
const stepMs = 20

/** A turn with more work, in ms, has answered somebody, or begun to: no time passes in it, so that no time limit is met by it. */
const workMs = 0.5

/** From now on, until the test ends, idle seconds pass in a few dozen turns, for timers, dates and time limits alike. */
export function quickenTime(): void {
  let before = performance.eventLoopUtilization()
  const turns = setInterval(() => {
    const { active } = performance.eventLoopUtilization(before)
    before = performance.eventLoopUtilization()
    if (active < workMs) vi.advanceTimersByTime(stepMs)
  }, 1)
  // An hour ago: a certificate that is made meanwhile must be valid by the machine's time too.
  const now = Date.now() - 3_600_000
  vi.useFakeTimers({ now, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  const limits = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const limit = new AbortController()
    setTimeout(() => limit.abort(new DOMException('the time is over', 'TimeoutError')), ms)
    return limit.signal
  })
  onTestFinished(() => {
    clearInterval(turns)
    limits.mockRestore()
    vi.useRealTimers()
  })
}
