// Data of an event on its way: attempts, last status, acceptance time.
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import type { DeliveryOutcome } from '../model/events/delivery-outcome.ts'
import type { Hold } from '../model/time/pending-bound.ts'

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
