/** The bytes of one event, held as long as any of its subscriptions waits for it. */
export interface Hold {
  readonly bytes: number
  holders: number
}

/** Counts the bytes of the events that are pending, each once, however many subscriptions it waits for. */
export interface PendingBytes {
  readonly total: number
  /** Counts an event that so many subscriptions want. */
  hold(bytes: number, holders: number): Hold
  /** One of them needs it no more. */
  release(hold: Hold | undefined): void
}

/** Counts from nothing. */
export function createPendingBytes(): PendingBytes {
  let total = 0
  return {
    get total() {
      return total
    },
    hold(bytes, holders) {
      total += bytes
      return { bytes, holders }
    },
    release(hold) {
      if (!hold || --hold.holders !== 0) return
      total -= hold.bytes
    },
  }
}
