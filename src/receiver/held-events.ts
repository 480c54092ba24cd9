// Lock of each pulled event while its handler runs, renewed at half its length; event metadata; lost-lock warnings.
import {
  addDeadline,
  createDeadlines,
  type Expiring,
  removeDeadline,
  stopDeadlines,
} from '../support/work/deadlines.ts'
import { membersOf } from '../support/work/placed-list.ts'
import { decideSettlement, type HandlingOutcome, type Settlement } from './decide-settlement.ts'
import type { LockedEvent } from './namespace-client.ts'
import type { OpenPullCounts } from './pull-counts.ts'
import { createSettler, type HeldLock, type SettleResult, type SettlerOptions } from './settler.ts'

/** An event that was received and is not settled yet. */
export interface HeldEvent {
  readonly bytes: Buffer
  /** What the bytes hold, parsed. */
  readonly value: unknown
  /** With the trace context that the event brings, as a delivery by push has it. */
  readonly metadata: Readonly<Record<string, string>>
  readonly redelivered: boolean
  /** Called once. It calls `onKnown` once, with false if the event may come again. */
  settle(outcome: HandlingOutcome, onKnown: (isSettled: boolean) => void): void
}

export interface HeldEventsOptions extends SettlerOptions {
  readonly eventSubscriptionName: string
  /** How long a lock lasts, in ms. */
  readonly lockMs: number
  readonly counts: OpenPullCounts
  /** Called when the handling of an event has ended, and again when it is settled or lost. */
  readonly onRoom: () => void
}

/** The next renewal of a lock, due at `expiresAt`. */
interface Renewal extends Expiring {
  readonly lock: HeldLock
  expiresAt: number
}

/** Renewals that are due within this time share a request, and so no timer fires more often. */
const togetherMs = 1_000

/** Holds the lock of each received event while its handler runs, and settles it afterwards. */
export function createHeldEvents(options: HeldEventsOptions) {
  const { lockMs, counts, log, clock, onRoom } = options
  // In upper case, as a delivery by push has it.
  const subscriptionName = options.eventSubscriptionName.toUpperCase()
  const settler = createSettler(options)
  const renewals = createDeadlines<Renewal>({
    clock,
    now: () => clock.elapsed(),
    expire: (renewal) => void renew(renewal),
  })
  let size = 0

  /** Renews a lock when half of its time is over. */
  function scheduleRenewal(renewal: Renewal): void {
    renewal.expiresAt = Math.floor((clock.elapsed() + lockMs / 2) / togetherMs) * togetherMs
    addDeadline(renewals, renewal)
  }

  async function renew(renewal: Renewal): Promise<void> {
    const began = clock.elapsed()
    scheduleRenewal(renewal)
    const result = await settler.renew(renewal.lock)
    if (result === 'done') {
      counts.lockRenewals++
      renewal.lock.expiresAt = began + lockMs
      return
    }
    removeDeadline(renewals, renewal)
    const { lost: reason } = result
    log.warn('the lock of an event could not be renewed, so Event Grid may deliver the event again', { reason })
  }

  function release({ kind }: Settlement, result: SettleResult): void {
    size--
    if (result === 'done') counts.settled[kind]++
    else {
      counts.failedSettlements++
      log.warn(`an event could not be settled (${kind}), so Event Grid may deliver it again`, { reason: result.lost })
    }
    onRoom()
  }

  return {
    hold({ lockToken, deliveryCount, origin, bytes, value }: LockedEvent, receivedAt: number): HeldEvent {
      const lock: HeldLock = { lockToken, origin, expiresAt: receivedAt + lockMs }
      const renewal: Renewal = { lock, expiresAt: 0, place: -1 }
      counts.received++
      size++
      scheduleRenewal(renewal)
      return {
        bytes,
        value,
        metadata: {
          'aeg-subscription-name': subscriptionName,
          // As a delivery by push has it: its count begins at 0.
          'aeg-delivery-count': String(Math.max(deliveryCount - 1, 0)),
          ...origin,
        },
        redelivered: deliveryCount > 1,
        settle(outcome, onKnown) {
          removeDeadline(renewals, renewal)
          const settlement = decideSettlement(outcome, deliveryCount)
          // The handler call is free again now; the event is held until the namespace has answered.
          onRoom()
          settler.settle(lock, settlement, (result) => {
            release(settlement, result)
            onKnown(result === 'done')
          })
        },
      }
    },
    /** Events that are held. */
    get size() {
      return size
    },
    /** Resolves when every settlement has ended. */
    idle: settler.idle,
    /** Ends settlements and renewals that are under way. */
    close(): void {
      stopDeadlines(renewals)
      for (const renewal of membersOf(renewals.open)) removeDeadline(renewals, renewal)
      settler.close()
    },
  }
}
