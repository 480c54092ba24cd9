import type { Namespace, QueueSubscription } from '../model/namespace.ts'
import type { NamespaceStore } from '../model/namespace-store.ts'
import type { ArmAnswer, ArmCall, ArmResources, ResolvedScope } from './call.ts'
import { type ArmError, armErrors } from './errors.ts'
import type { Operations } from './operations.ts'
import { removedAnswer, writtenAnswer } from './resource.ts'

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

/** The error for a resource that does not exist. Its names are those of the id: `namespace/topic`. */
export function namespaceResourceNotFound(type: string, id: string): ArmError {
  const segments = id.split('/')
  const names = segments.filter((_, index) => index >= 8 && index % 2 === 0)
  return armErrors.resourceNotFound(type, names.join('/') || id, segments[4] ?? '')
}

/** Throws an ArmError for a name that no namespace, topic or event subscription can have. */
export function checkNamespaceName(name: string, what: string): void {
  if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
}

/** Answers a write that is complete: its operation has succeeded. */
export function namespaceWritten(
  { operations }: NamespaceOptions,
  { call, resolved }: NamespacePlace,
  { location }: Namespace,
  body: object,
): ArmAnswer {
  const operation = operations.start(resolved.azure.id, async () => ({ status: 'Succeeded' }))
  return writtenAnswer(call, operation, location, body)
}

/** Answers a deletion, which is carried out by an operation. */
export function namespaceRemoved(
  { operations }: NamespaceOptions,
  { call, resolved }: NamespacePlace,
  { location }: Namespace,
  remove: () => void,
): ArmAnswer {
  const operation = operations.start(resolved.azure.id, async () => {
    remove()
    return { status: 'Succeeded' }
  })
  return removedAnswer(call, operation, location)
}
