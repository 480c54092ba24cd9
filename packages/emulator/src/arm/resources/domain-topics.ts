/** When a domain topic is made by its first event subscription, and deleted with the last one. */
import { type DomainTopic, parentId } from '../../model/resources/resource.ts'
import { publisherOf, type Store } from '../../model/resources/store.ts'
import { armErrors } from '../call/errors.ts'

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
  store.deleteResourceSoon(topic)
}

export function domainTopic(id: string): DomainTopic {
  return { type: 'domains/topics', id, name: id.split('/').at(-1) ?? '', domainId: parentId(id) }
}
