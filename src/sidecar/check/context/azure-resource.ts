/** An Azure resource under check, and the client that asks for it, within 9 s for each read. */
import { createCredential } from '../../../azure/credential.ts'
import type { FailureContext } from '../../../azure/refusals/resource-manager-refusal.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import type { Scope } from '../../../metadata/fields/scope.ts'
import type { EitherInput } from '../../../metadata/typed/metadata.ts'
import { connectArm, resourceManagerOf } from '../../../provision/arm.ts'

/** A resource at which the binding keeps an event subscription, as the checks of Azure see it. */
export interface AzureResource {
  readonly scope: Scope
  /** The actions that the client needs there (Azure RBAC). */
  readonly actions: readonly string[]
  /** Whether the binding writes it: `provisioning` is `manage`. */
  readonly writes: boolean
  /** True: the binding receives without these actions too. */
  readonly worksWithout: boolean
  /** The JSON of a resource; `path` may be the `nextLink` of a list. Rejects as the SDK's own calls do. */
  readArm(path: string, apiVersion: string, signal: AbortSignal): Promise<unknown>
  /** The names for explanations of ARM failures. */
  explainedBy(): FailureContext
  /** The existing event subscription; `undefined` if it does not exist. Rejects as the SDK does. */
  existing(): Promise<object | undefined>
}

/** How long one read of Azure may take, in ms: less than a check may take. */
export const readLimitMs = 9_000

/**
 * Resource Manager, as the checks ask it. Client and credential are made at their first use, which fails where the process lacks what the
 * credential needs.
 */
export function reachArm(input: EitherInput, subscriptionId: string, endpoints: Endpoints) {
  const { credential: metadata, environment } = input
  const credential = once(() => createCredential(metadata, { environment, endpoints, tokenTimeoutMs: readLimitMs }))
  const arm = once(() =>
    connectArm({ environment, subscriptionId, endpoints, credential: credential(), requestTimeoutMs: readLimitMs }),
  )
  const readArm: AzureResource['readArm'] = async (path, apiVersion, signal) =>
    arm().ask({ path, apiVersion }, { signal, deadline: Number.POSITIVE_INFINITY })
  return {
    arm,
    credential,
    readArm,
    url: () => resourceManagerOf(endpoints, environment),
    wantedToken: { audience: 'Azure Resource Manager', scope: environment.resourceManagerScope, credential },
  }
}

/** The resource type in an action, by the path of the event subscription. */
const types = {
  extension: 'eventSubscriptions',
  systemTopic: 'systemTopics/eventSubscriptions',
  partnerTopic: 'partnerTopics/eventSubscriptions',
  namespaceTopic: 'namespaces/topics/eventSubscriptions',
} as const satisfies Record<FailureContext['pathKind'], string>

/** The actions on event subscriptions of this path. */
export function actionsOn(path: FailureContext['pathKind'], verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `Microsoft.EventGrid/${types[path]}/${verb}`)
}

export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
