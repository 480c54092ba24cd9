// Count of undelivered events and bytes against `maxPending` and `maxPendingBytes`.

/** The bytes of one event, held as long as it is pending for any event subscription. */
export interface Hold {
  readonly bytes: number
  holders: number
}

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
      total += bytes
      return { bytes, holders }
    },
    /** The event is no longer pending for one of them. */
    release(hold: Hold | undefined): void {
      if (!hold) return
      events--
      if (--hold.holders === 0) total -= hold.bytes
    },
  }
}
