import type { Logger } from '../core/logger.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import { backOff } from '../support/back-off.ts'
import { pause, type SteadyClock } from '../support/clock.ts'
import { decideMostEvents, decideReceive, firstMostEvents } from './decide-receives.ts'
import { decideSettlement, type HandlingOutcome, type Settlement } from './decide-settlement.ts'
import { createLockRenewal } from './lock-renewal.ts'
import type { LockedEvent, NamespaceClient, RequestFailure, SettleOperation } from './namespace-client.ts'
import { createSettler, type HeldLock, type SettleResult } from './settler.ts'

/** An event in hand. */
export interface TakenEvent {
  readonly bytes: Buffer
  /** What the bytes hold, parsed. */
  readonly value: unknown
  readonly metadata: Readonly<Record<string, string>>
  readonly redelivered: boolean
  /** Called once. It calls `onKnown` once, with false if the event may come again. */
  settle(outcome: HandlingOutcome, onKnown: (isSettled: boolean) => void): void
}

/** Hands events to the application: the dispatcher that deliveries by push use too. */
export interface EventDispatch {
  /** Takes the events of one receive. */
  dispatch(events: readonly TakenEvent[]): void
  /** Begins no more events: those that were not begun are settled as `notTried`. */
  stop(): void
  /** Resolves when no handler runs. */
  idle(): Promise<void>
  /** Handler calls that have not ended. */
  readonly running: number
}

export interface ReceiverOptions {
  readonly client: NamespaceClient
  readonly dispatch: EventDispatch
  readonly eventSubscriptionName: string
  readonly maxConcurrency: number
  /** How long a lock lasts, in milliseconds; `undefined` where ARM was not asked. */
  readonly lockDurationMs: number | undefined
  readonly hasHandler: () => boolean
  /** What to do about a refusal of the namespace, by its status. */
  readonly remedy: (failure: RequestFailure) => string | undefined
  readonly log: QuietLog
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. @default Math.random */
  readonly random?: () => number
}

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

export interface ReceiverStatus {
  /** Why nothing can be received now; absent where the last receive succeeded. */
  readonly failure?: RequestFailure
  /** Whether a receive has ever succeeded. */
  readonly everReceived: boolean
  readonly draining: boolean
  readonly counts: PullCounts
}

/** Pull delivery from one Queue event subscription. */
export interface Receiver {
  status(): ReceiverStatus
  /** To be called when a handler was attached. */
  handlerAttached(): void
  /** Receives nothing new, awaits the handlers and settles their events; `drainMs` at the longest. */
  close(drainMs: number): Promise<void>
}

/**
 * How long Event Grid keeps a receive open while the queue is empty: 10 to 120 s. A connection that broke in silence is noticed
 * soon after, and proxies that close what is idle for a minute do not cut it.
 */
const maxWaitSeconds = 30
const firstPauseMs = 500
const maxPauseMs = 60_000
/** Event Grid's shortest lock; renewed in half of it where the length is not known. */
const minLockMs = 60_000
/** An outage is logged with its remedy so often. */
const maxOutageLines = 2

/** Receives events as long as handler calls are free, and settles each by how its handling ended. */
export function createReceiver(options: ReceiverOptions): Receiver {
  const { client, dispatch, clock, log, logger, maxConcurrency, random = Math.random } = options
  const lockMs = options.lockDurationMs ?? minLockMs
  // In upper case, as a delivery by push has it.
  const subscriptionName = options.eventSubscriptionName.toUpperCase()
  const closing = new AbortController()
  const open = new Set<{ readonly asked: number }>()
  const counts = { received: 0, failedSettlements: 0, lockRenewals: 0 }
  const settled = { acknowledge: 0, release: 0, reject: 0 }
  const receives = new Map<string, number>()
  let inHand = 0
  let willPump = false
  let wasFull = false
  let mostEvents = firstMostEvents
  let failures = 0
  let failure: RequestFailure | undefined
  let everReceived = false
  let pausing = false

  const settler = createSettler({ client, clock, random, onSettled: noteSettled, onFailure: noteSettleFailure })
  const renewal = createLockRenewal({ clock, renewEveryMs: lockMs / 2, renew })

  /** Events that end in the same turn make one receive. */
  function pumpSoon(): void {
    if (willPump) return
    willPump = true
    setImmediate(() => {
      willPump = false
      pump()
    })
  }

  function pump(): void {
    if (closing.signal.aborted || pausing || !options.hasHandler()) return
    for (;;) {
      // An event is in hand until it is settled: a namespace that settles slowly must not fill the memory.
      const free = Math.min(maxConcurrency - dispatch.running, 2 * maxConcurrency - inHand)
      const asked = decideReceive({ free, open: askedOf(open), wasFull, mostEvents })
      if (asked === 0) return
      void receive(asked)
    }
  }

  async function receive(asked: number): Promise<void> {
    const request = { asked }
    open.add(request)
    const answer = await client.receive({ maxEvents: asked, maxWaitSeconds, signal: closing.signal })
    open.delete(request)
    const receivedAt = clock.elapsed()
    if ('failure' in answer) return retry(answer.failure)
    noteReceive('200')
    recover()
    logger.debug('received', { events: answer.events.length, askedFor: asked })
    wasFull = answer.events.length === asked
    if (answer.events.length > 0) mostEvents = decideMostEvents(answer.events.map(({ bytes }) => bytes.length))
    dispatch.dispatch(answer.events.map((event) => take(event, receivedAt)))
    pump()
  }

  function take(event: LockedEvent, receivedAt: number): TakenEvent {
    const { lockToken, deliveryCount, origin, bytes, value } = event
    const lock: HeldLock = { lockToken, origin, expiresAt: receivedAt + lockMs }
    counts.received++
    inHand++
    renewal.add(lock)
    return {
      bytes,
      value,
      metadata: metadataOf(subscriptionName, deliveryCount),
      redelivered: deliveryCount > 1,
      settle(outcome, onKnown) {
        renewal.remove(lock)
        const settlement = decideSettlement(outcome, deliveryCount)
        // The handler call is free again now; its event leaves our hand when the namespace has answered.
        pumpSoon()
        settler.settle(lock, settlement, (result) => {
          noteSettlement(settlement, result)
          onKnown(result === 'done')
        })
      },
    }
  }

  function noteSettlement({ kind }: Settlement, result: SettleResult): void {
    inHand--
    if (result === 'done') settled[kind]++
    else {
      counts.failedSettlements++
      log.warn(`an event could not be settled (${kind}), so Event Grid may deliver it again`, { reason: result.lost })
    }
    pumpSoon()
  }

  async function renew(lock: HeldLock): Promise<boolean> {
    const began = clock.elapsed()
    const result = await settler.renew(lock)
    if (result === 'done') {
      counts.lockRenewals++
      lock.expiresAt = began + lockMs
      return true
    }
    log.warn('the lock of an event could not be renewed, so Event Grid may deliver the event again', {
      reason: result.lost,
    })
    return false
  }

  /** Never ends receiving: pauses, and asks again. */
  async function retry(failed: RequestFailure): Promise<void> {
    if (closing.signal.aborted) return
    noteReceive(failed.status === undefined ? 'none' : String(failed.status))
    failure = failed
    wasFull = false
    // The answer may have been too long for the way.
    if (failed.status === undefined) mostEvents = Math.ceil(mostEvents / 2)
    // Receives that were open together and failed together are one failure.
    if (pausing) return
    failures++
    const backOffMs = backOff({
      attempt: failures,
      baseMs: firstPauseMs,
      maxMs: maxPauseMs,
      random: (1 + random()) / 2,
    })
    const waitMs = Math.max(failed.retryAfterMs ?? 0, backOffMs)
    if (failures <= maxOutageLines) {
      const fix = failed.fix ?? options.remedy(failed)
      logger.warn(`events cannot be received: ${failed.reason}${fix === undefined ? '' : `; ${fix}`}`, {
        retryInMs: Math.round(waitMs),
      })
    }
    pausing = true
    await pause(clock, waitMs, closing.signal)
    pausing = false
    pump()
  }

  function recover(): void {
    if (failures > 0) logger.info('events are received again', { failures })
    failures = 0
    failure = undefined
    everReceived = true
  }

  function noteSettled(operation: SettleOperation, events: number, failed: number): void {
    logger.debug('settled', { operation, events, failed })
  }

  function noteSettleFailure(operation: SettleOperation, { reason }: RequestFailure): void {
    log.warn(`a request to ${operation} events failed`, { reason })
  }

  function noteReceive(status: string): void {
    receives.set(status, (receives.get(status) ?? 0) + 1)
  }

  pump()
  return {
    status: () => ({
      ...(failure && { failure }),
      everReceived,
      draining: closing.signal.aborted,
      counts: { ...counts, settled: { ...settled }, receives: Object.fromEntries(receives) },
    }),
    handlerAttached: pump,
    async close(drainMs) {
      closing.abort()
      dispatch.stop()
      const timeIsUp = new AbortController()
      const drained = Promise.all([dispatch.idle(), settler.idle()]).then(() => settler.idle())
      await Promise.race([drained, pause(clock, drainMs, timeIsUp.signal)])
      timeIsUp.abort()
      renewal.close()
      settler.close()
      client.close()
    },
  }
}

const askedOf = (open: ReadonlySet<{ readonly asked: number }>) => [...open].map(({ asked }) => asked)

/** As a delivery by push has it: its count begins at 0. */
function metadataOf(subscriptionName: string, deliveryCount: number): Readonly<Record<string, string>> {
  return {
    'aeg-subscription-name': subscriptionName,
    'aeg-delivery-count': String(Math.max(deliveryCount - 1, 0)),
  }
}
