/** The pauses after receives that failed, and what the log says of an outage. */
import { explainNamespaceRefusal } from '../azure/refusals/namespace-refusal.ts'
import type { Logger } from '../core/logger.ts'
import type { PullMetadata } from '../metadata/typed/metadata.ts'
import { messageOf } from '../support/process/error-code.ts'
import { backOff, retryPause } from '../support/time/back-off.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
import { inBackground } from '../support/work/in-background.ts'
import type { RequestFailure } from './namespace-client.ts'

/** Pauses after a failure, in ms. What is asked for is bounded where the answer is read. */
const pace = { baseMs: 500, maxMs: 60_000, maxAskedMs: Number.POSITIVE_INFINITY }
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
  let last: RequestFailure | undefined
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
    /** Why nothing can be received now; `undefined` where the last receive succeeded. */
    current: () => last,
    isPausing: () => isPausing,
    succeeded({ brought }: { readonly brought: boolean }): void {
      if (brought) empties = 0
      if (failures > 0) logger.info('events are received again', { failures })
      failures = 0
      last = undefined
    },
    /** After an empty answer that came at once: a server that does not wait must not be asked without end. */
    emptyAtOnce(): void {
      if (isPausing) return
      empties++
      rest(backOff({ attempt: empties, baseMs: pace.baseMs, maxMs: maxEmptyPauseMs, random: 1 }))
    },
    failed(failure: RequestFailure): void {
      last = failure
      // Receives that were open together and failed together are one failure.
      if (isPausing) return
      failures++
      const tried = { attempt: failures, retryAfterMs: failure.retryAfterMs, random: Math.random() }
      const pauseMs = retryPause(tried, pace) ?? pace.maxMs
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
