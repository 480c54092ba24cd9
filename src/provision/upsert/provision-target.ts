/** What one side needs in Azure, how it is brought about, and what came of it. */
import type { FailureContext } from '../../azure/refusals/resource-manager-refusal.ts'
import type { BindingError } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { EitherInput } from '../../metadata/typed/metadata.ts'
import type { SteadyClock } from '../../support/time/clock.ts'
import type { Arm } from '../arm/arm-client.ts'
import type { CallLimits } from '../arm/call-limits.ts'
import { isActive, type SubscriptionProperties } from '../decide/subscription-properties.ts'
import type { WantedSubscription } from '../decide/wanted-subscription.ts'
import type { AskedEndpoint } from '../handshake/ask-endpoint.ts'
import type { Patience } from './retry-pause.ts'

/** What one side needs in Azure. */
export interface ProvisionTarget {
  readonly arm: Arm
  readonly input: Pick<EitherInput, 'eventSubscriptionName' | 'subscriptionTimeoutMs'>
  /** In the order in which they are brought about. */
  readonly wanted: readonly WantedSubscription[]
  /** Receives each event subscription that was read. */
  readonly onFound?: (existing: SubscriptionProperties) => void
  /** What explanations name, by the resource that was asked about. */
  readonly context: (sourceId: string) => FailureContext
  /** The endpoint of a web hook, which has to consent before a write; absent for pull, which has no handshake. */
  readonly endpoint?: AskedEndpoint
  /** Events are received without any right at Azure Resource Manager, too. */
  readonly worksWithout: boolean
  /** The namespace whose host name is wanted, and who takes it. Asked last. */
  readonly host?: { readonly namespaceId: string; readonly take: (hostname: string) => void } | undefined
}

/** What a read of the event subscription shows. */
export interface SubscriptionLook {
  /** Whether it delivers to this endpoint. */
  readonly delivers: boolean
  /** Whether it does so without our credential. */
  readonly lacksCredential: boolean
}

/** How it is brought about, and who hears of it. */
export interface ProvisionHow {
  readonly signal: AbortSignal
  readonly patience: Patience
  /** Receives each failed attempt. */
  readonly onAttempt?: (failed: FailedAttempt) => void
  readonly logger: Logger
  readonly clock: SteadyClock
  /** At least 0 and less than 1. */
  readonly random: () => number
  /** Called after each read of the event subscription. */
  readonly onLook?: ((look: SubscriptionLook) => void) | undefined
  /** Called after each question to the endpoint: whether it is known that somebody else answers for it. */
  readonly onAnswer?: ((isServed: boolean) => void) | undefined
  /** Called while a write waits, with what the endpoint answered: a sentence without a secret. */
  readonly onWait?: ((why: string) => void) | undefined
}

/** The reads of one attempt. They remember whom they asked, and which secrets they saw. */
export interface Asked {
  readonly limits: CallLimits
  read(wanted: WantedSubscription, detail?: 'plain'): Promise<SubscriptionProperties | undefined>
  /** Takes down what a write waits for: a sentence without a secret. */
  waits(why: string): void
}

export type WriteAction = 'created' | 'patched' | 'replaced'

export interface UpsertOutcome {
  /** `notPermitted`: it may not be read or written here, and is used as it is. */
  readonly action: 'kept' | 'notPermitted' | WriteAction
  /** When our own write was provisioned, in ms since 1970; absent where nothing was written. */
  readonly wroteAt?: number
  /** That it was written though the endpoint could not be asked: a sentence. */
  readonly unreached?: string
}

/** One attempt that failed. Holds no secret. */
export interface FailedAttempt {
  readonly attempt: number
  readonly error: BindingError
  /** Pause before the next attempt, in ms; absent after the last attempt. */
  readonly retryInMs?: number
  /** It does not exist, and `provisioning` is `check`. */
  readonly isMissing: boolean
}

/** Whether the event subscription delivers where it should, with any credential. */
export const isDelivering = (existing: SubscriptionProperties, wanted: WantedSubscription): boolean =>
  isActive(existing) && wanted.awayFrom(existing) === undefined
