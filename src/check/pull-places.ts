import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../core/endpoints.ts'
import type { PullMetadata } from '../metadata/metadata.ts'
import { parseScope } from '../metadata/scope.ts'
import { createArmCaller, resourceManagerOf } from '../subscription/arm-client.ts'
import type { PutDecision } from '../subscription/decide-put.ts'
import { createNamespaceArm } from '../subscription/namespace-arm.ts'
import { pullSubscriptions } from '../subscription/pull-subscriptions.ts'
import { queueFailureContext } from '../subscription/upsert-queue.ts'
import { systemClock } from '../support/clock.ts'
import type { UnknownRecord } from '../support/is-record.ts'
import { type AzurePlace, actionsOn } from './azure-place.ts'
import { once } from './once.ts'

/** A resource with an event subscription for pull delivery: the Queue of the namespace topic, or what forwards to it. */
export interface PullPlace extends AzurePlace {
  readonly eventSubscriptionName: string
  existing(): Promise<UnknownRecord | undefined>
  /** What `init` would do. */
  decide(existing: UnknownRecord): PutDecision
}

export interface PullPlacesOptions {
  readonly pull: PullMetadata
  readonly endpoints: Endpoints
  /** Throws where the process lacks what the credential needs. */
  credential(): TokenCredential
  readonly signal: AbortSignal
  /** How long one read of ARM may take. */
  readonly limitMs: number
}

const verbs = ['read', 'write'] as const

/** The namespace topic, and the scope whose events are forwarded to it, if there is one. */
export function createPullPlaces(options: PullPlacesOptions): readonly PullPlace[] {
  const { pull, endpoints, credential, signal, limitMs } = options
  const { environment, namespaceTopic, eventSubscriptionName } = pull
  const { subscriptionId } = namespaceTopic
  const connection = once(() => ({ environment, subscriptionId, credential: credential(), endpoints }))
  const callArm = once(() => createArmCaller(connection()))
  const arm = once(() => createNamespaceArm({ ...connection(), clock: systemClock }))
  const resourceManager = resourceManagerOf(endpoints, environment)
  return pullSubscriptions(pull).map((subscription) => ({
    eventSubscriptionName,
    scope: parseScope(subscription.sourceId),
    actions: actionsOn(subscription.pathKind, verbs),
    // Then the host is known, and what there is can be received.
    worksWithout: pull.namespaceEndpoint !== undefined,
    readArm: async (path: string, apiVersion: string, signal: AbortSignal) =>
      callArm()({ method: 'GET', path, apiVersion, signal }),
    explainedBy: () => queueFailureContext(pull, resourceManager, subscription.sourceId),
    existing: once(async () => arm().read(subscription, { signal, deadline: systemClock.elapsed() + limitMs })),
    decide: subscription.decide,
  }))
}
