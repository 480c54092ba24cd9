/** How many handler calls run at once, and which deliveries wait for one. */

interface Waiting {
  /** Memory that it takes in the queue; does not change while it waits. */
  readonly queueBytes: number
}

export interface FreeCallsOptions<T> {
  readonly maxConcurrency: number
  /** What waited gets a free call. It gives the call back, used or not. */
  readonly onFree: (item: T) => void
}

/** Deliveries in the queue. */
const maxWaiting = 1_000
/** Bytes of all deliveries in the queue. */
const maxWaitingBytes = 64 * 1024 * 1024
/** How long a delivery waits for its first free call. */
export const maxWaitMs = 3_000

/** Handler calls, `maxConcurrency` at once, and what waits for one, in the order in which it came. */
export function createFreeCalls<T extends Waiting>({ maxConcurrency, onFree }: FreeCallsOptions<T>) {
  const queue: T[] = []
  let bytes = 0
  let taken = 0
  let handingOut = false

  function leaveQueue(item: T): void {
    const place = queue.indexOf(item)
    if (place === -1) return
    queue.splice(place, 1)
    bytes -= item.queueBytes
  }

  // A loop, not recursion: a synchronous handler gives its call back within `onFree`, a thousand times over.
  function handOut(): void {
    if (handingOut) return
    handingOut = true
    try {
      while (taken < maxConcurrency) {
        const [item] = queue
        if (item === undefined) break
        leaveQueue(item)
        taken++
        onFree(item)
      }
    } finally {
      handingOut = false
    }
  }

  return {
    waiting: () => queue.length,
    /** The items that wait. */
    queue: (): readonly T[] => [...queue],
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
    wait(item: T): void {
      queue.push(item)
      bytes += item.queueBytes
    },
    /** Does nothing for an item that does not wait. */
    leaveQueue,
  }
}
