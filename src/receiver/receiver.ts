/** The pull loop: asks for events as far as there is room, and settles what was received before it ends. */
import type { EventOutcome } from '../dispatch/delivery.ts'
import { createFailureStreak, type FailureStreak } from '../dispatch/failure-streak.ts'
import { nameOf } from '../support/process/error-code.ts'
import { pause, within } from '../support/time/clock.ts'
import { realTimers } from '../support/time/real-timers.ts'
import { decideMaxEvents, decideReceive, firstMaxEvents } from './decide-receives.ts'
import { createHeldEvents, type HeldEvent, type HeldEventsOptions } from './held-events.ts'
import type { LockedEvent, NamespaceClient, RequestFailure } from './namespace-client.ts'
import { createPullCounts, type PullCounts } from './pull-counts.ts'
import { createReceiveFailures, type ReceiveFailuresOptions } from './receive-failures.ts'

/** Hands events to the application: the dispatcher that deliveries by push use too. */
export interface EventDispatch {
  /** Takes the events of one receive. */
  dispatch(events: readonly HeldEvent[]): void
  /** Begins no more events: those that were not begun are settled as `notTried`. */
  stop(): void
  /** Resolves when no handler runs. */
  idle(): Promise<void>
  /** Handler calls that have not ended. */
  readonly running: number
}

export interface ReceiverOptions
  extends Pick<HeldEventsOptions, 'eventSubscriptionName' | 'log' | 'logger' | 'clock'>,
    Pick<ReceiveFailuresOptions, 'remedy'> {
  readonly client: NamespaceClient
  /** Makes the dispatch; it calls `onCallEnd` whenever a handler has ended, also one whose event was released before. */
  readonly createDispatch: (onCallEnd: () => void) => EventDispatch
  readonly maxConcurrency: number
  /** How long a lock lasts, in milliseconds; `undefined` where ARM was not asked. */
  readonly lockDurationMs: number | undefined
  readonly hasHandler: () => boolean
}

export interface ReceiverStatus {
  /** Why nothing can be received now; `undefined` where the last receive succeeded. */
  readonly failure: RequestFailure | undefined
  /** Whether a receive has ever succeeded. */
  readonly everReceived: boolean
  readonly draining: boolean
  /** Events in a row that the application failed or did not handle in time. */
  readonly failing: FailureStreak | undefined
  readonly counts: PullCounts
}

/** Pull delivery from one Queue event subscription. */
export type Receiver = ReturnType<typeof createReceiver>

/**
 * How long Event Grid keeps a receive open while the queue is empty: 10 to 120 s. A connection that broke in silence is noticed
 * soon after, and proxies that close what is idle for a minute do not cut it.
 */
const maxWaitSeconds = 30
/** Event Grid's shortest lock; renewed in half of it where the length is not known. */
const minLockMs = 60_000
/** An empty queue is answered after `maxWaitSeconds`; an answer within this time did not wait. */
const atOnceMs = 1_000
/** How long close waits for answers to open receives while the queue is not empty. */
const lastAnswersMs = 1_000
/** How long close waits for settlements after the handlers have ended or had their time: a cut one leaves its event locked. */
const lastSettlementsMs = 5_000

/** Receives events as long as handler calls are free, and settles each by how its handling ended. */
export function createReceiver(options: ReceiverOptions) {
  const { client, clock, logger, maxConcurrency } = options
  const dispatch = options.createDispatch(pumpSoon)
  const closing = new AbortController()
  /** Ends the receives that are open. */
  const cutting = new AbortController()
  const counts = createPullCounts()
  const lockMs = options.lockDurationMs ?? minLockMs
  const failing = createFailureStreak(() => clock.now())
  const held = createHeldEvents({ ...options, lockMs, counts, onOutcome: countOutcome, onRoom: pumpSoon })
  const failures = createReceiveFailures({ ...options, signal: closing.signal, onPauseEnd: pump })
  const open = new Set<{ readonly asked: number }>()
  let willPump = false
  let wasFull = false
  let maxEvents = firstMaxEvents
  let everReceived = false

  function countOutcome(outcome: EventOutcome): void {
    if (outcome === 'threw' || outcome === 'timedOut') failing.failed()
    else if (outcome !== 'notTried') failing.succeeded()
  }

  /** Events that end in the same turn make one receive. */
  function pumpSoon(): void {
    if (willPump) return
    willPump = true
    realTimers.setImmediate(() => {
      willPump = false
      pump()
    })
  }

  function pump(): void {
    if (closing.signal.aborted || failures.isPausing() || !options.hasHandler()) return
    for (;;) {
      // An event is held until it is settled: a namespace that settles slowly must not fill the memory.
      const free = Math.min(maxConcurrency - dispatch.running, 2 * maxConcurrency - held.size)
      const asked = decideReceive({ free, open: [...open].map((request) => request.asked), wasFull, maxEvents })
      if (asked === 0) return
      void receive(asked)
    }
  }

  async function receive(asked: number): Promise<void> {
    const request = { asked }
    open.add(request)
    const askedAt = clock.elapsed()
    try {
      const answer = await client.receive({ maxEvents: asked, maxWaitSeconds, signal: cutting.signal })
      open.delete(request)
      if ('failure' in answer) notReceived(answer.failure)
      else received(answer.events, { asked, askedAt })
    } catch (error) {
      // The code failed, ours or that of a telemetry SDK. The events come again when their locks end.
      open.delete(request)
      notReceived({ reason: `an unexpected error (${nameOf(error)})` })
    }
    if (closing.signal.aborted && open.size === 0) cutting.abort()
  }

  function received(
    events: readonly LockedEvent[],
    { asked, askedAt }: { readonly asked: number; readonly askedAt: number },
  ): void {
    const receivedAt = clock.elapsed()
    countReceive('200')
    const cameAtOnce = receivedAt - askedAt < atOnceMs
    failures.succeeded({ brought: events.length > 0 || !cameAtOnce })
    if (events.length === 0 && cameAtOnce) failures.emptyAtOnce()
    everReceived = true
    logger.debug('received', { events: events.length, askedFor: asked })
    wasFull = events.length === asked
    if (events.length > 0) maxEvents = decideMaxEvents(events.map(({ bytes }) => bytes.length))
    dispatch.dispatch(events.map((event) => held.hold(event, receivedAt)))
    pump()
  }

  function countReceive(status: string): void {
    counts.receives[status] = (counts.receives[status] ?? 0) + 1
  }

  function notReceived(failure: RequestFailure): void {
    if (closing.signal.aborted) return
    countReceive(String(failure.status ?? 'none'))
    wasFull = false
    // The answer may have been too long for the way.
    if (failure.status === undefined) maxEvents = Math.ceil(maxEvents / 2)
    failures.failed(failure)
  }

  /**
   * Ends the open receives. While the queue is not empty, the namespace may have locked events for them already. Their answers are
   * awaited for a moment, so that these events are released. Otherwise nobody would get them until their locks end.
   */
  async function endReceives(): Promise<void> {
    if (wasFull && open.size > 0) await pause(clock, lastAnswersMs, cutting.signal)
    cutting.abort()
  }

  pump()
  return {
    status: (): ReceiverStatus => ({
      failure: failures.current(),
      everReceived,
      draining: closing.signal.aborted,
      failing: failing.current(),
      counts: structuredClone(counts),
    }),
    /** To be called when a handler was attached. */
    handlerAttached: pump,
    isHandling: () => dispatch.running > 0,
    /**
     * Receives nothing new, releases what was not begun, and awaits the handlers, `drainMs` at the longest. Then their events are settled:
     * five seconds are left for that.
     */
    async close(drainMs: number): Promise<void> {
      closing.abort()
      dispatch.stop()
      await within(clock, drainMs, endReceives().then(dispatch.idle))
      cutting.abort()
      await within(clock, lastSettlementsMs, held.idle())
      held.close()
      client.close()
    },
  }
}
