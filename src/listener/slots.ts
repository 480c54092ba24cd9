import type { CancelTimer, Clock } from '../support/clock.ts'
import { type Admission, cancelWait, createAdmission, leave, tryEnter, type Waiter, wait } from './admission.ts'
import type { OpenDelivery } from './open-delivery.ts'

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

/** Handler calls at once, and the deliveries that wait for one. */
export interface Slots {
  readonly options: SlotsOptions
  readonly admission: Admission
  readonly waiters: WeakMap<OpenDelivery, WaitingDelivery>
}

interface WaitingDelivery extends Waiter {
  cancelTimer: CancelTimer | undefined
}

/** Memory that a waiting event takes beside its bytes. Without it a queue of tiny events would not be bounded. */
const memberBytes = 300

export function createSlots(options: SlotsOptions): Slots {
  return { options, admission: createAdmission(options.maxConcurrency), waiters: new WeakMap() }
}

/** Takes a slot, or puts the delivery in the queue and returns false. */
export function takeSlot(slots: Slots, work: OpenDelivery): boolean {
  if (work.holdsSlot || tryEnter(slots.admission)) {
    work.holdsSlot = false
    work.admitted = true
    return true
  }
  const { clock, admissionWaitMs = 3_000, onRefused } = slots.options
  const waiter = waiterOf(slots, work)
  if (!wait(slots.admission, waiter, work.admitted ? 'again' : 'first')) onRefused(work)
  else if (!work.admitted) waiter.cancelTimer = clock.setTimer(admissionWaitMs, () => onRefused(work))
  return false
}

/** Gives back the slot that a delivery was given and does not need. */
export function releaseUnused({ admission }: Slots, work: OpenDelivery): void {
  if (!work.holdsSlot) return
  work.holdsSlot = false
  leave(admission)
}

/** Takes a delivery out of the queue. */
export function leaveQueue({ admission, waiters }: Slots, work: OpenDelivery): void {
  const waiter = waiters.get(work)
  if (!waiter) return
  waiter.cancelTimer?.()
  cancelWait(admission, waiter)
}

/** A waiting delivery keeps the bytes of its events only, because the queue is bounded by bytes. */
function waiterOf({ waiters, options }: Slots, work: OpenDelivery): WaitingDelivery {
  const known = waiters.get(work)
  if (known) return known
  for (const member of work.delivery.members) if (!('invalid' in member)) member.forgetCloudEvent()
  const waiter: WaitingDelivery = {
    cancelTimer: undefined,
    bytes: work.delivery.bytes + work.delivery.members.length * memberBytes,
    admit() {
      waiter.cancelTimer?.()
      work.holdsSlot = true
      options.onSlot(work)
    },
    refuse: () => options.onRefused(work),
  }
  waiters.set(work, waiter)
  return waiter
}
