/** Which topic type a source is of, and which event types its event subscriptions get without naming any. */
import { sameName } from './resource.ts'
import type { Store } from './store.ts'
import { type TopicType, topicTypes } from './topic-type-table.ts'

/** The topic type of a name, in any letter case; undefined for one that Azure does not list. */
export const findTopicType = (name: string): TopicType | undefined =>
  topicTypes.find((type) => sameName(type.name, name))

/**
 * The name of a resource's topic type, in the letter case of its id: `Microsoft.EventGrid.topics`. Empty for what is no id of a resource,
 * group or subscription.
 */
export function typeNameOf(id: string): string {
  const [, namespace, pairs] =
    /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\/([^/]+)\/(.+)$/i.exec(id) ?? []
  if (namespace !== undefined && pairs !== undefined)
    return [namespace, ...pairs.split('/').filter((_, index) => index % 2 === 0)].join('.')
  if (/^\/subscriptions\/[^/]+$/i.test(id)) return 'Microsoft.Resources.Subscriptions'
  return /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+$/i.test(id) ? 'Microsoft.Resources.ResourceGroups' : ''
}

/** The name of the topic type of the events at a scope: that of the system topic, or else of the resource. */
export function topicTypeNameAt(store: Store, scope: string): string {
  const resource = store.resource(scope)
  return resource?.type === 'systemTopics' ? resource.topicType : typeNameOf(scope)
}

/** That topic type; undefined for one that Azure does not list. */
export const topicTypeAt = (store: Store, scope: string): TopicType | undefined =>
  findTopicType(topicTypeNameAt(store, scope))
