// Read, put, patch of one event subscription; 30 s per request; token renewal.
import type { EventSubscription, EventSubscriptionUpdateParameters } from '@azure/arm-eventgrid'
import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../../core/endpoints.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import { type SteadyClock, systemClock } from '../../support/time/clock.ts'
import type { ExistingSubscription } from '../decide/decide-upsert.ts'
import { isExpiredToken } from '../explain/judge-failure.ts'
import { connectArm, resourceManagerOf } from './arm-client.ts'
import { readFailure } from './arm-failure.ts'
import type { CallLimits } from './call-limits.ts'
import { createCarryOverPolicy, type UnknownSetting } from './carry-over.ts'
import { completeWrite, type OnResponse } from './complete-write.ts'
import { readSubscription } from './read-subscription.ts'
import { bindSubscriptionCalls, type Poller, type SubscriptionCalls } from './subscription-calls.ts'
import { chooseSubscriptionPath } from './subscription-path.ts'

export interface SubscriptionApiOptions {
  readonly input: Pick<InputMetadata, 'environment' | 'scope' | 'subscriptionId' | 'eventSubscriptionName'>
  /** `renew` makes it forget the tokens that it keeps. */
  readonly credential: TokenCredential & { renew?(): void }
  readonly endpoints: Endpoints
  /** Time limit of one request, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number
  readonly clock?: SteadyClock
}

/** A write, and the settings that the SDK's model would lose in it. */
interface Write<T> {
  readonly body: T
  readonly carryOver?: readonly UnknownSetting[]
}

/** The ARM calls that one event subscription needs. They throw what the SDK throws; `readFailure` reads it. */
export interface SubscriptionApi {
  /** Base URL of ARM, for messages. */
  readonly resourceManager: string
  /**
   * The event subscription; `undefined` if it does not exist. `plain` leaves out what ARM hides (the query of the URL, secret
   * attributes), which takes two more requests.
   */
  read(limits: CallLimits, detail?: 'plain'): Promise<ExistingSubscription | undefined>
  /** Creates or replaces it. Resolves when it is provisioned. */
  put(write: Write<EventSubscription>, limits: CallLimits): Promise<void>
  /** Replaces some of its top-level fields. Resolves when it is provisioned. */
  patch(write: Write<EventSubscriptionUpdateParameters>, limits: CallLimits): Promise<void>
}

/** Connects to ARM. Retries are the caller's: the SDK's own are off, so that they do not multiply. */
export function createSubscriptionApi(options: SubscriptionApiOptions): SubscriptionApi {
  const { input, credential, endpoints, requestTimeoutMs = 30_000, clock = systemClock } = options
  const { environment, subscriptionId, scope, eventSubscriptionName } = input
  const path = chooseSubscriptionPath(scope)
  const callsThat = (carryOver: readonly UnknownSetting[]) =>
    bindSubscriptionCalls(
      connectArm({ environment, subscriptionId, credential, endpoints }, [createCarryOverPolicy(carryOver)]),
      path,
      eventSubscriptionName,
    )
  const calls = callsThat([])

  const callOptions = ({ signal, deadline }: CallLimits) => ({
    abortSignal: signal,
    requestOptions: { timeout: Math.max(1, Math.min(requestTimeoutMs, deadline - clock.elapsed())) },
  })

  /** After a jump of our clock ARM finds a token expired that we would use again. */
  async function renewing<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (isExpiredToken(readFailure(error, clock.now()))) credential.renew?.()
      throw error
    }
  }

  function write(
    limits: CallLimits,
    carryOver: readonly UnknownSetting[],
    begin: (
      calls: SubscriptionCalls,
      options: ReturnType<typeof callOptions> & { onResponse: OnResponse },
    ) => Promise<Poller>,
  ): Promise<void> {
    const readState = async () => (await calls.get(callOptions(limits))).provisioningState
    const writing = carryOver.length === 0 ? calls : callsThat(carryOver)
    const start = (onResponse: OnResponse) => begin(writing, { ...callOptions(limits), onResponse })
    return renewing(() => completeWrite(start, { limits, clock, readState }))
  }

  return {
    resourceManager: resourceManagerOf(endpoints, environment),
    read: (limits, detail) => renewing(() => readSubscription(calls, () => callOptions(limits), detail)),
    put: ({ body, carryOver = [] }, limits) =>
      write(limits, carryOver, (writing, options) => writing.beginCreateOrUpdate(body, options)),
    patch: ({ body, carryOver = [] }, limits) =>
      write(limits, carryOver, (writing, options) => writing.beginUpdate(body, options)),
  }
}
