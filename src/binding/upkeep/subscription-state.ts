/** What is known of the event subscription, whether deliveries may be routed here, and the log of what others change in it. */
import type { Logger } from '../../core/logger.ts'
import type { SubscriptionLook } from '../../provision/attempts.ts'
import type { Differences } from '../../provision/look.ts'
import type { SteadyClock } from '../../support/time/clock.ts'

/** The state of the event subscription, as far as this binding knows. */
export type SubscriptionState =
  /** `why`: what the event subscription waits for, a sentence without a secret. */
  | { readonly state: 'pending'; readonly why?: string }
  | {
      readonly state: 'provisioned'
      /** When our own write was provisioned, in ms since 1970. Where another replica wrote: when we found its write. */
      readonly since: number
      /** What somebody changed since, or what differs from the metadata: a sentence without a secret. */
      readonly problem?: string
      /** When the event subscription was first found to deliver elsewhere, in ms since 1970. @default it delivers here */
      readonly awaySince?: number
    }
  /**
   * `delivers`: `false` where a read has shown that the event subscription does not exist or does not deliver: then no event comes.
   * `unseen` where it was never read, for a reason that does not pass by itself (a wrong secret, a missing role), or for ten minutes.
   */
  | { readonly state: 'failed'; readonly why: string; readonly delivers?: false | 'unseen' }
  /** The event subscription does not exist, and this binding does not create it: no event comes. */
  | { readonly state: 'missing'; readonly why: string }
  /** Nobody is asked about the event subscription. */
  | { readonly state: 'unmanaged' }

interface StateRecordOptions {
  readonly logger: Logger
  readonly clock: SteadyClock
  /** Whether deliveries have to bear a credential that we add to the event subscription. */
  readonly addsCredential: boolean
  /** Whether this process writes the event subscription. */
  readonly manages: boolean
}

interface FailureKind {
  /** The event subscription does not exist, and is not created here. @default false */
  readonly isMissing?: boolean
  /** The event subscription does not exist. @default isMissing */
  readonly isGone?: boolean
  /** Waiting may help; else somebody has to correct the cause. @default true */
  readonly passes?: boolean
}

/** Every state, as metrics and health name them. */
export const subscriptionStates: readonly SubscriptionState['state'][] = [
  'pending',
  'provisioned',
  'failed',
  'missing',
  'unmanaged',
]

/** Longest time that deliveries wait for our credential in the event subscription, in ms. To add it takes some seconds. */
const maxWaitMs = 30_000

/** How long an event subscription that was never read may be taken for one that delivers, in ms. */
const maxUnseenMs = 10 * 60_000

/** Remembers the state of the event subscription, and whether deliveries may be routed here. Logs what others change in it. */
export function createStateRecord({ logger, clock, addsCredential, manages }: StateRecordOptions) {
  let state: SubscriptionState = { state: 'pending' }
  /** Once ready, the side stays ready. */
  let staysReady = !addsCredential
  /** When a read first showed that the event subscription delivers without our credential. */
  let lacksSince: number | undefined
  /** Whether the event subscription delivered when it was last read; `undefined` before the first read. */
  let delivers: boolean | undefined
  let firstFailedAt: number | undefined
  /** The last read found no event subscription, or there was no read yet. So a deletion is counted once, however many reads follow. */
  let wasGone = true
  let timesDeleted = 0
  let carriesOursSince: number | undefined
  /** Since when the event subscription is known to stand, by `elapsed`: setting the clock must not shorten what counts from it. */
  let standsSince = 0

  /** A read found the event subscription missing. */
  function foundMissing(): void {
    if (!wasGone) timesDeleted++
    wasGone = true
    delivers = false
  }

  return {
    current: () => state,
    /** How often the event subscription was found missing after it had been there. */
    timesDeleted: () => timesDeleted,
    /**
     * Since when the event subscription is known to deliver with our credential, in ms by `elapsed`; `undefined` while that is not known.
     * Ten minutes later no delivery comes by its former settings.
     */
    carriesOursSince: () => carriesOursSince,
    /** Since when the event subscription is known to be provisioned, in ms by `elapsed`; `undefined` while it is not. */
    standsSince: () => (state.state === 'provisioned' ? standsSince : undefined),
    /**
     * Whether deliveries may be routed to this replica. False after a read has shown that the event subscription delivers without our
     * credential, as at the start of a rotation, and while another replica answers for the endpoint: this replica would answer 503. It is
     * false for half a minute at most. What is not known, as before the first read, is ready.
     */
    isReady: (): boolean => staysReady || lacksSince === undefined || clock.elapsed() - lacksSince >= maxWaitMs,
    /** The event subscription was read. */
    looked(look: SubscriptionLook): void {
      if (look.lacksCredential) lacksSince ??= clock.elapsed()
      else staysReady = true
      delivers = look.delivers
      if (!look.exists) foundMissing()
      if (!look.delivers || look.lacksCredential) carriesOursSince = undefined
      else carriesOursSince ??= clock.elapsed()
    },
    /** The endpoint was asked: another replica answers, or nobody does. */
    answered(isServed: boolean): void {
      staysReady ||= !isServed
    },
    /** An upsert succeeded. `wroteAt` is absent where nothing had to be written. */
    provisioned(wroteAt: number | undefined): void {
      staysReady = true
      delivers = true
      wasGone = false
      standsSince = clock.elapsed()
      state = { state: 'provisioned', since: wroteAt ?? clock.now() }
    },
    failed(why: string, { isMissing = false, isGone = isMissing, passes = true }: FailureKind = {}): void {
      firstFailedAt ??= clock.elapsed()
      const isOver = !passes || clock.elapsed() - firstFailedAt >= maxUnseenMs
      if (isGone) foundMissing()
      if (isMissing) state = { state: 'missing', why }
      else if (delivers === false) state = { state: 'failed', why, delivers }
      else if (delivers === undefined && isOver) state = { state: 'failed', why, delivers: 'unseen' }
      else state = { state: 'failed', why }
    },
    /** A write waits for what `why` says, a sentence. */
    waits(why: string): void {
      if (state.state === 'pending') state = { state: 'pending', why }
      else if (state.state === 'failed') state = { ...state, why }
      else if (state.state === 'provisioned') state = { ...state, problem: why }
    },
    /** The client may not read the event subscription any more: a change or a deletion would not be seen. */
    unwatched(why: string): void {
      if (state.state !== 'provisioned') return
      const problem = `the event subscription can't be read any more, so a change of it would not be seen: ${why}`
      if (problem !== state.problem) logger.warn(problem)
      state = { ...state, problem }
    },
    /** A read found the event subscription, with these differences from the metadata. */
    found(differences: Pick<Differences, 'problem' | 'isDown' | 'isAway'> | undefined): void {
      const { isDown = false, isAway = false } = differences ?? {}
      delivers = !isDown && !isAway
      wasGone = false
      const before = state.state === 'provisioned' ? state : undefined
      if (!before) standsSince = clock.elapsed()
      const [subject, then] = manages
        ? [
            'somebody changed the event subscription',
            isAway
              ? 'somebody may have moved it on purpose, so it is left so until the next start'
              : 'only what keeps deliveries away is repaired, the rest at the next start',
          ]
        : ['the event subscription differs from the metadata', 'provisioning is check, so it is left as it is']
      const problem = differences && `${subject}: ${differences.problem}`
      if (problem !== undefined && problem !== before?.problem) logger.warn(`${problem}; ${then}`)
      if (problem === undefined && before?.problem !== undefined) {
        logger.info('the event subscription is as it was again')
      }
      if (isDown && problem !== undefined) state = { state: 'failed', why: problem, delivers: false }
      else
        state = {
          state: 'provisioned',
          since: before?.since ?? clock.now(),
          ...(problem !== undefined && { problem }),
          ...(isAway && { awaySince: before?.awaySince ?? clock.now() }),
        }
    },
  }
}
