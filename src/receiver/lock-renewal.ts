import type { CancelTimer, SteadyClock } from '../support/clock.ts'
import type { HeldLock } from './settler.ts'

export interface LockRenewalOptions {
  readonly clock: SteadyClock
  readonly renewEveryMs: number
  /** Renews a lock; false where the lock is lost. */
  readonly renew: (lock: HeldLock) => Promise<boolean>
}

/** Renews the locks of events whose handlers run. */
export interface LockRenewal {
  add(lock: HeldLock): void
  remove(lock: HeldLock): void
  close(): void
}

/** Locks that are due within this time share a request, and so no timer fires more than once a second. */
const togetherMs = 1_000

/** One timer for all locks: they are due in the order in which they were added or renewed. */
export function createLockRenewal({ clock, renewEveryMs, renew }: LockRenewalOptions): LockRenewal {
  /** When each lock is due, the soonest first. */
  const due = new Map<HeldLock, number>()
  let cancel: CancelTimer | undefined

  function schedule(): void {
    if (cancel) return
    const [first] = due.values()
    if (first === undefined) return
    cancel = clock.setTimer(Math.max(first - clock.elapsed(), 0) + togetherMs, () => {
      cancel = undefined
      renewDue()
      schedule()
    })
  }

  function renewDue(): void {
    const now = clock.elapsed()
    for (const [lock, at] of due) {
      if (at > now) break
      due.delete(lock)
      // Put back at once, so that a handler which ends meanwhile finds its lock and takes it out.
      due.set(lock, now + renewEveryMs)
      void renew(lock).then((held) => {
        if (!held) due.delete(lock)
      })
    }
  }

  return {
    add(lock) {
      due.set(lock, clock.elapsed() + renewEveryMs - togetherMs)
      schedule()
    },
    remove: (lock) => void due.delete(lock),
    close() {
      cancel?.()
      cancel = undefined
      due.clear()
    },
  }
}
