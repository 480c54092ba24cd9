import { BrokenRule } from './broken-rule.ts'
import { namespaceTopicType, parseScope, resourceType } from './scope.ts'

export interface NamespaceTopicId {
  /** With a leading slash and without a trailing one, in the user's letter case. */
  readonly id: string
  readonly subscriptionId: string
  readonly resourceGroup: string
  readonly namespaceId: string
  readonly namespace: string
  readonly topic: string
}

/**
 * Parses the resource id of a namespace topic: `.../providers/Microsoft.EventGrid/namespaces/{namespace}/topics/{topic}`.
 *
 * @throws BrokenRule
 */
export function parseNamespaceTopic(text: string): NamespaceTopicId {
  const scope = parseScope(text)
  if (scope.kind !== 'resource' || resourceType(scope) !== namespaceTopicType) {
    throw new BrokenRule(
      'must be the resource id of a namespace topic',
      'it ends with /providers/Microsoft.EventGrid/namespaces/{namespace}/topics/{topic}',
    )
  }
  const { id, subscriptionId, resourceGroup } = scope
  const [namespace = '', topic = ''] = scope.path.map(({ name }) => name)
  return { id, subscriptionId, resourceGroup, namespaceId: id.split('/').slice(0, -2).join('/'), namespace, topic }
}
