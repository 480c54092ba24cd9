import { BindingError, messageWithoutCode } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { decideRepairInterval, decideStartPause, fleetSpreadMs } from '../subscription/fleet-pace.ts'
import type { FailedAttempt } from '../subscription/repeat-attempts.ts'
import type { UpsertOutcome } from '../subscription/upsert-attempt.ts'
import { pause, type SteadyClock, systemClock } from '../support/clock.ts'
import { messageOf } from '../support/error-code.ts'
import type { SubscriptionControl } from './subscription-control.ts'

/** The state of the event subscription, as far as this binding knows. */
export type SubscriptionState =
  | { readonly state: 'pending' }
  | {
      readonly state: 'provisioned'
      /** When our own write was provisioned, in ms since 1970; where another replica wrote it, when we found it. */
      readonly since: number
      /** What somebody changed since, as a sentence without a secret. */
      readonly problem?: string
    }
  | { readonly state: 'failed'; readonly why: string }

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

/** Creates the event subscription at init, watches it, and corrects it when a delivery or a look shows that it has to. */
export interface SubscriptionKeeper {
  state(): SubscriptionState
  /**
   * Whether deliveries may be routed here. Not while the event subscription delivers without our credential, as at the start of a rotation:
   * they would be answered 503. True where it does not deliver yet, for its handshake has to reach us, and half a minute after `bringUp` at
   * the latest. Once true it stays so.
   */
  isReady(): boolean
  bringUp(patience: 'timeout' | 'forever', signal?: AbortSignal): Promise<void>
  /**
   * Reads the event subscription again and corrects it, in the background and at most once a minute; less often where that does not last.
   * In a fleet it waits first, and does nothing where another replica has corrected it by then.
   */
  repair(): void
  close(): Promise<void>
}

/**
 * Shortest time between two looks; the longest is twice that, by chance. A thousand replicas look 2.2 times a second together, far below
 * what ARM allows, and the first that finds the event subscription missing has created it before most others look.
 */
const minLookMs = 5 * 60_000

/** Longest time in which {@link SubscriptionKeeper.isReady} waits for the credential. To add it takes some seconds. */
const longestHoldMs = 30_000

/** Keeps one event subscription. Upserts never overlap, and `close` ends each of them. */
export function createSubscriptionKeeper(options: SubscriptionKeeperOptions): SubscriptionKeeper {
  const { upsert, inspect, logger, replicas = 1, timeoutMs = 120_000, addsCredential = false } = options
  const { handled = () => 0, clock = systemClock, random = Math.random } = options
  const closing = new AbortController()
  let state: SubscriptionState = { state: 'pending' }
  let isReady = !addsCredential
  let holdsUntil = Number.POSITIVE_INFINITY
  let underWay: Promise<void> | undefined
  let lastRepair = Number.NEGATIVE_INFINITY
  let repairsThatWrote = 0
  let repairIsDue = false
  let handledBefore = 0
  let cancelLook = () => {}
  let cancelRepair = () => {}

  const failed = (error: unknown) => {
    state = { state: 'failed', why: reasonOf(error) }
  }

  const onLook = (delivering: boolean) => {
    isReady ||= !delivering
  }

  /** Runs one task at a time; the next look comes after it. */
  function run(task: () => Promise<void>): Promise<void> {
    cancelLook()
    underWay = task().finally(() => {
      underWay = undefined
      if (!closing.signal.aborted) cancelLook = clock.setTimer(minLookMs * (1 + random()), startLook)
    })
    return underWay
  }

  async function provision(patience: 'timeout' | 'forever', signal: AbortSignal): Promise<UpsertOutcome> {
    try {
      const onAttempt = ({ error }: FailedAttempt) => failed(error)
      const outcome = await upsert({ patience, signal, handled, onLook, onAttempt })
      isReady = true
      state = { state: 'provisioned', since: outcome.wroteAt ?? clock.now() }
      return outcome
    } catch (error) {
      if (!signal.aborted) failed(error)
      throw error
    }
  }

  const bringUp: SubscriptionKeeper['bringUp'] = (patience, signal) => {
    holdsUntil = clock.elapsed() + longestHoldMs
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
    return run(async () => {
      const limitMs = patience === 'timeout' ? timeoutMs : Number.POSITIVE_INFINITY
      const pauseMs = decideStartPause({ replicas, timeoutMs: limitMs, random: random() })
      if (pauseMs > 0) await pause(clock, pauseMs, either)
      await provision(patience, either)
    })
  }

  function correct(done: (outcome: UpsertOutcome) => void = () => {}): void {
    run(async () => done(await provision('timeout', closing.signal))).catch((error: unknown) => {
      if (closing.signal.aborted) return
      logger.error(`the event subscription could not be corrected: ${messageOf(error)}`)
    })
  }

  function startRepair(): void {
    repairIsDue = false
    if (underWay || closing.signal.aborted) return
    if (handled() > handledBefore) {
      logger.info('deliveries have a credential again that is known here; the event subscription is not read')
      return
    }
    const elapsed = clock.elapsed()
    if (elapsed - lastRepair > 2 * decideRepairInterval(repairsThatWrote)) repairsThatWrote = 0
    lastRepair = elapsed
    logger.warn('a delivery has no credential that is known here; reading the event subscription again')
    correct(({ wroteAt }) => {
      if (wroteAt === undefined) return
      if (++repairsThatWrote > 1) {
        logger.warn(
          'our delivery credential was removed again; replicas with more secrets than the event ' +
            'subscription can hold use it, or two deployments share its name',
        )
      }
    })
  }

  function startLook(): void {
    if (underWay) return
    let needed = false
    run(async () => {
      needed = await look()
    })
      .then(() => {
        if (needed && !closing.signal.aborted) correct()
      })
      .catch(() => {})
  }

  /** Reads without writing. Resolves to true where an upsert is needed: it is missing, or the last upsert failed. */
  async function look(): Promise<boolean> {
    try {
      const finding = await inspect(closing.signal)
      if (finding.kind === 'missing') {
        logger.warn('the event subscription is missing; creating it again')
        state = { state: 'failed', why: 'it was deleted' }
        return true
      }
      if (finding.kind === 'intact' && state.state === 'failed') return true
      note(finding.kind === 'changed' ? finding.problem : undefined)
    } catch (error) {
      // It says nothing about the event subscription. The next look may.
      logger.debug('the event subscription could not be read', { reason: reasonOf(error) })
    }
    return false
  }

  function note(problem: string | undefined): void {
    const since = state.state === 'provisioned' ? state.since : clock.now()
    const known = state.state === 'provisioned' ? state.problem : undefined
    if (problem !== undefined && problem !== known) {
      logger.warn(`somebody changed the event subscription: ${problem}; it is left unchanged until the next start`)
    }
    if (problem === undefined && known !== undefined) logger.info('the event subscription is as it was again')
    state = { state: 'provisioned', since, ...(problem !== undefined && { problem }) }
  }

  return {
    state: () => state,
    isReady: () => isReady || clock.elapsed() >= holdsUntil,
    bringUp,
    repair() {
      handledBefore = handled()
      if (repairIsDue || underWay || closing.signal.aborted) return
      if (clock.elapsed() - lastRepair < decideRepairInterval(repairsThatWrote)) return
      const spreadMs = fleetSpreadMs(replicas)
      if (spreadMs === 0) return startRepair()
      repairIsDue = true
      cancelRepair = clock.setTimer(random() * spreadMs, startRepair)
    },
    async close() {
      closing.abort()
      cancelLook()
      cancelRepair()
      await underWay?.catch(() => {})
    },
  }
}

/** TIMEOUT sums up all retryable attempts, not a single one. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BindingError)) return 'an unexpected error'
  return error.code === 'TIMEOUT' ? messageWithoutCode(error) : error.message
}
