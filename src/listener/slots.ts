import type { CancelTimer, Clock } from '../support/clock.ts'
import { createAdmission, type Waiter } from './admission.ts'
import type { OpenDelivery } from './open-delivery.ts'

/** Handler calls at once, and the deliveries that wait for one. */
export interface Slots {
  /** Takes a slot, or puts the delivery in the queue and returns false. */
  take(work: OpenDelivery): boolean
  /** Gives back one slot; the delivery that has waited longest gets it. */
  release(): void
  /** Gives back the slot that a delivery was given and does not need. */
  releaseUnused(work: OpenDelivery): void
  /** Takes a delivery out of the queue. */
  cancel(work: OpenDelivery): void
  /** Refuses all that wait. */
  refuseAll(): void
  /** Deliveries in the queue. */
  readonly waiting: number
}

export interface SlotsOptions {
  readonly maxConcurrency: number
  /** How long a delivery waits for its first slot. @default 3_000 */
  readonly admissionWaitMs?: number
  readonly clock: Pick<Clock, 'setTimer'>
  /** A delivery that waited was given a slot. */
  readonly onSlot: (work: OpenDelivery) => void
  /** A delivery gets no slot: the queue is full, its wait is over, or the dispatcher stops. */
  readonly onRefused: (work: OpenDelivery) => void
}

/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

export function createSlots(options: SlotsOptions): Slots {
  const { admissionWaitMs = 3_000, clock, onSlot, onRefused } = options
  const admission = createAdmission(options)
  const waiters = new WeakMap<OpenDelivery, Waiter & { cancelTimer: CancelTimer | undefined }>()

  /** A waiting delivery keeps the bytes of its events only, because the queue is bounded by bytes. */
  function waiterOf(work: OpenDelivery) {
    const known = waiters.get(work)
    if (known) return known
    for (const member of work.delivery.members) if (!('invalid' in member)) member.forgetCloudEvent()
    const waiter = {
      cancelTimer: undefined,
      bytes: work.delivery.bytes + work.delivery.members.length * memberBytes,
      admit() {
        stopTimer(work)
        work.holdsSlot = true
        onSlot(work)
      },
      refuse: () => onRefused(work),
    }
    waiters.set(work, waiter)
    return waiter
  }

  function stopTimer(work: OpenDelivery): void {
    waiters.get(work)?.cancelTimer?.()
  }

  return {
    take(work) {
      if (work.holdsSlot || admission.tryEnter()) {
        work.holdsSlot = false
        work.admitted = true
        return true
      }
      const waiter = waiterOf(work)
      if (!admission.wait(waiter, work.admitted ? 'again' : 'first')) onRefused(work)
      else if (!work.admitted) waiter.cancelTimer = clock.setTimer(admissionWaitMs, () => onRefused(work))
      return false
    },
    release: () => admission.leave(),
    releaseUnused(work) {
      if (!work.holdsSlot) return
      work.holdsSlot = false
      admission.leave()
    },
    cancel(work) {
      const waiter = waiters.get(work)
      if (!waiter) return
      stopTimer(work)
      admission.cancel(waiter)
    },
    refuseAll: () => admission.refuseAll(),
    get waiting() {
      return admission.waiting
    },
  }
}
