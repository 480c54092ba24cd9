// Event subscription polled every 5 to 10 minutes, recreated if missing; one task at a time; 120 s timeout.
import type { Logger } from '../../core/logger.ts'
import { decideStartPause } from '../../provision/upsert/fleet-pace.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/upsert/repeat-attempts.ts'
import { messageOf } from '../../support/process/error-code.ts'
import { pause, type SteadyClock, systemClock } from '../../support/time/clock.ts'
import type { SubscriptionControl } from './subscription-control.ts'
import { createSubscriptionRepair } from './subscription-repair.ts'
import { createStateRecord, reasonOf } from './subscription-state.ts'

export interface SubscriptionKeeperOptions extends SubscriptionControl {
  readonly logger: Logger
  /** Roughly how many replicas share the event subscription. @default 1 */
  readonly replicas?: number
  /** How long a start may take while somebody waits for it, in ms. @default 120_000 */
  readonly timeoutMs?: number
  /** Whether deliveries have to bear a credential that we add to the event subscription. @default false */
  readonly addsCredential?: boolean
  /** Deliveries answered 200 so far: each carried a credential that is known here. @default none */
  readonly handled?: () => number
  readonly clock?: SteadyClock
  /** At least 0 and less than 1. @default Math.random */
  readonly random?: () => number
}

/**
 * Shortest time between two polls; the longest is twice that, by chance. A thousand replicas poll 2.2 times a second together, far below
 * what ARM allows, and the first that finds the event subscription missing has created it before most others poll.
 */
const minPollMs = 5 * 60_000

/**
 * Creates the event subscription at init, watches it, and corrects it when a delivery or a poll shows that it has to. Upserts never
 * overlap, and `close` ends each of them.
 */
export function createSubscriptionKeeper(options: SubscriptionKeeperOptions) {
  const { upsert, inspect, logger, replicas = 1, timeoutMs = 120_000, addsCredential = false } = options
  const { handled = () => 0, clock = systemClock, random = Math.random } = options
  const closing = new AbortController()
  const record = createStateRecord({ logger, clock, addsCredential })
  let underWay: Promise<void> | undefined
  let cancelPoll = () => {}
  let wasPermitted = true
  const mayStart = () => underWay === undefined && !closing.signal.aborted
  const repair = createSubscriptionRepair({ logger, clock, random, replicas, handled, mayStart, correct })

  /** Runs one task; to be called while no other runs. A poll follows when none has run for a while. */
  function run(task: () => Promise<void>): Promise<void> {
    cancelPoll()
    underWay = task().finally(() => {
      underWay = undefined
      if (!closing.signal.aborted) cancelPoll = clock.setTimer(minPollMs * (1 + random()), poll)
    })
    return underWay
  }

  async function provision(patience: 'timeout' | 'forever', signal: AbortSignal): Promise<UpsertOutcome> {
    try {
      const onAttempt = ({ error }: FailedAttempt) => record.failed(reasonOf(error))
      const outcome = await upsert({ patience, signal, handled, onLook: record.looked, onAttempt })
      record.provisioned(outcome.wroteAt)
      wasPermitted = outcome.action !== 'notPermitted'
      return outcome
    } catch (error) {
      if (!signal.aborted) record.failed(reasonOf(error))
      throw error
    }
  }

  function runInBackground(task: () => Promise<void>): void {
    run(task).catch((error: unknown) => {
      if (closing.signal.aborted) return
      logger.error(`the event subscription could not be corrected: ${messageOf(error)}`)
    })
  }

  function correct(done: (outcome: UpsertOutcome) => void): void {
    runInBackground(async () => done(await provision('timeout', closing.signal)))
  }

  function poll(): void {
    runInBackground(async () => {
      if (await needsUpsert()) await provision('timeout', closing.signal)
    })
  }

  /** Reads without writing. An upsert is needed where the event subscription is missing, or the last upsert failed or was not permitted. */
  async function needsUpsert(): Promise<boolean> {
    try {
      const finding = await inspect(closing.signal)
      if (finding.kind === 'missing') {
        logger.warn('the event subscription is missing; creating it again')
        record.failed('it was deleted')
        return true
      }
      if (finding.kind === 'intact' && (record.current().state === 'failed' || !wasPermitted)) return true
      record.found(finding.kind === 'changed' ? finding.problem : undefined)
    } catch (error) {
      // It says nothing about the event subscription. The next poll may.
      logger.debug('the event subscription could not be read', { reason: reasonOf(error) })
    }
    return false
  }

  return {
    state: record.current,
    isReady: record.isReady,
    bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal): Promise<void> {
      record.startWaiting()
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      return run(async () => {
        const limitMs = patience === 'timeout' ? timeoutMs : Number.POSITIVE_INFINITY
        const pauseMs = decideStartPause({ replicas, timeoutMs: limitMs, random: random() })
        if (pauseMs > 0) await pause(clock, pauseMs, either)
        await provision(patience, either)
      })
    },
    /**
     * Reads the event subscription again and corrects it, in the background and at most once a minute; less often where that does not last.
     * In a fleet it waits first, and does nothing where another replica has corrected it by then.
     */
    repair: repair.request,
    async close(): Promise<void> {
      closing.abort()
      repair.close()
      cancelPoll()
      await underWay?.catch(() => {})
    },
  }
}
