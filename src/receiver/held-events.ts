/** The events that were received and are not settled: each is a delivery, its lock is renewed while its handler runs, each is counted. */
import { isUtf8 } from 'node:buffer'
import type { Delivery } from '../dispatch/delivery.ts'
import { readParsedEvent } from '../dispatch/events.ts'
import { processRoom } from '../dispatch/room.ts'
import type { PullMetadata } from '../metadata/typed/metadata.ts'
import { messageOf } from '../support/process/error-code.ts'
import { createAlarm } from '../support/time/clock.ts'
import { inBackground } from '../support/work/work.ts'
import type { LockedEvent } from './namespace-client.ts'
import type { OpenPullCounts } from './pull-counts.ts'
import { createSettler, decideSettlement, type HeldLock, type SettleResult, type SettlerOptions } from './settler.ts'

export interface HeldEventsOptions extends SettlerOptions {
  readonly pull: PullMetadata
  readonly counts: OpenPullCounts
  /** Called when an event is settled or lost. */
  readonly onRoom: () => void
}

/** Event Grid's shortest lock, in seconds. */
const minLockSeconds = 60
/** Half of that lock, in ms. The metadata may ask for a longer lock than the event subscription has. */
const renewalMs = (minLockSeconds * 1_000) / 2
/** How often we look which locks have to be renewed. Locks that are due together share a request. */
const sweepMs = 1_000

const notRenewed = 'the lock of an event could not be renewed, so Event Grid may deliver the event again'

interface Held extends HeldLock {
  renewAt: number
  /** A renewal is under way: it is tried again by itself, so a second renewal would only ask twice. */
  isRenewing: boolean
}

/** Holds the lock of each received event while its handler runs, and settles it afterwards. */
export function createHeldEvents(options: HeldEventsOptions) {
  const { pull, counts, log, logger, clock, onRoom } = options
  const lockMs = (pull.lockDurationSeconds ?? minLockSeconds) * 1000
  // In upper case, as in a delivery by push.
  const subscriptionName = pull.eventSubscriptionName.toUpperCase()
  const settler = createSettler(options)
  /** Events whose handler has not ended: only their locks are renewed. */
  const running = new Set<Held>()
  const sweep = createAlarm(clock, renewUntil)
  let size = 0

  /** At the last whole second before the renewal is due. */
  const sweepFor = ({ renewAt }: Held) => sweep.set(Math.floor(renewAt / sweepMs) * sweepMs)

  function renewUntil(time: number): void {
    for (const held of running) {
      if (held.isRenewing) continue
      if (held.renewAt > time + sweepMs) sweepFor(held)
      else inBackground(renew(held), (error) => logger.error(notRenewed, { reason: messageOf(error) }))
    }
  }

  async function renew(held: Held): Promise<void> {
    const began = clock.elapsed()
    held.isRenewing = true
    const result = await settler.renew(held)
    if (result === 'done') {
      counts.lockRenewals++
      held.expiresAt = began + lockMs
      held.renewAt = began + renewalMs
      held.isRenewing = false
      if (running.has(held)) sweepFor(held)
      return
    }
    // An event that is being settled meanwhile needs its lock no longer, and has said itself how that ended.
    if (!running.delete(held)) return
    const { lost: reason } = result
    log.warn(notRenewed, { reason })
  }

  function ended(kind: keyof OpenPullCounts['settled'], result: SettleResult): void {
    size--
    if (result === 'done') counts.settled[kind]++
    else {
      counts.failedSettlements++
      log.warn(`an event could not be settled (${kind}), so Event Grid may deliver it again`, { reason: result.lost })
    }
    onRoom()
  }

  return {
    /** Gives the event as a delivery, just before the event is dispatched: the time of its handler begins here. */
    hold({ lockToken, deliveryCount, origin, bytes, value }: LockedEvent, receivedAt: number): Delivery {
      const renewAt = receivedAt + renewalMs
      const held: Held = { lockToken, origin, expiresAt: receivedAt + lockMs, renewAt, isRenewing: false }
      counts.received++
      size++
      running.add(held)
      sweepFor(held)
      return {
        members: [isUtf8(bytes) ? readParsedEvent(bytes, value) : { invalid: 'it is not UTF-8' }],
        share: processRoom.occupy(bytes.length),
        // A synchronous handler that works long must not use up the time of the events behind its own.
        arrivedAt: clock.elapsed(),
        metadata: {
          'aeg-subscription-name': subscriptionName,
          // As in a delivery by push, whose count begins at 0.
          'aeg-delivery-count': String(Math.max(deliveryCount - 1, 0)),
          ...origin,
        },
        redelivered: deliveryCount > 1,
        settle([outcome = 'notTried'], onKnown) {
          running.delete(held)
          const settlement = decideSettlement(outcome, deliveryCount)
          settler.settle(held, settlement, (result) => {
            ended(settlement.kind, result)
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
      sweep.stop()
      settler.close()
    },
  }
}
