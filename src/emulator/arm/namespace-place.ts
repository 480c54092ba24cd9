import type { Namespace, QueueSubscription } from '../model/namespace.ts'
import type { NamespaceStore } from '../model/namespace-store.ts'
import type { ArmAnswer, ArmCall, ArmResources, ResolvedScope } from './call.ts'
import { type ArmError, armErrors } from './errors.ts'
import type { Operations } from './operations.ts'
import { answerResource, simpleChanges } from './resource.ts'

/** The namespaces, and the queues of their event subscriptions. */
export interface NamespaceContents {
  readonly namespaces: NamespaceStore
  /** Follows each event subscription that is stored or deleted. */
  readonly queues: {
    subscriptionChanged(subscription: QueueSubscription): void
    subscriptionDeleted(subscriptionId: string): void
  }
}

export interface NamespaceOptions extends ArmResources, NamespaceContents {
  readonly operations: Operations
  /** The host name that a namespace's clients use. */
  readonly hostnameOf: (namespace: Namespace) => string
}

/** A call about a namespace, one of its topics, or an event subscription of that. The resource may not exist. */
export interface NamespacePlace {
  readonly call: ArmCall
  readonly resolved: ResolvedScope
  readonly type: string
  readonly id: string
  readonly name: string
}

export const namespaceTypes = [
  'Microsoft.EventGrid/namespaces',
  'Microsoft.EventGrid/namespaces/topics',
  'Microsoft.EventGrid/namespaces/topics/eventSubscriptions',
] as const

/** What one level of namespaces has of its own. */
export interface NamespaceLevel<Resource> {
  /** For errors: `topic`. */
  readonly what: string
  readonly existing: Resource | undefined
  /** Stores the resource as the body of the call wants it. Throws an ArmError. */
  readonly put: (existing: Resource | undefined) => Resource
  readonly remove: (existing: Resource) => void
  readonly view: (resource: Resource) => object
  /** The region of the namespace. */
  readonly locationOf: (resource: Resource) => string
}

/** Answers GET, PUT, PATCH and DELETE of a namespace, a topic or an event subscription. Throws an ArmError. */
export function answerNamespaceResource<Resource>(
  { operations }: NamespaceOptions,
  { call, resolved, type, id, name }: NamespacePlace,
  { what, existing, put, remove, view, locationOf }: NamespaceLevel<Resource>,
): ArmAnswer {
  const { written, removed } = simpleChanges(operations, call, resolved)
  return answerResource(call, {
    existing,
    notFound: () => namespaceResourceNotFound(type, id),
    view,
    write(former) {
      if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
      const stored = put(former)
      return written(locationOf(stored), view(stored))
    },
    remove: (former) => removed(locationOf(former), () => remove(former)),
  })
}

/** The error for a resource that does not exist. Its names are those of the id: `namespace/topic`. */
export function namespaceResourceNotFound(type: string, id: string): ArmError {
  const segments = id.split('/')
  const names = segments.filter((_, index) => index >= 8 && index % 2 === 0)
  return armErrors.resourceNotFound(type, names.join('/') || id, segments[4] ?? '')
}
