import { setTimeout as wait } from 'node:timers/promises'
import type {
  DeliveryAttributeMappingUnion,
  EventSubscription,
  EventSubscriptionUpdateParameters,
} from '@azure/arm-eventgrid'
import type { TokenCredential } from '@azure/core-auth'
import { isRestError } from '@azure/core-rest-pipeline'
import type { Endpoints } from '../core/endpoints.ts'
import { readRetryAfter } from '../core/retry-after.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { isRecord } from '../support/is-record.ts'
import { connectArm, resourceManagerOf } from './arm-client.ts'
import { ArmFailureError, readFailure, readOperationFailure } from './arm-failure.ts'
import { isStatic, isWebHook } from './canonical-subscription.ts'
import { createCarryOverPolicy, findUnknownSettings, type UnknownSetting } from './carry-over.ts'
import type { StandingSubscription } from './decide-upsert.ts'
import { isExpiredToken, judgeFailure } from './judge-failure.ts'

/** What {@link createSubscriptionApi} needs. */
export interface SubscriptionApiOptions {
  readonly input: Pick<InputMetadata, 'environment' | 'scope' | 'subscriptionId' | 'eventSubscriptionName'>
  /** `renew` has it forget the tokens it keeps. */
  readonly credential: TokenCredential & { renew?(): void }
  readonly endpoints: Endpoints
  /** Longest that one request may take, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number
  /**
   * Longest pause between two looks at a long-running operation, in ms, where ARM names none; the first is a tenth,
   * and it doubles. @default 2_000
   */
  readonly pollIntervalMs?: number
  /** Now, in ms since 1970. @default Date.now */
  readonly now?: () => number
  /** Milliseconds of a clock that nobody sets. @default performance.now */
  readonly elapsed?: () => number
  /** Waits; rejects when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How long a call may go on. */
interface CallLimits {
  readonly signal: AbortSignal
  /** When the call is given up, by `elapsed`. */
  readonly deadline: number
}

/** A write, and what the SDK's model would lose of it. */
interface Write<T> {
  readonly body: T
  readonly carryOver?: readonly UnknownSetting[]
}

/** The few ARM calls that one event subscription needs. They throw what the SDK throws; `readFailure` reads it. */
export interface SubscriptionApi {
  /** Base URL of ARM, for messages. */
  readonly resourceManager: string
  /** The event subscription with all that ARM hides, or `undefined` where there is none. */
  read(limits: CallLimits): Promise<StandingSubscription | undefined>
  /** Creates it or replaces it whole; resolves when it is provisioned. */
  put(write: Write<EventSubscription>, limits: CallLimits): Promise<void>
  /** Replaces some of its top-level fields; resolves when it is provisioned. */
  patch(write: Write<EventSubscriptionUpdateParameters>, limits: CallLimits): Promise<void>
}

/** Longest pause between two looks at an operation, whatever ARM asks for. */
const longestPollMs = 60_000

/**
 * Looks at an operation after which the event subscription itself is looked at too: most operations have ended by then.
 */
const looksBeforeReading = 2

/** Connects to ARM. Retries are the caller's: the SDK's own are off, so that they do not multiply. */
export function createSubscriptionApi(options: SubscriptionApiOptions): SubscriptionApi {
  const { input, credential, endpoints, requestTimeoutMs = 30_000, pollIntervalMs = 2_000 } = options
  const { now = Date.now, elapsed = () => performance.now() } = options
  const sleep = options.sleep ?? ((ms: number, signal: AbortSignal) => wait(ms, undefined, { signal }))
  const resourceManager = resourceManagerOf(endpoints, input.environment)
  // With a leading slash the SDK would ask for //subscriptions/...
  const scope = input.scope.id.replace(/^\/+|(?<!\/)\/+$/g, '')
  const name = input.eventSubscriptionName

  const client = { environment: input.environment, subscriptionId: input.subscriptionId, credential, endpoints }
  const connect = (carryOver: readonly UnknownSetting[]) =>
    connectArm(client, [createCarryOverPolicy(carryOver)]).eventSubscriptions
  const calls = connect([])
  const callsFor = (carryOver: readonly UnknownSetting[]) => (carryOver.length === 0 ? calls : connect(carryOver))

  const callOptions = ({ signal, deadline }: CallLimits) => ({
    abortSignal: signal,
    requestOptions: { timeout: Math.max(1, Math.min(requestTimeoutMs, deadline - elapsed())) },
  })

  async function read(limits: CallLimits): Promise<StandingSubscription | undefined> {
    let text: string | null | undefined
    let subscription: EventSubscription
    try {
      subscription = await calls.get(scope, name, {
        ...callOptions(limits),
        onResponse(response) {
          text = response.bodyAsText
        },
      })
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    const properties = propertiesOf(text)
    if (!isRecord(properties)) {
      const message = 'what came is no event subscription; a proxy may have answered in the place of ARM'
      throw new ArmFailureError({ kind: 'network', message })
    }
    const unknownSettings = findUnknownSettings(properties)
    const { destination, provisioningState: state } = subscription
    const changing = state === 'Creating' || state === 'Updating' || state === 'Deleting'
    if (changing || !isWebHook(destination)) return { subscription, unknownSettings }

    try {
      // The service sends null where the SDK's types know only undefined.
      const mappings: readonly DeliveryAttributeMappingUnion[] = destination.deliveryAttributeMappings ?? []
      const hidden = mappings.some((mapping) => isStatic(mapping) && mapping.isSecret === true)
      const [{ endpointUrl }, attributes] = await Promise.all([
        calls.getFullUrl(scope, name, callOptions(limits)),
        hidden ? calls.getDeliveryAttributes(scope, name, callOptions(limits)) : undefined,
      ])
      const { endpointUrl: shownUrl, ...rest } = destination
      const url = endpointUrl ?? shownUrl
      const joined = {
        ...rest,
        ...(url && { endpointUrl: url }),
        deliveryAttributeMappings: joinValues(mappings, attributes?.value ?? []),
      }
      return { subscription: { ...subscription, destination: joined }, unknownSettings }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  /**
   * A token that ARM finds expired, as after a jump of our clock, would be used again until our clock says the same.
   */
  async function renewing<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (isExpiredToken(readFailure(error, now()))) credential.renew?.()
      throw error
    }
  }

  type Begin = typeof calls.beginCreateOrUpdate | typeof calls.beginUpdate
  type Poller = Pick<Awaited<ReturnType<Begin>>, 'poll' | 'isDone'>

  /** Does Event Grid wait for a hand? The operation itself only says that it is under way, and would for minutes. */
  async function awaitsHand(answer: RawResponse | undefined, looks: number, limits: CallLimits): Promise<boolean> {
    if (provisioningStateOf(answer?.bodyAsText) === 'AwaitingManualAction') return true
    if (looks < looksBeforeReading) return false
    return (await calls.get(scope, name, callOptions(limits))).provisioningState === 'AwaitingManualAction'
  }

  /**
   * Sees a long-running operation to its end. The SDK's own loop has neither a deadline
   * nor an end of waiting for a hand.
   */
  async function complete(
    { signal, deadline }: CallLimits,
    begin: (onResponse: (response: RawResponse) => void) => Promise<Poller>,
  ): Promise<void> {
    let last: RawResponse | undefined
    let accepted = false
    try {
      const poller = await begin((response) => {
        last = response
        accepted ||= response.status < 400
      })
      for (let looks = 0; !poller.isDone(); looks++) {
        if (await awaitsHand(last, looks, { signal, deadline })) {
          throw new ArmFailureError({ kind: 'manual', message: 'Event Grid waits for a confirmation by hand' })
        }
        const headers = last?.headers
        const asked = headers && readRetryAfter((header) => headers.get(header), now())
        const pause =
          asked === undefined
            ? Math.min(pollIntervalMs, (pollIntervalMs / 10) * 2 ** looks)
            : Math.min(asked, longestPollMs)
        if (elapsed() + pause >= deadline) {
          throw new ArmFailureError({
            kind: 'deadline',
            message: 'Azure took the change of the event subscription and did not bring it to an end',
          })
        }
        await sleep(pause, signal)
        await poller.poll()
      }
    } catch (error) {
      const failure = readFailure(error, now())
      const told = failure.kind === 'operation' ? readOperationFailure(last?.bodyAsText) : undefined
      if (told) throw new ArmFailureError(told)
      // The write itself was taken: a status that may not be read, or is gone, says
      // nothing about the scope or the role.
      if (accepted && failure.kind === 'answer') throw new ArmFailureError({ ...failure, kind: 'lost' })
      throw error
    }
  }

  return {
    resourceManager,
    read: (limits) => renewing(() => read(limits)),
    put: ({ body, carryOver = [] }, limits) =>
      renewing(() =>
        complete(limits, (onResponse) =>
          callsFor(carryOver).beginCreateOrUpdate(scope, name, body, { ...callOptions(limits), onResponse }),
        ),
      ),
    patch: ({ body, carryOver = [] }, limits) =>
      renewing(() =>
        complete(limits, (onResponse) =>
          callsFor(carryOver).beginUpdate(scope, name, body, { ...callOptions(limits), onResponse }),
        ),
      ),
  }
}

interface RawResponse {
  readonly status: number
  readonly headers: { get(name: string): string | undefined }
  readonly bodyAsText?: string | null
}

/** No event subscription, as against no scope to have one at. A write tells the cases apart that reading cannot. */
function isMissing(error: unknown): boolean {
  if (!isRestError(error) || error.statusCode !== 404) return false
  // By its code alone: 404 itself says both.
  return judgeFailure({ ...readFailure(error, 0), status: undefined }) !== 'scope'
}

/** The mappings that stand, with the values of the secret ones as their own call gives them. */
function joinValues(
  mappings: readonly DeliveryAttributeMappingUnion[],
  values: readonly DeliveryAttributeMappingUnion[],
): DeliveryAttributeMappingUnion[] {
  return mappings.map((mapping) => {
    if (!isStatic(mapping) || mapping.isSecret !== true) return mapping
    const told = values.filter(isStatic).find(({ name }) => name?.toLowerCase() === mapping.name?.toLowerCase())
    return told?.value ? { ...mapping, value: told.value } : mapping
  })
}

function propertiesOf(text: string | null | undefined): unknown {
  if (!text) return undefined
  try {
    const whole: unknown = JSON.parse(text)
    return isRecord(whole) ? whole.properties : undefined
  } catch {
    return undefined
  }
}

function provisioningStateOf(text: string | null | undefined): unknown {
  const properties = propertiesOf(text)
  return isRecord(properties) ? properties.provisioningState : undefined
}
