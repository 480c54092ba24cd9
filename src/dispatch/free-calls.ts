// Handler calls at once: `maxConcurrency`; the queue for one is first come first served, and bounded: 1,000 deliveries, 64 MiB.

export interface FreeCallsOptions<T> {
  readonly maxConcurrency: number
  /** What waited gets a free call. It gives the call back, used or not. */
  readonly onFree: (item: T) => void
}

/** Deliveries in the queue. */
const maxWaiting = 1_000
/** Bytes of all deliveries in the queue. */
const maxWaitingBytes = 64 * 1024 * 1024

/** Handler calls, `maxConcurrency` at once, and what waits for one, in the order in which it came. */
export function createFreeCalls<T>({ maxConcurrency, onFree }: FreeCallsOptions<T>) {
  /** With the bytes of each. */
  const queue = new Map<T, number>()
  let bytes = 0
  let taken = 0
  let handingOut = false

  function leaveQueue(item: T): void {
    bytes -= queue.get(item) ?? 0
    queue.delete(item)
  }

  // A loop, not recursion: a synchronous handler gives its call back within `onFree`, a thousand times over.
  function handOut(): void {
    if (handingOut) return
    handingOut = true
    try {
      for (const item of queue.keys()) {
        if (taken >= maxConcurrency) break
        leaveQueue(item)
        taken++
        onFree(item)
      }
    } finally {
      handingOut = false
    }
  }

  return {
    waiting: () => queue.size,
    /** The items that wait. */
    queue: (): readonly T[] => [...queue.keys()],
    /** Takes a call, if one is free and nothing waits. */
    take(): boolean {
      if (queue.size > 0 || taken >= maxConcurrency) return false
      taken++
      return true
    },
    giveBack(): void {
      taken--
      if (queue.size > 0) handOut()
    },
    hasRoom: (size: number): boolean => queue.size < maxWaiting && bytes + size <= maxWaitingBytes,
    wait(item: T, size: number): void {
      queue.set(item, size)
      bytes += size
    },
    leaveQueue,
  }
}
