import { BrokenRule } from './broken-rule.ts'
import { parseScope } from './scope.ts'

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
  const [namespace, topic, ...more] = scope.kind === 'resource' ? scope.path : []
  const isTopic =
    scope.kind === 'resource' &&
    scope.provider.toLowerCase() === 'microsoft.eventgrid' &&
    namespace?.type.toLowerCase() === 'namespaces' &&
    topic?.type.toLowerCase() === 'topics' &&
    more.length === 0
  if (!isTopic) {
    throw new BrokenRule(
      'must be the resource id of a namespace topic',
      'it ends with /providers/Microsoft.EventGrid/namespaces/{namespace}/topics/{topic}',
    )
  }
  return {
    id: scope.id,
    subscriptionId: scope.subscriptionId,
    resourceGroup: scope.resourceGroup,
    namespaceId: scope.id.split('/').slice(0, -2).join('/'),
    namespace: namespace.name,
    topic: topic.name,
  }
}
