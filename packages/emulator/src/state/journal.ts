// Interface for saving pending events: accepted, tried, settled; none in memory.
import type { AcceptedEvent } from '../model/events/accepted-event.ts'
import type { DeliveryOutcome, GiveUpReason } from '../model/events/delivery-outcome.ts'

/**
 * The delivery attempts of an event for one subscription. Times are milliseconds since 1970 by the emulator's clock.
 */
export interface TryState {
  readonly attempts: number
  readonly lastAttemptAt?: number | undefined
  readonly lastOutcome?: DeliveryOutcome | undefined
  readonly lastStatus?: number | undefined
  /** Time of the next attempt. */
  readonly due?: number | undefined
  /** Set if the event waits for dead-lettering. */
  readonly givenUp?: GiveUpReason | undefined
}

/** An event that was pending when the emulator ended. */
export interface JournalEntry {
  readonly row: number
  readonly subscriptionId: string
  readonly event: AcceptedEvent
  readonly acceptedAt: number
  readonly state: TryState
}

/** Persists which events are pending for which event subscription. */
export interface Journal {
  /**
   * Writes events with the ids of their subscriptions; returns their numbers. When it returns, the events survive a
   * kill of the process. Throws if it can't write: then nothing was written.
   */
  accepted(
    events: readonly { readonly event: AcceptedEvent; readonly subscriptionIds: readonly string[] }[],
    acceptedAt: number,
  ): readonly (number | undefined)[]
  /** An attempt failed. A kill soon after may lose this. */
  tried(subscriptionId: string, row: number | undefined, state: TryState): void
  /** The event was delivered, dead-lettered or dropped. After a kill soon after it may be delivered again. */
  settled(subscriptionId: string, row: number | undefined): void
  /** No event of this subscription is pending any more. A kill soon after may bring them back. */
  forget(subscriptionId: string): void
  /** The events that were pending when the emulator ended, oldest first. */
  entries(): Iterable<JournalEntry>
}

/** Persists nothing: events end with the process. */
export const noJournal: Journal = {
  accepted: () => [],
  tried: () => {},
  settled: () => {},
  forget: () => {},
  entries: () => [],
}
