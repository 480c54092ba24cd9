// Handler calls at once: `maxConcurrency`; first-come queue for one: 3 s at most, 1,000 deliveries, 64 MiB.
import type { Clock } from '../support/time/clock.ts'
import type { OpenDelivery } from './open-delivery.ts'

export interface SlotsOptions {
  readonly maxConcurrency: number
  readonly clock: Pick<Clock, 'setTimer'>
  /** A delivery that waited was given a slot. */
  readonly onSlot: (work: OpenDelivery) => void
  /** A delivery gets no slot: the queue is full, its wait is over, or the dispatcher stops. */
  readonly onRefused: (work: OpenDelivery) => void
}

/** Handler calls, `maxConcurrency` at once, and the deliveries that wait for one, in the order in which they came. */
export interface Slots {
  readonly options: SlotsOptions
  readonly queue: Set<OpenDelivery>
  /** Size of the queue. */
  waiting: number
  /** Memory of all deliveries in the queue. */
  bytes: number
  /** Slots in use. */
  taken: number
  handingOut: boolean
}

/** How long a delivery waits for its first slot. */
const maxWaitMs = 3_000
/** Deliveries in the queue. */
const maxWaiting = 1_000
/** Bytes of all deliveries in the queue. */
const maxWaitingBytes = 64 * 1024 * 1024
/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

export function createSlots(options: SlotsOptions): Slots {
  return { options, queue: new Set(), waiting: 0, bytes: 0, taken: 0, handingOut: false }
}

/** Takes a slot, or puts the delivery in the queue and returns false. */
export function takeSlot(slots: Slots, work: OpenDelivery): boolean {
  if (!work.holdsSlot) {
    if (slots.waiting > 0 || slots.taken >= slots.options.maxConcurrency) {
      wait(slots, work)
      return false
    }
    slots.taken++
  }
  work.holdsSlot = false
  work.admitted = true
  return true
}

/** A delivery that was admitted before always finds room in the queue: its first wait bounded the number of these. */
function wait(slots: Slots, work: OpenDelivery): void {
  const { clock, onRefused } = slots.options
  if (work.waitingBytes === 0) {
    // It keeps the bytes of its events only, because the queue is bounded by bytes.
    for (const member of work.delivery.members) if (!('invalid' in member)) member.forgetCloudEvent()
    work.waitingBytes = work.delivery.bytes + work.delivery.members.length * memberBytes
  }
  if (!work.admitted) {
    if (slots.waiting >= maxWaiting || slots.bytes + work.waitingBytes > maxWaitingBytes) {
      onRefused(work)
      return
    }
    work.endWait = clock.setTimer(maxWaitMs, () => onRefused(work))
  }
  slots.queue.add(work)
  slots.waiting++
  slots.bytes += work.waitingBytes
}

/** Takes a delivery out of the queue. Returns false if it was not in the queue. */
export function leaveQueue(slots: Slots, work: OpenDelivery): boolean {
  if (!slots.queue.delete(work)) return false
  work.endWait?.()
  slots.waiting--
  slots.bytes -= work.waitingBytes
  return true
}

/** Gives back the slot that a delivery was given and does not need. */
export function releaseUnused(slots: Slots, work: OpenDelivery): void {
  if (!work.holdsSlot) return
  work.holdsSlot = false
  leave(slots)
}

/** Gives a slot back; the delivery that came first gets it. */
export function leave(slots: Slots): void {
  slots.taken--
  if (slots.waiting > 0) handOut(slots)
}

export function refuseAll(slots: Slots): void {
  for (const work of [...slots.queue]) if (leaveQueue(slots, work)) slots.options.onRefused(work)
}

// A loop, not recursion: a synchronous handler calls `leave` within `onSlot`, a thousand times over.
function handOut(slots: Slots): void {
  if (slots.handingOut) return
  slots.handingOut = true
  try {
    for (const work of slots.queue) {
      if (slots.taken >= slots.options.maxConcurrency) break
      leaveQueue(slots, work)
      slots.taken++
      work.holdsSlot = true
      slots.options.onSlot(work)
    }
  } finally {
    slots.handingOut = false
  }
}
