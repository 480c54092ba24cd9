import type { AcceptedEvent } from '../model/accepted-event.ts'
import type { DeliveryOutcome, GiveUpReason } from '../model/delivery-outcome.ts'

/**
 * What is known of an event's tries for one subscription. Times are milliseconds since 1970 by the emulator's clock.
 */
export interface TryState {
  readonly attempts: number
  readonly lastAttemptAt?: number | undefined
  readonly lastOutcome?: DeliveryOutcome | undefined
  readonly lastStatus?: number | undefined
  /** When it is tried again. */
  readonly due?: number | undefined
  /** It waits for its dead-lettering. */
  readonly givenUp?: GiveUpReason | undefined
}

/** An event that was neither delivered nor given up when the emulator ended. */
export interface JournalEntry {
  readonly row: number
  readonly subscriptionId: string
  readonly event: AcceptedEvent
  readonly acceptedAt: number
  readonly state: TryState
}

/** Where it is written down which events wait for which event subscription, so that they outlive the process. */
export interface Journal {
  /**
   * Writes events down, each with the subscriptions that want it (resource ids); returns their numbers.
   * Once it returns a kill loses nothing. Throws where it can't be written: then nothing was.
   */
  accepted(
    events: readonly { readonly event: AcceptedEvent; readonly subscriptionIds: readonly string[] }[],
    acceptedAt: number,
  ): readonly (number | undefined)[]
  /** A try failed. A kill soon after may forget it. */
  tried(subscriptionId: string, row: number | undefined, state: TryState): void
  /** Delivered, dead-lettered or dropped. A kill soon after may bring the event back once more. */
  settled(subscriptionId: string, row: number | undefined): void
  /** Nothing waits for this subscription any more. */
  forget(subscriptionId: string): void
  /** What waited at the last end, oldest first. */
  entries(): Iterable<JournalEntry>
}

/** Writes nothing down: events live as long as the process. */
export const noJournal: Journal = {
  accepted: () => [],
  tried: () => {},
  settled: () => {},
  forget: () => {},
  entries: () => [],
}
