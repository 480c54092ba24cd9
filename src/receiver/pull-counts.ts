/** What pull delivery has done, in numbers. Apart from the receiver: health shows the numbers of one that was never loaded. */

/** What pull delivery has done since `init`. */
export interface PullCounts {
  readonly received: number
  /** Events settled, by kind. */
  readonly settled: Readonly<Record<'acknowledge' | 'release' | 'reject', number>>
  /** Settlements that failed: Event Grid may deliver the event again. */
  readonly failedSettlements: number
  readonly lockRenewals: number
  /** Receive requests by the status of the answer; `none`: there was no answer. */
  readonly receives: Readonly<Record<string, number>>
}

/** The counts, to which the receiver adds. */
export type OpenPullCounts = ReturnType<typeof createPullCounts>

export function createPullCounts() {
  const receives: Record<string, number> = {}
  const settled = { acknowledge: 0, release: 0, reject: 0 }
  return { received: 0, settled, failedSettlements: 0, lockRenewals: 0, receives }
}
