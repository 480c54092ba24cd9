import type { TokenCredential } from '@azure/core-auth'
import { onTestFinished } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { azureEnvironments } from '../../src/metadata/azure-environment.ts'
import type { OutputMetadata } from '../../src/metadata/metadata.ts'
import type { PublisherLimits } from '../../src/publisher/limits.ts'
import { createPublisher } from '../../src/publisher/publisher.ts'
import type { SteadyClock } from '../../src/support/clock.ts'
import { captureLog } from '../support/captured-log.ts'

export const accessKey = 'bWFya2VkLWFjY2Vzcy1rZXk='

export interface OpenOptions {
  readonly topicSchema?: OutputMetadata['topicSchema']
  readonly limits?: Partial<PublisherLimits>
  readonly clock?: SteadyClock
  readonly output?: Partial<OutputMetadata>
  readonly credential?: TokenCredential
  readonly ca?: string
}

/** A publisher that is closed with the test, and its log. */
export function openPublisher(topicEndpoint: string, options: OpenOptions = {}) {
  const log = captureLog()
  const publisher = createPublisher({
    output: {
      topicEndpoint,
      authentication: { kind: 'accessKey', accessKey: new Secret(accessKey) },
      environment: azureEnvironments.AzurePublicCloud,
      topicSchema: options.topicSchema ?? 'auto',
      ...options.output,
    },
    endpoints: options.ca === undefined ? {} : { ca: options.ca },
    logger: log,
    random: () => 0.5,
    ...(options.credential && { credential: options.credential }),
    ...(options.limits && { limits: options.limits }),
    ...(options.clock && { clock: options.clock }),
  })
  onTestFinished(() => publisher.close())
  return { publisher, log }
}

/** Time that passes when the test says so. */
export function createManualClock(start = Date.parse('2026-03-11T08:00:00Z')) {
  let now = start
  let elapsed = 0
  let timers: { at: number; run: () => void }[] = []
  let waiters: { matches: (delayMs: number) => boolean; resolve: (delayMs: number) => void }[] = []
  const delays: number[] = []
  const clock: SteadyClock = {
    now: () => now,
    elapsed: () => elapsed,
    setTimer(delayMs, run) {
      const timer = { at: elapsed + delayMs, run }
      timers.push(timer)
      delays.push(delayMs)
      waiters = waiters.filter(({ matches, resolve }) => {
        if (!matches(delayMs)) return true
        resolve(delayMs)
        return false
      })
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
  }
  return {
    clock,
    /** Sets the clock, as somebody or a time server does: no time passes. */
    setForward(byMs: number) {
      now += byMs
    },
    /** Lets time pass. */
    advance(byMs: number) {
      now += byMs
      elapsed += byMs
      const due = timers.filter(({ at }) => at <= elapsed)
      timers = timers.filter(({ at }) => at > elapsed)
      for (const { run } of due) run()
    },
    /** Resolves when somebody begins to wait for such a time. */
    waits: (matches: (delayMs: number) => boolean) =>
      new Promise<number>((resolve) => {
        waiters.push({ matches, resolve })
      }),
    delays,
    pending: () => timers.length,
  }
}
