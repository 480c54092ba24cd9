/** What one side needs in Azure, and how an attempt at it is repeated. */
import { readFailure } from '../../azure/read-failure.ts'
import { explainFailure, type FailureContext, verdictOf } from '../../azure/resource-manager-refusal.ts'
import type { EitherInput } from '../../metadata/typed/metadata.ts'
import type { CallLimits } from '../arm/call-limits.ts'
import type { SubscriptionApi } from '../arm/subscription-api.ts'
import { isActive, type SubscriptionProperties } from '../decide/subscription-properties.ts'
import type { WantedSubscription } from '../decide/wanted-subscription.ts'
import type { AskedEndpoint } from '../handshake/ask-endpoint.ts'
import { withSecretsOf } from './failure-context.ts'
import { type Persistence, repeatAttempts } from './repeat-attempts.ts'

/** What one side needs in Azure. */
export interface ProvisionTarget {
  readonly api: SubscriptionApi
  readonly input: Pick<EitherInput, 'eventSubscriptionName' | 'subscriptionTimeoutMs'>
  /** In the order in which they are brought about. */
  readonly wanted: readonly WantedSubscription[]
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

export interface ProvisionHow extends Persistence {
  /** Called after each read of the event subscription. */
  readonly onLook?: ((look: SubscriptionLook) => void) | undefined
  /** Called after each question to the endpoint: whether somebody else answers for it, as far as is known. */
  readonly onAnswer?: ((isServed: boolean) => void) | undefined
}

/** The reads of one attempt. They remember whom they asked, and which secrets they saw. */
export interface Asked {
  readonly limits: CallLimits
  read(wanted: WantedSubscription, detail?: 'plain'): Promise<SubscriptionProperties | undefined>
}

/**
 * Repeats an attempt until it succeeds. After it the host name of the namespace is asked for.
 *
 * @param without the outcome where events are received without the right that is missing
 */
export function attemptUntilDone<Outcome>(
  target: ProvisionTarget,
  how: ProvisionHow,
  attemptOnce: (asked: Asked, attempt: number) => Promise<Outcome>,
  without?: () => Outcome,
): Promise<Outcome> {
  const { api, input, wanted, worksWithout, host } = target
  const { signal, logger, clock } = how
  const seen = new Map<WantedSubscription, SubscriptionProperties>()
  let askedId = wanted[0]?.place.sourceId ?? ''
  const context = () => withSecretsOf(target.context(askedId), [...seen.values()])

  async function attempt(deadline: number, count: number): Promise<Outcome> {
    const limits = { signal, deadline }
    const asked: Asked = {
      limits,
      async read(one, detail) {
        askedId = one.place.sourceId
        const existing = await api.read(one.place, limits, detail)
        if (existing) seen.set(one, existing)
        return existing
      },
    }
    const outcome = await attemptOnce(asked, count)
    if (host) {
      askedId = host.namespaceId
      host.take(await api.readHostname(host.namespaceId, limits))
    }
    return outcome
  }

  return repeatAttempts({
    ...how,
    input,
    context,
    async attemptOnce(deadline, count) {
      try {
        return await attempt(deadline, count)
      } catch (error) {
        const failure = readFailure(error, clock.now())
        if (!worksWithout || !without || verdictOf(failure) !== 'permission') throw error
        const { what, fix } = explainFailure(failure, context())
        const name = input.eventSubscriptionName
        logger.warn(
          `events are received from the event subscription ${name} as it is: ${what}; to have it updated, ${fix}`,
        )
        return without()
      }
    },
  })
}

/** Whether the event subscription delivers where it should, with any credential. */
export const isDelivering = (existing: SubscriptionProperties, wanted: WantedSubscription): boolean =>
  isActive(existing) && wanted.awayFrom(existing) === undefined
