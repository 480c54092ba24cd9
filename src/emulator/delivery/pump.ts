import type { CancelTimer, Clock } from '../model/clock.ts'
import type { WorkCounter } from './work-counter.ts'

/** Calls the queues when something is due. */
export interface Pump {
  /** Runs at this time at the latest, in milliseconds since 1970. */
  wakeAt(due: number): void
  /** Runs in the next turn of the event loop: the publisher's answer goes first, and events of one tick share a batch. */
  soon(): void
  close(): void
}

/** Makes the pump. `run` sends everything that is due. */
export function createPump(clock: Clock, work: WorkCounter, run: () => void): Pump {
  let timer: { readonly due: number; readonly cancel: CancelTimer } | undefined
  let scheduled = false
  let closed = false
  return {
    wakeAt(due) {
      if (closed || (timer && timer.due <= due)) return
      timer?.cancel()
      const cancel = clock.setTimer(Math.max(due - clock.now(), 0), () => {
        timer = undefined
        run()
      })
      timer = { due, cancel }
    },
    soon() {
      if (scheduled || closed) return
      scheduled = true
      work.begin()
      setImmediate(() => {
        scheduled = false
        if (!closed) run()
        work.end()
      })
    },
    close() {
      closed = true
      timer?.cancel()
    },
  }
}
