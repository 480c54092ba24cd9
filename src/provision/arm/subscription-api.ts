/** Looks up, reads and writes event subscriptions at Resource Manager, and reads the host name of a namespace. */
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { ArmFailureError } from '../../azure/read-failure.ts'
import { eventGridApiVersion } from '../../core/api-versions.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { type SteadyClock, systemClock } from '../../support/time/clock.ts'
import { type SubscriptionPlace, subscriptionIdOf } from '../decide/subscription-place.ts'
import type { SubscriptionProperties } from '../decide/subscription-properties.ts'
import { type ArmClientOptions, connectArm, getFromArm, resourceManagerOf } from './arm-client.ts'
import { type CallLimits, pauseWithin } from './call-limits.ts'
import { completeWrite } from './complete-write.ts'
import { type Detail, type LookedUp, lookUp } from './look-up.ts'
import { bindSubscriptionCalls, type SubscriptionCalls, type SubscriptionWrite } from './subscription-calls.ts'

export interface SubscriptionApiOptions extends Omit<ArmClientOptions, 'apiVersion'> {
  /** Time limit of one request, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number
  readonly clock?: SteadyClock
  /** Receives each event subscription that was read. */
  readonly onFound?: (existing: SubscriptionProperties) => void
}

/** The calls of ARM for event subscriptions. They throw what the SDK throws; `readFailure` reads it. */
export type SubscriptionApi = ReturnType<typeof createSubscriptionApi>

/** Pause before an event subscription that is said to be missing is looked up again. */
const secondLookMs = 2_000

/** Connects to ARM. Retries are the caller's: the SDK's own are off, so that they do not multiply. */
export function createSubscriptionApi(options: SubscriptionApiOptions) {
  const { endpoints, environment, requestTimeoutMs = 30_000, clock = systemClock, onFound } = options
  const versioned = { ...options, apiVersion: eventGridApiVersion }
  const connect = (first?: readonly PipelinePolicy[]) => connectArm(versioned, first)
  const bound = new Map<string, SubscriptionCalls>()
  const callsOf = (place: SubscriptionPlace) => {
    const id = subscriptionIdOf(place)
    const calls = bound.get(id) ?? bindSubscriptionCalls(connect, place)
    bound.set(id, calls)
    return calls
  }
  const callOptions =
    ({ signal: abortSignal, deadline }: CallLimits) =>
    () => ({
      abortSignal,
      requestOptions: { timeout: Math.max(1, Math.min(requestTimeoutMs, deadline - clock.elapsed())) },
    })
  async function look(place: SubscriptionPlace, limits: CallLimits, detail: Detail): Promise<LookedUp> {
    const found = await lookUp(callsOf(place), place, callOptions(limits), detail)
    if (found.kind === 'found') onFound?.(found.properties)
    return found
  }

  return {
    /** Base URL of ARM, for messages. */
    resourceManager: resourceManagerOf(endpoints, environment),
    /** Looks once, without a second opinion where the list may not be read. */
    lookUp: look,
    /** The event subscription; `undefined` if it does not exist, which is asked twice where the list may not be read. */
    async read(place: SubscriptionPlace, limits: CallLimits, detail: Detail = 'whole') {
      let found = await look(place, limits, detail)
      if (found.kind === 'missing' && !found.certain) {
        const message = 'the event subscription is said to be missing, and was not looked up again in time'
        await pauseWithin(limits, { clock, ms: secondLookMs, message })
        found = await look(place, limits, detail)
      }
      return found.kind === 'found' ? found.properties : undefined
    },
    /** Resolves when it is provisioned. */
    write(place: SubscriptionPlace, write: SubscriptionWrite, limits: CallLimits) {
      const calls = callsOf(place)
      return completeWrite((onResponse) => calls.begin(write, callOptions(limits)(), onResponse), {
        limits,
        clock,
        readState: () => calls.get(callOptions(limits)()),
      })
    },
    /** The host name of a namespace. */
    async readHostname(namespaceId: string, limits: CallLimits): Promise<string> {
      const answer = await getFromArm(connect(), { path: namespaceId, ...callOptions(limits)() })
      const properties = isRecord(answer) && isRecord(answer.properties) ? answer.properties : {}
      const { topicsConfiguration } = properties
      const hostname = isRecord(topicsConfiguration) ? topicsConfiguration.hostname : undefined
      const isHost = typeof hostname === 'string' && /^[\w.:/-]{1,500}$/.test(hostname)
      // What only looks like one, such as `host:x`, is no address that anybody can ask.
      if (isHost && URL.canParse(`https://${hostname}`)) return hostname
      throw new ArmFailureError({ kind: 'answerUnread', message: `it names no host for ${namespaceId}` })
    },
  }
}
