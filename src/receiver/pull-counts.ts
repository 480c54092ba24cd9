import type { Settlement } from './decide-settlement.ts'

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

export type PullCounter = ReturnType<typeof createPullCounter>

/** Counts what pull delivery does. */
export function createPullCounter() {
  const counts = { received: 0, failedSettlements: 0, lockRenewals: 0 }
  const settled = { acknowledge: 0, release: 0, reject: 0 }
  const receives = new Map<string, number>()
  return {
    /** A receive ended; `status` is absent where there was no answer. */
    receiveEnded(status: number | undefined): void {
      const key = status === undefined ? 'none' : String(status)
      receives.set(key, (receives.get(key) ?? 0) + 1)
    },
    eventReceived(): void {
      counts.received++
    },
    eventSettled(kind: Settlement['kind']): void {
      settled[kind]++
    },
    settlementFailed(): void {
      counts.failedSettlements++
    },
    lockRenewed(): void {
      counts.lockRenewals++
    },
    current: (): PullCounts => ({ ...counts, settled: { ...settled }, receives: Object.fromEntries(receives) }),
  }
}
