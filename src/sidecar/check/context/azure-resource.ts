/** The Azure resources under check, and the client that asks for them, within 9 s for each read. */
import { createCredential } from '../../../azure/credential.ts'
import type { FailureContext } from '../../../azure/refusals/resource-manager-refusal.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import { parseScope, type Scope } from '../../../metadata/fields/scope.ts'
import type { EitherInput } from '../../../metadata/typed/metadata.ts'
import { connectArm, resourceManagerOf } from '../../../provision/arm.ts'
import { asPermitted, type Detail, readSubscription } from '../../../provision/arm-subscription.ts'
import type { WantedSubscription } from '../../../provision/decide.ts'
import type { SubscriptionProperties } from '../../../provision/values.ts'
import { systemClock } from '../../../support/time/clock.ts'

/** A resource at which the binding keeps an event subscription, as the checks of Azure see it. */
export interface AzureResource {
  readonly scope: Scope
  /** The actions that the client needs there (Azure RBAC). */
  readonly actions: readonly string[]
  /** Whether the binding writes the event subscription: `provisioning` is `manage`. */
  readonly writes: boolean
  /** True: the binding receives without these actions too. */
  readonly receivesWithoutRights: boolean
  /** The JSON of a resource; `path` may be the `nextLink` of a list. Rejects as the SDK's own calls do. */
  readArm(path: string, apiVersion: string, signal: AbortSignal): Promise<unknown>
  /** The names for explanations of ARM failures. */
  explainedBy(): FailureContext
  readonly eventSubscriptionName: string
  /** What `init` would bring about. */
  readonly wanted: WantedSubscription
  /**
   * The existing event subscription; `undefined` if it does not exist. With `provisioning: check` what a client that may only read cannot
   * see is taken for as it should be. Rejects as the SDK does.
   */
  existing(): Promise<SubscriptionProperties | undefined>
}

interface ReachOptions {
  readonly subscriptionId: string
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
  readonly receivesWithoutRights: boolean
  /** What the client needs beside `read` to write. */
  readonly verbs: readonly string[]
  readonly explain: (resourceManager: string, scopeId: string) => FailureContext
}

/** How long one read of Azure may take, in ms: less than a check may take. */
export const readLimitMs = 9_000

/**
 * Resource Manager, as the checks ask it. Client and credential are made at their first use, which fails where the process lacks what the
 * credential needs.
 */
export function reachArm(input: EitherInput, options: ReachOptions) {
  const { credential: metadata, environment, provisioning, eventSubscriptionName } = input
  const { subscriptionId, endpoints, signal, receivesWithoutRights, verbs, explain } = options
  const credential = onFirstUse(() =>
    createCredential(metadata, { environment, endpoints, tokenTimeoutMs: readLimitMs }),
  )
  const arm = onFirstUse(() =>
    connectArm({ environment, subscriptionId, endpoints, credential: credential(), requestTimeoutMs: readLimitMs }),
  )
  const readArm: AzureResource['readArm'] = async (path, apiVersion, asked) =>
    arm().ask({ path, apiVersion }, { signal: asked, deadline: Number.POSITIVE_INFINITY })
  const url = () => resourceManagerOf(endpoints, environment)
  const writes = provisioning === 'manage'
  const limits = () => ({ signal, deadline: systemClock.elapsed() + readLimitMs })
  const resourceOf = (wanted: WantedSubscription): AzureResource => ({
    ...{ readArm, writes, receivesWithoutRights, eventSubscriptionName, wanted },
    scope: parseScope(wanted.place.sourceId),
    actions: actionsOn(wanted.place.kind, writes ? ['read', ...verbs] : ['read']),
    explainedBy: () => explain(url(), wanted.place.sourceId),
    existing: onFirstUse(async () => {
      const read = (detail: Detail) => readSubscription(arm(), wanted.place, limits(), detail)
      const { found, isPlain } = writes ? { found: await read('whole'), isPlain: false } : await asPermitted(read)
      return found && isPlain ? wanted.assumeHidden(found) : found
    }),
  })
  return {
    ...{ arm, credential, url, limits, resourceOf },
    asksArm: metadata !== undefined && provisioning !== 'none',
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
function actionsOn(path: FailureContext['pathKind'], verbs: readonly string[]): readonly string[] {
  return verbs.map((verb) => `Microsoft.EventGrid/${types[path]}/${verb}`)
}

/** Makes a function that makes its value at the first call, and gives the same value at each further one. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
