/** What the checks of pull delivery share, each part made at its first use. */
import { namespaceUrl } from '../../../core/endpoints.ts'
import type { PullMetadata } from '../../../metadata/typed/metadata.ts'
import { readHostname } from '../../../provision/arm.ts'
import { pullFailureContext } from '../../../provision/failure-context.ts'
import { wantedForPull } from '../../../provision/needs-queue.ts'
import { createNamespaceClient, type NamespaceClient } from '../../../receiver/namespace-client.ts'
import { onFirstUse, reachArm } from './azure-resource.ts'
import type { Surroundings } from './side-context.ts'

/** The data plane of a namespace. */
export interface ReachedNamespace {
  readonly endpoint: string
  readonly client: NamespaceClient
}

export type PullContext = ReturnType<typeof createPullContext>

export function createPullContext(pull: PullMetadata, { endpoints }: Surroundings, signal: AbortSignal) {
  const { environment, namespaceTopic, namespaceKey: key, eventSubscriptionName, namespaceEndpoint: given } = pull
  const { subscriptionId } = namespaceTopic
  const { arm, credential, url, limits, asksArm, wantedToken, resourceOf } = reachArm(pull, {
    ...{ subscriptionId, endpoints, signal, verbs: ['write'] },
    // Where namespaceEndpoint is given, what there is can be received.
    receivesWithoutRights: given !== undefined,
    explain: (resourceManager, scopeId) => pullFailureContext(pull, resourceManager, scopeId),
  })

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
    signal.addEventListener('abort', client.close, { once: true })
    return { endpoint, client }
  }

  const forData = { audience: 'the namespace', scope: environment.topicScope, credential }
  return {
    pull,
    clockSource: {
      url: () => (given === undefined ? url() : namespaceUrl(given, endpoints)),
      reachedBy: 'pull/receive',
    } as const,
    wantedTokens: pull.credential ? [...(asksArm ? [wantedToken] : []), ...(key ? [] : [forData])] : [],
    /** Asks Resource Manager for the host where no `namespaceEndpoint` is given. Rejects as the SDK does. */
    namespace: onFirstUse(reach),
    /** The namespace topic, and the scope whose events are forwarded to it; none where the namespace's key does all. */
    resources: asksArm ? wantedForPull(pull).map(resourceOf) : [],
  }
}
