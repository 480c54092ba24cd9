// ARM calls for namespaces and queue subscriptions: API version `2025-02-15`, time-out, polls.
import { RestError } from '@azure/core-rest-pipeline'
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'
import type { SteadyClock } from '../../support/time/clock.ts'
import { type ArmClientOptions, createArmCaller, resourceManagerOf } from './arm-client.ts'
import { ArmFailureError } from './arm-failure.ts'
import { type CallLimits, pauseWithin } from './call-limits.ts'

/** The first stable version with namespaces and all that we set. @azure/arm-eventgrid 14.1.0 has no call for them. */
export const namespaceApiVersion = '2025-02-15'
const pollMs = 2_000
const requestTimeoutMs = 30_000

export interface SubscriptionPlace {
  readonly id: string
  /** Resource id of the resource whose events it takes. */
  readonly sourceId: string
}

export type NamespaceArm = ReturnType<typeof createNamespaceArm>

/**
 * The ARM calls for a namespace and one of its Queue event subscriptions, by the SDK's own pipeline. They throw as the SDK does.
 *
 * @throws BindingError METADATA_INVALID where the endpoint is not https
 */
export function createNamespaceArm(options: ArmClientOptions & { readonly clock: SteadyClock }) {
  const { clock } = options
  const callArm = createArmCaller(options)

  const limited = ({ signal, deadline }: CallLimits) => {
    const timeoutMs = Math.max(1, Math.min(requestTimeoutMs, deadline - clock.elapsed()))
    return { apiVersion: namespaceApiVersion, signal, timeoutMs }
  }

  async function get(path: string, limits: CallLimits): Promise<UnknownRecord> {
    const answer = await callArm({ method: 'GET', path, ...limited(limits) })
    return isRecord(answer) && isRecord(answer.properties) ? answer.properties : {}
  }

  /** The `properties` of an event subscription at a resource; `undefined` if it does not exist. */
  async function read({ id, sourceId }: SubscriptionPlace, limits: CallLimits): Promise<UnknownRecord | undefined> {
    try {
      return await get(id, limits)
    } catch (error) {
      if (!(error instanceof RestError) || error.statusCode !== 404) throw error
      // A missing topic is 404 too, and no upsert can mend that. For other sources the write says so.
      if (/\/providers\/Microsoft\.EventGrid\/namespaces\//i.test(sourceId)) await get(sourceId, limits)
      return undefined
    }
  }

  return {
    resourceManager: resourceManagerOf(options.endpoints, options.environment),
    async readHostname(namespaceId: string, limits: CallLimits): Promise<string> {
      const { topicsConfiguration } = await get(namespaceId, limits)
      const hostname = isRecord(topicsConfiguration) ? topicsConfiguration.hostname : undefined
      if (typeof hostname === 'string' && hostname !== '') return hostname
      throw new ArmFailureError({ kind: 'unexpected', message: `ARM names no host for ${namespaceId}` })
    },
    read,
    /** Creates or replaces it. Resolves when it is provisioned. */
    async put(at: SubscriptionPlace, properties: UnknownRecord, limits: CallLimits): Promise<void> {
      await callArm({ method: 'PUT', path: at.id, body: { properties }, ...limited(limits) })
      for (;;) {
        const written = await read(at, limits)
        if (!written) {
          const message = 'the event subscription was deleted while it was being provisioned'
          throw new ArmFailureError({ kind: 'operation', message })
        }
        const { provisioningState: state } = written
        if (state === 'Succeeded') return
        if (state === 'Failed' || state === 'Canceled' || state === undefined) {
          throw new ArmFailureError({ kind: 'operation', message: `the event subscription ended as ${String(state)}` })
        }
        await pauseWithin(limits, { clock, ms: pollMs, message: `the event subscription is still ${String(state)}` })
      }
    },
  }
}
