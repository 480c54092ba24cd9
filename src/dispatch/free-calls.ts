/** How many handler calls run at once, and which deliveries wait for one. */
import type { OpenDelivery } from './delivery.ts'

/** Deliveries in the queue. */
const maxWaiting = 1_000
/** Bytes of all deliveries in the queue. */
const maxWaitingBytes = 64 * 1024 * 1024
/** How long a delivery waits for its first free call. */
export const maxWaitMs = 3_000

/**
 * Handler calls, `maxConcurrency` at once, and what waits for one, in the order in which it came.
 *
 * @param onFree called with a delivery that waited, for a free call; it gives the call back, used or not
 */
export function createFreeCalls(maxConcurrency: number, onFree: (work: OpenDelivery) => void) {
  const queue: OpenDelivery[] = []
  let bytes = 0
  let taken = 0
  let handingOut = false

  function leaveQueue(work: OpenDelivery): OpenDelivery {
    if (work.state !== 'waiting') return work
    queue.splice(queue.indexOf(work), 1)
    bytes -= work.queueBytes
    work.cancelWait?.()
    work.cancelWait = undefined
    work.state = 'begun'
    return work
  }

  // A loop, not recursion: a synchronous handler gives its call back within `onFree`, a thousand times over.
  function handOut(): void {
    if (handingOut) return
    handingOut = true
    try {
      while (taken < maxConcurrency) {
        const [work] = queue
        if (work === undefined) break
        taken++
        onFree(leaveQueue(work))
      }
    } finally {
      handingOut = false
    }
  }

  return {
    waiting: () => queue.length,
    /** The deliveries that wait. */
    queue: (): readonly OpenDelivery[] => [...queue],
    /** Takes a call, if one is free and nothing waits. */
    take(): boolean {
      if (queue.length > 0 || taken >= maxConcurrency) return false
      taken++
      return true
    },
    giveBack(): void {
      taken--
      if (queue.length > 0) handOut()
    },
    hasRoom: (size: number): boolean => queue.length < maxWaiting && bytes + size <= maxWaitingBytes,
    wait(work: OpenDelivery): void {
      work.state = 'waiting'
      queue.push(work)
      bytes += work.queueBytes
    },
    /** Gives the delivery, which waits no longer. */
    leaveQueue,
  }
}
