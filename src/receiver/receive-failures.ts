/** The pauses after receives that failed, and what the log says of an outage. */
import { explainNamespaceRefusal } from '../azure/refusals/namespace-refusal.ts'
import type { Logger } from '../core/logger.ts'
import type { PullMetadata } from '../metadata/typed/metadata.ts'
import { messageOf } from '../support/process/error-code.ts'
import { backOff } from '../support/time/back-off.ts'
import { pause, type SteadyClock } from '../support/time/clock.ts'
import { inBackground } from '../support/work/in-background.ts'
import type { RequestFailure } from './namespace-client.ts'

const firstPauseMs = 500
const maxPauseMs = 60_000
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
      rest(backOff({ attempt: empties, baseMs: firstPauseMs, maxMs: maxEmptyPauseMs, random: 1 }))
    },
    failed(failure: RequestFailure): void {
      last = { ...failure, since: last?.since ?? clock.elapsed() }
      // Receives that were open together and failed together are one failure.
      if (isPausing) return
      failures++
      const random = (1 + Math.random()) / 2
      const ownMs = backOff({ attempt: failures, baseMs: firstPauseMs, maxMs: maxPauseMs, random })
      const pauseMs = Math.max(failure.retryAfterMs ?? 0, ownMs)
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
