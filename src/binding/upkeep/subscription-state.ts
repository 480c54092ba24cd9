/** What is known of the event subscription, whether deliveries may be routed here, and the log of what others change in it. */
import type { Logger } from '../../core/logger.ts'
import type { SubscriptionLook } from '../../provision/attempts.ts'
import type { SteadyClock } from '../../support/time/clock.ts'

/** The state of the event subscription, as far as this binding knows. */
export type SubscriptionState =
  /** `why`: what it waits for, a sentence without a secret. */
  | { readonly state: 'pending'; readonly why?: string }
  | {
      readonly state: 'provisioned'
      /** When our own write was provisioned, in ms since 1970; where another replica wrote it, when we found it. */
      readonly since: number
      /** What somebody changed since, or what differs from the metadata: a sentence without a secret. */
      readonly problem?: string
    }
  /**
   * `delivers`: `false` where it was seen not to exist, or not to deliver: then no event comes. `unseen` where it was never read, for a
   * reason that does not pass by itself: a wrong secret, a missing role.
   */
  | { readonly state: 'failed'; readonly why: string; readonly delivers?: false | 'unseen' }
  /** It does not exist, and this binding does not create it: no event comes. */
  | { readonly state: 'missing'; readonly why: string }
  /** Nobody is asked about it. */
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
  /** It does not exist, and is not created here. @default false */
  readonly isMissing?: boolean
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

/** Longest time that they wait for the first look at it, in ms: what is not known then is no reason to wait. */
const firstLookMs = 5_000

/** Remembers the state of the event subscription, and whether deliveries may be routed here. Logs what others change in it. */
export function createStateRecord({ logger, clock, addsCredential, manages }: StateRecordOptions) {
  let state: SubscriptionState = { state: 'pending' }
  let isReady = !addsCredential
  /** It was read, and delivers without our credential. */
  let lacksCredential = false
  /** An attempt has failed, so that nobody waits for the first look any longer. */
  let hasFailed = false
  let startedAt = Number.POSITIVE_INFINITY
  /** Whether it delivered when it was last read; `undefined` before that. */
  let delivers: boolean | undefined
  let timesDeleted = 0
  let carriesOursSince: number | undefined
  return {
    current: () => state,
    /** How often it was found missing after it had been there. */
    timesDeleted: () => timesDeleted,
    /**
     * Since when it is known to deliver with our credential, in ms since 1970; `undefined` while it is not. Ten minutes later no delivery
     * comes by its settings from before.
     */
    carriesOursSince: () => carriesOursSince,
    /** A read found it missing. */
    foundMissing(): void {
      if (state.state === 'provisioned') timesDeleted++
      delivers = false
    },
    /**
     * Whether deliveries may be routed here. Not once a read has shown that the event subscription delivers without our credential, as at
     * the start of a rotation, and another replica answers for the endpoint: here they would be answered 503. Half a minute at most. What
     * is not known is ready: five seconds after the start, or with the first failure. A first look that comes later still counts.
     */
    isReady(): boolean {
      const waitedMs = clock.elapsed() - startedAt
      return isReady || (lacksCredential ? waitedMs >= maxWaitMs : hasFailed || waitedMs >= firstLookMs)
    },
    /** Deliveries by the present settings are taken, too: there is nothing to wait for. */
    replacesFormer(): void {
      isReady = true
    },
    startWaiting(): void {
      startedAt = clock.elapsed()
    },
    /** The event subscription was read. */
    looked(look: SubscriptionLook): void {
      isReady ||= !look.lacksCredential
      lacksCredential = look.lacksCredential
      delivers = look.delivers
      if (!look.delivers || look.lacksCredential) carriesOursSince = undefined
      else carriesOursSince ??= clock.now()
    },
    /** The endpoint was asked: another replica answers for it, or nobody does. */
    answered(isServed: boolean): void {
      isReady ||= !isServed
    },
    /** An upsert succeeded. `wroteAt` is absent where nothing had to be written. */
    provisioned(wroteAt: number | undefined): void {
      isReady = true
      delivers = true
      state = { state: 'provisioned', since: wroteAt ?? clock.now() }
    },
    failed(why: string, { isMissing = false, passes = true }: FailureKind = {}): void {
      hasFailed = true
      if (isMissing) state = { state: 'missing', why }
      else if (delivers === false) state = { state: 'failed', why, delivers }
      else if (delivers === undefined && !passes) state = { state: 'failed', why, delivers: 'unseen' }
      else state = { state: 'failed', why }
    },
    /** A write waits for what `why` says, a sentence. */
    waits(why: string): void {
      if (state.state === 'pending') state = { state: 'pending', why }
      else if (state.state === 'failed') state = { ...state, why }
      else if (state.state === 'provisioned') state = { ...state, problem: why }
    },
    /** A read found the event subscription, with or without a problem (a clause). */
    found(clause: string | undefined): void {
      delivers = true
      const before = state.state === 'provisioned' ? state : { since: clock.now(), problem: undefined }
      const [subject, then] = manages
        ? ['somebody changed the event subscription', 'it is left unchanged until the next start']
        : ['the event subscription differs from the metadata', 'provisioning is check, so it is left as it is']
      const problem = clause === undefined ? undefined : `${subject}: ${clause}`
      if (problem !== undefined && problem !== before.problem) logger.warn(`${problem}; ${then}`)
      if (problem === undefined && before.problem !== undefined) {
        logger.info('the event subscription is as it was again')
      }
      state = { state: 'provisioned', since: before.since, ...(problem !== undefined && { problem }) }
    },
  }
}
