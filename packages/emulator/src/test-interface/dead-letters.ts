/** The dead letters of all event subscriptions, one by one with their reason, whether or not they have a place in a storage account. */
import type { Records } from '../records/record-types.ts'

/** An event that was given up. */
export interface DeadLetter {
  /** When it was written or dropped, in milliseconds since 1970 by the emulator's clock. */
  readonly at: number
  /** The event subscription's name. */
  readonly subscription: string
  readonly subscriptionId: string
  /** Why: `MaxDeliveryAttemptsExceeded`, `TimeToLiveExceeded`, `UndeliverableDueToClientError` or `Rejected`. */
  readonly reason: string
  /** Where it was written; absent for one that was dropped, as the event subscription has no place for dead letters. */
  readonly blobPath?: string
  /** As the blob has it: with reason, number of attempts and last outcome. */
  readonly event: unknown
}

/** Those of the records, oldest first. */
export function deadLettersOf(records: Pick<Records, 'deadLetters'>): readonly DeadLetter[] {
  return records.deadLetters.all().flatMap(({ at, subscriptionId, subscriptionName, blobPath, events, reasons }) =>
    events.map((event, index) => ({
      ...{ at, subscription: subscriptionName, subscriptionId, reason: reasons[index] ?? '' },
      ...(blobPath !== undefined && { blobPath }),
      event,
    })),
  )
}
