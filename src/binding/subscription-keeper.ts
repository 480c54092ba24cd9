import type { Logger } from '../core/logger.ts'
import { decideStartPause } from '../subscription/fleet-pace.ts'
import type { FailedAttempt, UpsertOutcome } from '../subscription/repeat-attempts.ts'
import { pause, type SteadyClock, systemClock } from '../support/clock.ts'
import { messageOf } from '../support/error-code.ts'
import { createReadiness } from './readiness.ts'
import type { SubscriptionControl } from './subscription-control.ts'
import { createSubscriptionRepair } from './subscription-repair.ts'
import { createStateRecord, reasonOf } from './subscription-state.ts'
import { createTaskRunner } from './task-runner.ts'

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

export type SubscriptionKeeper = ReturnType<typeof createSubscriptionKeeper>

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
  const record = createStateRecord({ logger, clock })
  const readiness = createReadiness({ clock, addsCredential })
  const tasks = createTaskRunner({ clock, pauseMs: () => minPollMs * (1 + random()), afterPause: startPoll })
  let wasPermitted = true
  const repair = createSubscriptionRepair({ logger, clock, random, replicas, handled, isBusy: tasks.isBusy, correct })

  async function provision(patience: 'timeout' | 'forever', signal: AbortSignal): Promise<UpsertOutcome> {
    try {
      const onAttempt = ({ error }: FailedAttempt) => record.failed(error)
      const outcome = await upsert({ patience, signal, handled, onLook: readiness.subscriptionRead, onAttempt })
      readiness.provisioned()
      record.provisioned(outcome.wroteAt)
      wasPermitted = outcome.action !== 'notPermitted'
      return outcome
    } catch (error) {
      if (!signal.aborted) record.failed(error)
      throw error
    }
  }

  function correct(done: (outcome: UpsertOutcome) => void = () => {}): void {
    tasks
      .run(async () => done(await provision('timeout', closing.signal)))
      .catch((error: unknown) => {
        if (closing.signal.aborted) return
        logger.error(`the event subscription could not be corrected: ${messageOf(error)}`)
      })
  }

  function startPoll(): void {
    if (tasks.isBusy()) return
    let needed = false
    tasks
      .run(async () => {
        needed = await poll()
      })
      .then(() => {
        if (needed && !closing.signal.aborted) correct()
      })
      .catch(() => {})
  }

  /** Reads without writing. Resolves to true where an upsert is needed: it is missing, or the last upsert failed or was not permitted. */
  async function poll(): Promise<boolean> {
    try {
      const finding = await inspect(closing.signal)
      if (finding.kind === 'missing') {
        logger.warn('the event subscription is missing; creating it again')
        record.deleted()
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
    /**
     * Whether deliveries may be routed here. Not while the event subscription delivers without our credential, as at the start of a
     * rotation: they would be answered 503. True where it does not deliver yet, for its handshake has to reach us, and half a minute after
     * `bringUp` at the latest. Once true it stays so.
     */
    isReady: readiness.isReady,
    bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal): Promise<void> {
      readiness.startWaiting()
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      return tasks.run(async () => {
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
      await tasks.close()
    },
  }
}
