import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { DeliveryOutcome } from '../model/delivery-outcome.ts'

/** An event on its way to one subscription. */
export interface PendingEvent {
  readonly event: AcceptedEvent
  /** Its number in the journal; undefined without a journal. */
  readonly row?: number | undefined
  /** Its bytes, which count as pending until it is released. */
  readonly hold?: Hold | undefined
  readonly acceptedAt: number
  /** Delivery attempts so far. */
  attempts: number
  lastAttemptAt?: number | undefined
  lastOutcome?: DeliveryOutcome | undefined
  lastStatus?: number | undefined
  /** Whether it waits for its next attempt. */
  waits?: boolean
  /** The subscriber answered late while the event waited: there is no next attempt. */
  answered?: boolean
}

/** The bytes of one event, held as long as it is pending for any subscription. */
export interface Hold {
  readonly bytes: number
  holders: number
}

export type PendingBytes = ReturnType<typeof createPendingBytes>

/** Counts the bytes of pending events; an event counts once, however many subscriptions it is pending for. */
export function createPendingBytes() {
  let total = 0
  return {
    get total() {
      return total
    },
    /** Counts an event that is pending for this number of subscriptions. */
    hold(bytes: number, holders: number): Hold {
      total += bytes
      return { bytes, holders }
    },
    /** The event is no longer pending for one of them. */
    release(hold: Hold | undefined): void {
      if (!hold || --hold.holders !== 0) return
      total -= hold.bytes
    },
  }
}
