import type { CancelTimer, SteadyClock } from '../support/clock.ts'
import { countOf, createPlacedList, membersOf, type Placed, place, unplace } from '../support/placed-list.ts'
import type { HeldLock } from './settler.ts'

/** A lock that is renewed until it is removed. */
export interface RenewedLock extends HeldLock, Placed {
  /** When it is due, in milliseconds of `elapsed`. `add` sets it. */
  renewAt: number
}

export interface RenewalTimerOptions {
  readonly clock: SteadyClock
  /** From the moment a lock was taken or renewed to its renewal. */
  readonly renewEveryMs: number
  /** Renews a lock; false where the lock is lost. */
  readonly renew: (lock: RenewedLock) => Promise<boolean>
}

/** Locks that are due within this time share a request, and so no timer fires more than once a second. */
const togetherMs = 1_000

/**
 * Calls `renew` for each lock when it is due, until the lock is removed. One timer for all locks, set for the earliest: most
 * events are settled long before their locks are due.
 */
export function createRenewalTimer({ clock, renewEveryMs, renew }: RenewalTimerOptions) {
  const locks = createPlacedList<RenewedLock>()
  let cancel: CancelTimer | undefined

  function schedule(): void {
    if (cancel || countOf(locks) === 0) return
    const first = membersOf(locks).reduce(
      (earliest, { renewAt }) => Math.min(earliest, renewAt),
      Number.POSITIVE_INFINITY,
    )
    cancel = clock.setTimer(Math.max(first - clock.elapsed(), 0) + togetherMs, () => {
      cancel = undefined
      renewDue()
      schedule()
    })
  }

  function renewDue(): void {
    const now = clock.elapsed()
    for (const lock of membersOf(locks)) {
      if (lock.renewAt > now) continue
      lock.renewAt = now + renewEveryMs
      void renew(lock).then((held) => {
        if (!held) unplace(locks, lock)
      })
    }
  }

  return {
    add(lock: RenewedLock): void {
      lock.renewAt = clock.elapsed() + renewEveryMs - togetherMs
      place(locks, lock)
      schedule()
    },
    remove: (lock: RenewedLock) => void unplace(locks, lock),
    close(): void {
      cancel?.()
      cancel = undefined
      for (const lock of membersOf(locks)) unplace(locks, lock)
    },
  }
}
