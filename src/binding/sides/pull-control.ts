// Pull delivery's connection to Resource Manager: create or inspect the Queue subscription, namespace host.

import { createCredential, type RenewableCredential } from '../../azure/credential.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import { createNamespaceArm } from '../../provision/arm/namespace-arm.ts'
import { pullSubscriptions } from '../../provision/decide/pull-subscriptions.ts'
import { upsertQueue } from '../../provision/upsert/upsert-queue.ts'
import { systemClock } from '../../support/time/clock.ts'
import type { SubscriptionControl } from '../upkeep/subscription-control.ts'
import type { SideOptions } from './side-options.ts'

export interface PullControl extends SubscriptionControl {
  readonly credential: RenewableCredential
  /** The base URL of the namespace as ARM has it. An upsert asks for it where the metadata has no `namespaceEndpoint`. */
  namespaceEndpoint(): string | undefined
}

/**
 * Connects to ARM and Entra. In a file of its own, as for push: their libraries take long to load.
 *
 * @throws BindingError where endpoint or credential can't be used
 */
export function connectNamespace(
  pull: PullMetadata & { readonly credential: NonNullable<PullMetadata['credential']> },
  options: SideOptions,
): PullControl {
  const { endpoints, logger, clock = systemClock } = options
  const { environment, namespaceTopic } = pull
  const credential = createCredential(pull.credential, { ...options, environment })
  const { subscriptionId } = namespaceTopic
  const arm = createNamespaceArm({ environment, subscriptionId, credential, endpoints, clock })
  let namespaceEndpoint: string | undefined
  const onHostname = (hostname: string) => {
    namespaceEndpoint = `https://${hostname}`
  }
  return {
    credential,
    namespaceEndpoint: () => namespaceEndpoint,
    upsert(request) {
      const isHostWanted = pull.namespaceEndpoint === undefined && namespaceEndpoint === undefined
      return upsertQueue({ arm, pull, logger, clock, ...request, ...(isHostWanted && { onHostname }) })
    },
    async inspect(signal) {
      const limits = { signal, deadline: Number.POSITIVE_INFINITY }
      const reads = pullSubscriptions(pull).map((place) => arm.read(place, limits))
      const found = await Promise.allSettled(reads)
      // The client may have rights at one of two places only.
      if (found.some((read) => read.status === 'fulfilled' && !read.value)) return { kind: 'missing' }
      await Promise.all(reads)
      return { kind: 'intact' }
    },
  }
}
