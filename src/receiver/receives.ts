/** How many events the next request asks for, and the pauses after requests that failed. */
import { explainNamespaceRefusal } from '../azure/refusals/namespace-refusal.ts'
import type { Logger } from '../core/logger.ts'
import type { PullMetadata } from '../metadata/typed/metadata.ts'
import { messageOf } from '../support/process/error-code.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
import { backOff, inBackground, retryPause } from '../support/work/work.ts'
import { maxEventsPerReceive, type RequestFailure } from './namespace-client.ts'

/** The first receive asks for no more: nothing is known of the size of events then. */
export const firstMaxEvents = 16

/**
 * About the largest answer that is asked for. A throughput unit of a namespace sends 2 MB a second, and the locks of all
 * events of an answer begin before its first byte.
 */
const answerBytes = 4 * 2 ** 20

/** Decides how many events a receive asks for at most, by the sizes in bytes of the events of the last receive. */
export function decideMaxEvents(sizes: readonly number[]): number {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const fitting = Math.floor((answerBytes * sizes.length) / Math.max(total, 1))
  return Math.min(Math.max(fitting, 1), maxEventsPerReceive)
}

/** What {@link decideReceive} decides from. */
export interface ReceiveState {
  /** Handler calls that are free. */
  readonly free: number
  /** Events that the open receives ask for, one number each. */
  readonly open: readonly number[]
  /** The last receive brought as many events as were asked for, so more are waiting. */
  readonly wasFull: boolean
  /** What {@link decideMaxEvents} has decided. */
  readonly maxEvents: number
}

/**
 * Decides how many events the next receive asks for; 0: no receive now. Never more than the free handler calls, so that
 * no lock ages in a queue. One receive stays open while the queue is empty; more are opened while there are events.
 */
export function decideReceive({ free, open, wasFull, maxEvents }: ReceiveState): number {
  const unasked = free - open.reduce((sum, asked) => sum + asked, 0)
  if (unasked <= 0) return 0
  const next = Math.min(unasked, maxEvents)
  if (open.length === 0) return next
  // A further receive for a few events would cost more than it brings: these events come with the next answer.
  return wasFull && next >= maxEventsPerReceive / 2 ? next : 0
}

/** Pauses after a failure, in ms. */
const pace = { baseMs: 500, maxMs: 60_000, maxAskedMs: Number.POSITIVE_INFINITY }
/** Longest pause, whatever is asked for, in ms. */
const maxPauseMs = 300_000
const maxEmptyPauseMs = 5_000
/** An outage is logged with its remedy so often. */
const maxOutageLines = 2

export interface ReceiveFailuresOptions {
  /** For what is said of a refusal of the namespace. */
  readonly pull: PullMetadata
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Ends the pause. */
  readonly signal: AbortSignal
  /** Called after each pause: it is time to receive again. */
  readonly onPauseEnd: () => void
}

/**
 * Pauses after receives that fail, longer each time and at least as long as the namespace asks for, and logs when an outage
 * begins and ends.
 */
export function createReceiveFailures(options: ReceiveFailuresOptions) {
  const { pull, logger, clock, signal, onPauseEnd } = options
  let failures = 0
  let last: (RequestFailure & { readonly since: number }) | undefined
  let isPausing = false
  /** Empty answers that came at once, one after the other. */
  let empties = 0

  function rest(ms: number): void {
    isPausing = true
    const resumed = pause(clock, ms, signal).then(() => {
      isPausing = false
      onPauseEnd()
    })
    inBackground(resumed, (error) => logger.error(`events cannot be received: ${messageOf(error)}`))
  }

  return {
    /** Why nothing can be received now, and for how long; `undefined` where the last receive succeeded. */
    current: () => last && { reason: last.reason, forMs: clock.elapsed() - last.since },
    isPausing: () => isPausing,
    /** After an empty answer that came at once there is a pause, too: a server that does not wait must not be asked without end. */
    succeeded({ isEmptyAtOnce }: { readonly isEmptyAtOnce: boolean }): void {
      if (failures > 0) logger.info('events are received again', { failures })
      failures = 0
      last = undefined
      if (!isEmptyAtOnce) empties = 0
      else if (!isPausing) {
        empties++
        rest(backOff({ attempt: empties, baseMs: pace.baseMs, maxMs: maxEmptyPauseMs, random: 1 }))
      }
    },
    failed(failure: RequestFailure): void {
      last = { ...failure, since: last?.since ?? clock.elapsed() }
      // Receives that were open together and failed together are one failure.
      if (isPausing) return
      failures++
      const tried = { attempt: failures, retryAfterMs: failure.retryAfterMs, random: Math.random() }
      const pauseMs = Math.min(retryPause(tried, pace) ?? maxPauseMs, maxPauseMs)
      if (failures <= maxOutageLines) {
        const fix = failure.fix ?? explainNamespaceRefusal(failure, pull)
        logger.warn(`events cannot be received: ${failure.reason}${fix === undefined ? '' : `; ${fix}`}`, {
          retryInMs: Math.round(pauseMs),
        })
      }
      rest(pauseMs)
    },
  }
}
