// When due deliveries are sent: timer, or next turn of the event loop.
import { realTimers } from '../../../../src/support/time/clock.ts'
import type { CancelTimer, Clock } from '../model/time/clock.ts'
import type { WorkCounter } from '../model/time/work-counter.ts'

/** Calls `run`, which sends everything that is due, when something is due. */
export function createPump(clock: Clock, work: WorkCounter, run: () => void) {
  let timer: { readonly due: number; readonly cancel: CancelTimer } | undefined
  let scheduled = false
  let closed = false
  return {
    /** Runs at this time at the latest, in milliseconds since 1970. */
    wakeAt(due: number): void {
      if (closed || (timer && timer.due <= due)) return
      timer?.cancel()
      const cancel = clock.setTimer(Math.max(due - clock.now(), 0), () => {
        timer = undefined
        run()
      })
      timer = { due, cancel }
    },
    /** Runs in the next turn of the event loop: the publisher is answered first, and events of one tick share a batch. */
    soon(): void {
      if (scheduled || closed) return
      scheduled = true
      work.begin()
      realTimers.setImmediate(() => {
        scheduled = false
        if (!closed) run()
        work.end()
      })
    },
    close(): void {
      closed = true
      timer?.cancel()
    },
  }
}
