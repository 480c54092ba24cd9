/** Time that passes with the turns of the event loop: for tests in which something waits by the machine's clock between real requests. */
import { onTestFinished, vi } from 'vitest'

/** What passes in a turn of a millisecond or more, in ms. Turns are longer on a busy machine, so that it meets no time limit sooner. */
const stepMs = 10

/** From now on, until the test ends, a second passes in a hundred turns of the event loop, for timers, dates and time limits alike. */
export function quickenTime(): void {
  const turns = setInterval(() => vi.advanceTimersByTime(stepMs), 1)
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
