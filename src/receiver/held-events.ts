import type { Logger } from '../core/logger.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { SteadyClock } from '../support/clock.ts'
import { decideSettlement, type HandlingOutcome, type Settlement } from './decide-settlement.ts'
import type { LockedEvent, NamespaceClient } from './namespace-client.ts'
import type { PullCounter } from './pull-counts.ts'
import { createRenewalTimer, type RenewedLock } from './renewal-timer.ts'
import { createSettler, type HeldLock, type SettleResult } from './settler.ts'

/** An event that was received and is not settled yet. */
export interface HeldEvent {
  readonly bytes: Buffer
  /** What the bytes hold, parsed. */
  readonly value: unknown
  readonly metadata: Readonly<Record<string, string>>
  readonly redelivered: boolean
  /** Called once. It calls `onKnown` once, with false if the event may come again. */
  settle(outcome: HandlingOutcome, onKnown: (isSettled: boolean) => void): void
}

export interface HeldEventsOptions {
  readonly client: Pick<NamespaceClient, 'settle'>
  readonly eventSubscriptionName: string
  /** How long a lock lasts, in ms. */
  readonly lockMs: number
  readonly counter: PullCounter
  readonly log: QuietLog
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Called when the handling of an event has ended, and again when it is settled or lost. */
  readonly onRoom: () => void
}

/** Holds the lock of each received event while its handler runs, and settles it afterwards. */
export function createHeldEvents(options: HeldEventsOptions) {
  const { client, lockMs, counter, log, logger, clock, onRoom } = options
  // In upper case, as a delivery by push has it.
  const subscriptionName = options.eventSubscriptionName.toUpperCase()
  const settler = createSettler({
    ...{ client, clock },
    onSettled: (operation, events, failed) => logger.debug('settled', { operation, events, failed }),
    onFailure: (operation, { reason }) => log.warn(`a request to ${operation} events failed`, { reason }),
  })
  const renewals = createRenewalTimer({ clock, renewEveryMs: lockMs / 2, renew })
  let size = 0

  async function renew(lock: HeldLock): Promise<boolean> {
    const began = clock.elapsed()
    const result = await settler.renew(lock)
    if (result === 'done') {
      counter.lockRenewed()
      lock.expiresAt = began + lockMs
      return true
    }
    log.warn('the lock of an event could not be renewed, so Event Grid may deliver the event again', {
      reason: result.lost,
    })
    return false
  }

  function release({ kind }: Settlement, result: SettleResult): void {
    size--
    if (result === 'done') counter.eventSettled(kind)
    else {
      counter.settlementFailed()
      log.warn(`an event could not be settled (${kind}), so Event Grid may deliver it again`, { reason: result.lost })
    }
    onRoom()
  }

  return {
    hold({ lockToken, deliveryCount, origin, bytes, value }: LockedEvent, receivedAt: number): HeldEvent {
      const lock: RenewedLock = { lockToken, origin, expiresAt: receivedAt + lockMs, renewAt: 0, place: -1 }
      counter.eventReceived()
      size++
      renewals.add(lock)
      return {
        bytes,
        value,
        metadata: metadataOf(subscriptionName, deliveryCount),
        redelivered: deliveryCount > 1,
        settle(outcome, onKnown) {
          renewals.remove(lock)
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
      renewals.close()
      settler.close()
    },
  }
}

/** As a delivery by push has it: its count begins at 0. */
function metadataOf(subscriptionName: string, deliveryCount: number): Readonly<Record<string, string>> {
  return {
    'aeg-subscription-name': subscriptionName,
    'aeg-delivery-count': String(Math.max(deliveryCount - 1, 0)),
  }
}
