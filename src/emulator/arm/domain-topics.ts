import { type DomainTopic, parentId } from '../model/resource.ts'
import { publisherOf, type Store } from '../model/store.ts'
import { armErrors } from './errors.ts'
import type { ResourceKind } from './resources.ts'

/** The topics of domains. */
export const domainTopicKind: ResourceKind<'domains/topics'> = {
  type: 'domains/topics',
  put({ id, name }, existing) {
    if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest('Invalid domain topic name.')
    return existing ?? domainTopic(id)
  },
  patch({ call }) {
    throw armErrors.methodNotAllowed(call.method, 'GET, PUT, DELETE')
  },
  view: (_options, _call, _topic, provisioningState) => ({ properties: { provisioningState } }),
}

/**
 * Creates the domain topic of a scope, as its first event subscription does. Has no effect for another scope, or where
 * the domain topic exists. Throws an ArmError where the domain leaves it to its owner.
 */
export function createDomainTopic(store: Store, scope: string): void {
  const domain = publisherOf(store, scope)
  if (domain?.type !== 'domains' || store.resource(scope)) return
  const topic = domainTopic(scope)
  if (domain.autoCreateTopicWithFirstSubscription === false) {
    const name = `${domain.name}/${topic.name}`
    throw armErrors.resourceNotFound('Microsoft.EventGrid/domains/topics', name, domain.resourceGroup)
  }
  store.putResource(topic)
}

/** Deletes the domain topic of a scope after its last event subscription. Has no effect for another scope. */
export function deleteUnusedDomainTopic(store: Store, scope: string): void {
  const topic = store.resource(scope)
  const domain = publisherOf(store, scope)
  if (topic?.type !== 'domains/topics' || domain?.type !== 'domains') return
  if (domain.autoDeleteTopicWithLastSubscription === false || store.subscriptions.of(scope).length > 0) return
  store.deleteResource(topic)
}

function domainTopic(id: string): DomainTopic {
  return { type: 'domains/topics', id, name: id.split('/').at(-1) ?? '', domainId: parentId(id) }
}
