// ARM path of the event subscription by scope: extension, system topic or partner topic.
import type { Scope } from '../../metadata/fields/scope.ts'

/** Where ARM keeps the event subscriptions of a scope. */
export type SubscriptionPath =
  /** `/{scope}/providers/Microsoft.EventGrid/eventSubscriptions/{name}`. */
  | { readonly kind: 'extension'; readonly scope: string }
  /** `/{scope}/eventSubscriptions/{name}`. */
  | { readonly kind: 'systemTopic' | 'partnerTopic'; readonly resourceGroup: string; readonly topic: string }

/**
 * Chooses the path (pure). Azure refuses the extension path of a system topic ("This event subscription operation is not supported
 * using this API call"), and takes that of custom topics, domains and their topics.
 */
export function chooseSubscriptionPath(scope: Scope): SubscriptionPath {
  // With a leading slash the SDK would ask for //subscriptions/...
  const extension = { kind: 'extension', scope: scope.id.replace(/^\/+|(?<!\/)\/+$/g, '') } as const
  if (scope.kind !== 'resource' || scope.provider.toLowerCase() !== 'microsoft.eventgrid') return extension
  const { resourceGroup, path } = scope
  const [first, ...children] = path
  if (!first || children.length > 0) return extension
  switch (first.type.toLowerCase()) {
    case 'systemtopics':
      return { kind: 'systemTopic', resourceGroup, topic: first.name }
    case 'partnertopics':
      return { kind: 'partnerTopic', resourceGroup, topic: first.name }
    default:
      return extension
  }
}
