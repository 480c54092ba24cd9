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
export interface Admission {
  readonly maxConcurrency: number
  readonly queue: Set<Waiter>
  /** Size of the queue. */
  waiting: number
  /** Memory of all waiters. */
  bytes: number
  /** Slots in use. */
  taken: number
  handingOut: boolean
}

export function createAdmission(maxConcurrency: number): Admission {
  return { maxConcurrency, queue: new Set(), waiting: 0, bytes: 0, taken: 0, handingOut: false }
}

/** Takes a slot if one is free and the queue is empty. */
export function tryEnter(admission: Admission): boolean {
  if (admission.taken >= admission.maxConcurrency || admission.waiting > 0) return false
  admission.taken++
  return true
}

/** Gives a slot back; the waiter that came first gets it. */
export function leave(admission: Admission): void {
  admission.taken--
  if (admission.waiting > 0) handOut(admission)
}

/** False: the queue is full. A waiter that was admitted before (`again`) always finds room: the first wait bounded their number. */
export function wait(admission: Admission, waiter: Waiter, turn: 'first' | 'again'): boolean {
  const isFull = admission.waiting >= maxWaiting || admission.bytes + waiter.bytes > maxWaitingBytes
  if (turn === 'first' && isFull) return false
  admission.queue.add(waiter)
  admission.waiting++
  admission.bytes += waiter.bytes
  return true
}

/** Removes a waiter. Returns false if it was not in the queue. */
export function cancelWait(admission: Admission, waiter: Waiter): boolean {
  if (!admission.queue.delete(waiter)) return false
  admission.waiting--
  admission.bytes -= waiter.bytes
  return true
}

export function refuseAll(admission: Admission): void {
  for (const waiter of [...admission.queue]) if (cancelWait(admission, waiter)) waiter.refuse()
}

// A loop, not recursion: a synchronous handler calls `leave` within `admit`, a thousand times over.
function handOut(admission: Admission): void {
  if (admission.handingOut) return
  admission.handingOut = true
  try {
    for (const waiter of admission.queue) {
      if (admission.taken >= admission.maxConcurrency) break
      cancelWait(admission, waiter)
      admission.taken++
      waiter.admit()
    }
  } finally {
    admission.handingOut = false
  }
}
