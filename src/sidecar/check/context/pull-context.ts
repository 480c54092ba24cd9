/** What the checks of pull delivery share, each part made at its first use. */
import { namespaceUrl } from '../../../core/endpoints.ts'
import { parseScope } from '../../../metadata/fields/scope.ts'
import type { PullMetadata } from '../../../metadata/typed/metadata.ts'
import { readHostname } from '../../../provision/arm.ts'
import { readSubscription } from '../../../provision/arm-subscription.ts'
import type { WantedSubscription } from '../../../provision/decide.ts'
import { pullFailureContext } from '../../../provision/failure-context.ts'
import { wantedForPull } from '../../../provision/needs-queue.ts'
import type { SubscriptionProperties } from '../../../provision/values.ts'
import { createNamespaceClient, type NamespaceClient } from '../../../receiver/namespace-client.ts'
import { systemClock } from '../../../support/time/clock.ts'
import { type AzureResource, actionsOn, once, reachArm, readLimitMs } from './azure-resource.ts'
import type { Surroundings } from './side-context.ts'

/** The data plane of a namespace. */
export interface ReachedNamespace {
  readonly endpoint: string
  readonly client: NamespaceClient
}

/** A resource with an event subscription for pull delivery: the Queue of the namespace topic, or what forwards to it. */
export interface PullResource extends AzureResource {
  readonly eventSubscriptionName: string
  existing(): Promise<SubscriptionProperties | undefined>
  readonly wanted: WantedSubscription
}

export type PullContext = ReturnType<typeof createPullContext>

export function createPullContext(pull: PullMetadata, { endpoints }: Surroundings, signal: AbortSignal) {
  const { environment, namespaceTopic, namespaceKey: key, eventSubscriptionName, namespaceEndpoint: given } = pull
  const { arm, credential, url, readArm, wantedToken } = reachArm(pull, namespaceTopic.subscriptionId, endpoints)
  const writes = pull.provisioning === 'manage'
  const asksArm = pull.credential !== undefined && pull.provisioning !== 'none'
  const limits = () => ({ signal, deadline: systemClock.elapsed() + readLimitMs })

  let reached: Promise<ReachedNamespace> | undefined
  async function reach(): Promise<ReachedNamespace> {
    const endpoint =
      given === undefined
        ? `https://${await readHostname(arm(), namespaceTopic.namespaceId, limits())}`
        : namespaceUrl(given, endpoints)
    const client = createNamespaceClient({
      namespaceEndpoint: endpoint,
      topicName: namespaceTopic.topic,
      eventSubscriptionName,
      endpoints,
      authentication: key
        ? { kind: 'key', key }
        : { kind: 'entra', credential: credential(), scope: environment.topicScope },
    })
    return { endpoint, client }
  }

  const resourceOf = (wanted: WantedSubscription): PullResource => ({
    eventSubscriptionName,
    readArm,
    wanted,
    scope: parseScope(wanted.place.sourceId),
    actions: actionsOn(wanted.place.kind, writes ? ['read', 'write'] : ['read']),
    writes,
    // Where namespaceEndpoint is given, what there is can be received.
    worksWithout: given !== undefined,
    explainedBy: () => pullFailureContext(pull, url(), wanted.place.sourceId),
    existing: once(async () => readSubscription(arm(), wanted.place, limits())),
  })

  const forData = { audience: 'the namespace', scope: environment.topicScope, credential }
  return {
    pull,
    clockSource: {
      url: () => (given === undefined ? url() : namespaceUrl(given, endpoints)),
      reachedBy: 'pull/receive',
    } as const,
    wantedTokens: pull.credential ? [...(asksArm ? [wantedToken] : []), ...(key ? [] : [forData])] : [],
    /** Asks Resource Manager for the host where no `namespaceEndpoint` is given. Rejects as the SDK does. */
    namespace() {
      reached ??= reach()
      return reached
    },
    /** The namespace topic, and the scope whose events are forwarded to it; none where the namespace's key does all. */
    resources: asksArm ? wantedForPull(pull).map(resourceOf) : [],
    async close() {
      const namespace = await reached?.catch(() => undefined)
      namespace?.client.close()
    },
  }
}
