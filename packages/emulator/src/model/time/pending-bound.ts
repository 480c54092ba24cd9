// How many undelivered events there may be, and how many bytes they may hold: `maxPending` and `maxPendingBytes`.

/** The bytes that one event holds as long as it is pending for any event subscription. */
export interface Hold {
  readonly bytes: number
  holders: number
}

/** What an event subscription holds of a pending event: its place in a queue, and what is known of its fate. */
const holderBytes = 1_500

export type PendingBound = ReturnType<typeof createPendingBound>

/**
 * Counts the pending events of webhooks and queues, once for each event subscription, and their bytes, once for each
 * event.
 */
export function createPendingBound(max: { readonly maxPending: number; readonly maxPendingBytes: number }) {
  let events = 0
  let total = 0
  return {
    /** Whether the limit of pending events, or of their bytes, is reached. */
    full: () => events >= max.maxPending || total >= max.maxPendingBytes,
    /** Counts an event that is pending for this number of event subscriptions. */
    hold(bytes: number, holders: number): Hold {
      events += holders
      total += bytes + holders * holderBytes
      return { bytes, holders }
    },
    /** The event is no longer pending for one of them. */
    release(hold: Hold | undefined): void {
      if (!hold) return
      events--
      total -= holderBytes
      if (--hold.holders === 0) total -= hold.bytes
    },
  }
}
