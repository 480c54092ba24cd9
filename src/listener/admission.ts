/** A member of the queue. */
export interface Waiter {
  /** Memory that it takes while it waits. */
  readonly bytes: number
  /** It has a slot now, and gives it back by `leave`. */
  admit(): void
  /** It gets no slot: the dispatcher stops. */
  refuse(): void
}

/** Waiters at once. */
const maxWaiting = 1_000
/** Bytes of all waiters together. */
const maxWaitingBytes = 64 * 1024 * 1024

/** Counts handler calls, `maxConcurrency` at once, and queues what waits for one. */
export function createAdmission({ maxConcurrency }: { readonly maxConcurrency: number }) {
  const queue = new Set<Waiter>()
  let bytes = 0
  let taken = 0
  let handingOut = false

  function remove(waiter: Waiter): boolean {
    if (!queue.delete(waiter)) return false
    bytes -= waiter.bytes
    return true
  }

  // A loop, not recursion: a synchronous handler calls `leave` within `admit`, a thousand times over.
  function handOut(): void {
    if (handingOut) return
    handingOut = true
    try {
      for (const waiter of queue) {
        if (taken >= maxConcurrency) break
        remove(waiter)
        taken++
        waiter.admit()
      }
    } finally {
      handingOut = false
    }
  }

  return {
    /** Takes a slot if one is free and the queue is empty. */
    tryEnter(): boolean {
      if (taken >= maxConcurrency || queue.size > 0) return false
      taken++
      return true
    },
    /** Gives a slot back; the waiter that came first gets it. */
    leave(): void {
      taken--
      if (queue.size > 0) handOut()
    },
    /** False: the queue is full. A waiter that was admitted before (`again`) always finds room: the first wait bounded their number. */
    wait(waiter: Waiter, turn: 'first' | 'again'): boolean {
      if (turn === 'first' && (queue.size >= maxWaiting || bytes + waiter.bytes > maxWaitingBytes)) return false
      queue.add(waiter)
      bytes += waiter.bytes
      return true
    },
    /** Removes a waiter, if it is in the queue. */
    cancel: remove,
    refuseAll(): void {
      for (const waiter of [...queue]) if (remove(waiter)) waiter.refuse()
    },
    get waiting() {
      return queue.size
    },
  }
}
