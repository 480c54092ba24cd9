/** Somebody who waits for a slot. */
export interface Waiter {
  /** Bytes that are kept in memory meanwhile: the body, and what is known of its events. */
  readonly bytes: number
  /** A slot is theirs now; they give it back by `leave`. */
  admit(): void
  /** No slot will come: the listener drains. */
  refuse(): void
}

/** Counts handler calls, and who waits for one. */
export interface Admission {
  /** Takes a slot if one is free and nobody waits for it. */
  tryEnter(): boolean
  /** Gives a slot back; the one who has waited longest gets it. */
  leave(): void
  /** Queues. False: the queue is full. One who has been admitted before (`again`) always finds room, for the first wait bounded their number. */
  wait(waiter: Waiter, turn: 'first' | 'again'): boolean
  /** Leaves the queue; nothing happens if they are not in it. */
  cancel(waiter: Waiter): void
  /** Refuses all who wait. */
  refuseAll(): void
  readonly waiting: number
}

export interface AdmissionOptions {
  /** Handler calls at once. */
  readonly maxConcurrency: number
  /** Bodies that may wait. @default 1_000 */
  readonly maxWaiting?: number
  /** Bytes of the bodies that wait. @default 67_108_864 */
  readonly maxWaitingBytes?: number
}

export function createAdmission({
  maxConcurrency,
  maxWaiting = 1_000,
  maxWaitingBytes = 64 * 1024 * 1024,
}: AdmissionOptions): Admission {
  const queue = new Set<Waiter>()
  let bytes = 0
  let taken = 0
  let handingOut = false

  function remove(waiter: Waiter): boolean {
    if (!queue.delete(waiter)) return false
    bytes -= waiter.bytes
    return true
  }

  // A loop, not recursion: a handler that ends at once leaves within `admit`, a thousand times over.
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
    tryEnter() {
      if (taken >= maxConcurrency || queue.size > 0) return false
      taken++
      return true
    },
    leave() {
      taken--
      if (queue.size > 0) handOut()
    },
    wait(waiter, turn) {
      if (turn === 'first' && (queue.size >= maxWaiting || bytes + waiter.bytes > maxWaitingBytes)) return false
      queue.add(waiter)
      bytes += waiter.bytes
      return true
    },
    cancel(waiter) {
      remove(waiter)
    },
    refuseAll() {
      for (const waiter of [...queue]) if (remove(waiter)) waiter.refuse()
    },
    get waiting() {
      return queue.size
    },
  }
}
