// An Azure resource under check: RBAC action names on event subscriptions, 9 s read limit, lists page by page.

import type { FailureContext } from '../../../azure/resource-manager-refusal.ts'
import type { Scope } from '../../../metadata/fields/scope.ts'
import { type ArmClientOptions, createArmCaller } from '../../../provision/arm/arm-client.ts'
import { isRecord } from '../../../support/text/is-record.ts'
import { once } from './once.ts'

/** A resource at which the binding keeps an event subscription, as the checks of Azure see it. */
export interface AzurePlace {
  readonly scope: Scope
  /** The actions that the client needs there (Azure RBAC). */
  readonly actions: readonly string[]
  /** Whether the binding writes it: `provisioning` is `manage`. */
  readonly writes: boolean
  /** True: the binding receives without these actions too. */
  readonly worksWithout: boolean
  /** The JSON of a resource. Rejects as the SDK's own calls do. */
  readArm(path: string, apiVersion: string, signal: AbortSignal): Promise<unknown>
  /** The names for explanations of ARM failures. */
  explainedBy(): FailureContext
  /** The existing event subscription; `undefined` if it does not exist. Rejects as the SDK does. */
  existing(): Promise<object | undefined>
}

/** The API version for resources of Microsoft.EventGrid, namespaces aside. */
export const eventGridVersion = '2022-06-15'

const maxPages = 20

/** The entries of all pages of ARM's list. `get` asks for a path; pages of another host are not asked for. */
export async function readPages(get: (path: string) => Promise<unknown>, path: string): Promise<readonly unknown[]> {
  const all: unknown[] = []
  let next: string | undefined = path
  for (let page = 0; next !== undefined && page < maxPages; page++) {
    const answer: unknown = await get(next)
    if (isRecord(answer) && Array.isArray(answer.value)) all.push(...answer.value)
    const link = isRecord(answer) && typeof answer.nextLink === 'string' ? URL.parse(answer.nextLink) : null
    next = link === null ? undefined : `${link.pathname}${link.search}`
  }
  return all
}

/** How long one read of Azure may take, in ms: less than a check may take. */
export const readLimitMs = 9_000

/** @param connection throws where the process lacks what the credential needs: then a read rejects */
export function createReadArm(connection: () => ArmClientOptions): AzurePlace['readArm'] {
  const callArm = once(() => createArmCaller(connection()))
  return async (path, apiVersion, signal) => callArm()({ method: 'GET', path, apiVersion, signal })
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
