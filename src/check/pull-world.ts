import { createCredential } from '../binding/credential.ts'
import { namespaceUrl } from '../core/endpoints.ts'
import type { PullMetadata } from '../metadata/metadata.ts'
import { createNamespaceClient, type NamespaceClient } from '../receiver/namespace-client.ts'
import { resourceManagerOf } from '../subscription/arm-client.ts'
import { createNamespaceArm } from '../subscription/namespace-arm.ts'
import { systemClock } from '../support/clock.ts'
import type { ClockSource } from './check-clock.ts'
import { once } from './once.ts'
import { createPullPlaces } from './pull-places.ts'
import type { Surroundings } from './world.ts'

/** The data plane of a namespace. */
export interface ReachedNamespace {
  readonly endpoint: string
  readonly client: NamespaceClient
}

/** What the checks of pull delivery share. */
export type PullWorld = ReturnType<typeof createPullWorld>

const readLimitMs = 9_000

export function createPullWorld(pull: PullMetadata, { endpoints }: Surroundings, signal: AbortSignal) {
  const { environment, namespaceTopic, namespaceKey: key, eventSubscriptionName, namespaceEndpoint: given } = pull
  const credential = once(() => {
    if (!pull.credential) throw new Error('pull delivery has neither a key nor a credential')
    return createCredential(pull.credential, { environment, endpoints, tokenTimeoutMs: readLimitMs })
  })

  async function endpointOf(): Promise<string> {
    if (given !== undefined) return namespaceUrl(given, endpoints)
    const { subscriptionId, namespaceId } = namespaceTopic
    const options = { environment, subscriptionId, credential: credential(), endpoints, clock: systemClock }
    const limits = { signal, deadline: systemClock.elapsed() + readLimitMs }
    return `https://${await createNamespaceArm(options).readHostname(namespaceId, limits)}`
  }

  let reached: Promise<ReachedNamespace> | undefined
  async function reach(): Promise<ReachedNamespace> {
    const endpoint = await endpointOf()
    const client = createNamespaceClient({
      ...{ namespaceEndpoint: endpoint, topicName: namespaceTopic.topic, eventSubscriptionName, endpoints },
      authentication: key
        ? { kind: 'key', key }
        : { kind: 'entra', credential: credential(), scope: environment.topicScope },
    })
    return { endpoint, client }
  }

  const arm = { audience: 'Azure Resource Manager', scope: environment.resourceManagerScope, credential }
  const data = { audience: 'the namespace', scope: environment.topicScope, credential }
  const clockSource: ClockSource = {
    url: () => (given === undefined ? resourceManagerOf(endpoints, environment) : namespaceUrl(given, endpoints)),
    reachedBy: 'pull/receive',
  }
  return {
    ...{ pull, clockSource },
    wantedTokens: pull.credential ? [arm, ...(key ? [] : [data])] : [],
    /** Asks Resource Manager for the host where no `namespaceEndpoint` is given. Rejects as the SDK does. */
    namespace() {
      reached ??= reach()
      return reached
    },
    /** What Azure Resource Manager keeps; empty where the namespace's key does all. */
    places: pull.credential ? createPullPlaces({ pull, endpoints, credential, signal, limitMs: readLimitMs }) : [],
    async close() {
      const namespace = await reached?.catch(() => undefined)
      namespace?.client.close()
    },
  }
}
