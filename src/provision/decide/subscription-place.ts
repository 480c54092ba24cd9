/** Where Resource Manager keeps an event subscription, by its source: extension, system topic, partner topic, namespace topic. */
import type { NamespaceTopicId, Scope } from '../../metadata/fields/scope.ts'

/** An event subscription, and where Resource Manager keeps it. */
export type SubscriptionPlace =
  | PlaceOf<{ readonly kind: 'extension' }>
  | PlaceOf<{ readonly kind: 'namespaceTopic' }>
  | PlaceOf<NestedTopic>

interface NestedTopic {
  readonly kind: 'systemTopic' | 'partnerTopic'
  readonly resourceGroup: string
  readonly topic: string
}

type PlaceOf<Kind> = Kind & {
  readonly name: string
  /** Resource id of the resource whose events it takes. */
  readonly sourceId: string
  /** The path of all event subscriptions of the source. */
  readonly listPath: string
  /** Whether that list holds event subscriptions of other sources as well. */
  readonly listsOthers: boolean
}

/** Its resource id. */
export const subscriptionIdOf = ({ listPath, name }: SubscriptionPlace): string => `${listPath}/${name}`

/**
 * The place of an event subscription at a scope (pure). Azure refuses the extension path of a system topic ("This event subscription
 * operation is not supported using this API call"), and takes that of custom topics, domains and their topics.
 */
export function placeAt(scope: Scope, name: string): SubscriptionPlace {
  const sourceId = scope.id.replace(/(?<!\/)\/+$/, '')
  const nested = nestedTopic(scope)
  if (nested) return { name, sourceId, listPath: `${sourceId}/eventSubscriptions`, listsOthers: false, ...nested }
  return {
    kind: 'extension',
    name,
    sourceId,
    listPath: `${sourceId}/providers/Microsoft.EventGrid/eventSubscriptions`,
    listsOthers: !('provider' in scope),
  }
}

/** The place of the Queue event subscription of a namespace topic. */
export function placeOfQueue({ id: sourceId }: NamespaceTopicId, name: string): SubscriptionPlace {
  return { kind: 'namespaceTopic', name, sourceId, listPath: `${sourceId}/eventSubscriptions`, listsOthers: false }
}

function nestedTopic(scope: Scope): NestedTopic | undefined {
  if (scope.kind !== 'resource' || scope.provider.toLowerCase() !== 'microsoft.eventgrid') return undefined
  const { resourceGroup, path } = scope
  const [first, ...children] = path
  if (!first || children.length > 0) return undefined
  const at = { resourceGroup, topic: first.name }
  const type = first.type.toLowerCase()
  if (type === 'systemtopics') return { kind: 'systemTopic', ...at }
  return type === 'partnertopics' ? { kind: 'partnerTopic', ...at } : undefined
}
