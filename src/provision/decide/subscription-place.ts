/** Where Resource Manager keeps an event subscription, by its source: extension, system topic, partner topic, namespace topic. */
import { type NamespaceTopicId, resourceType, type Scope } from '../../metadata/fields/scope.ts'

/** An event subscription, and where Resource Manager keeps it. */
export interface SubscriptionPlace {
  readonly kind: 'extension' | 'systemTopic' | 'partnerTopic' | 'namespaceTopic'
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
  const { id: sourceId } = scope
  const kind = kindOf(scope)
  if (kind !== 'extension') {
    return { kind, name, sourceId, listPath: `${sourceId}/eventSubscriptions`, listsOthers: false }
  }
  return {
    kind,
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

function kindOf(scope: Scope): 'extension' | 'systemTopic' | 'partnerTopic' {
  switch (resourceType(scope)) {
    case 'microsoft.eventgrid/systemtopics':
      return 'systemTopic'
    case 'microsoft.eventgrid/partnertopics':
      return 'partnerTopic'
    default:
      return 'extension'
  }
}
