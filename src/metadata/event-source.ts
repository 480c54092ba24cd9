import { BrokenRule } from './broken-rule.ts'
import { parseScope, type Scope } from './scope.ts'

/** Resources of Event Grid itself that have event subscriptions; resources of other providers are for Azure to judge. */
const eventGridTypes: ReadonlySet<string> = new Set([
  'topics',
  'domains',
  'domains/topics',
  'systemtopics',
  'partnertopics',
  // Events of the namespace itself, such as MQTT clients that connect.
  'namespaces',
])

const forms =
  'write one that ends with /topics/{name}, /domains/{name}, /domains/{name}/topics/{name}, ' +
  '/systemTopics/{name}, /partnerTopics/{name} or /namespaces/{name}'

/**
 * Parses a scope that event subscriptions can be created at.
 *
 * @throws BrokenRule also for a resource of Event Grid that has none
 */
export function parseEventSource(text: string): Scope {
  const scope = parseScope(text)
  if (scope.kind !== 'resource' || scope.provider.toLowerCase() !== 'microsoft.eventgrid') return scope
  const types = scope.path.map(({ type }) => type.toLowerCase())
  if (types.at(-1) === 'eventsubscriptions') {
    throw new BrokenRule(
      'must be what the event subscription belongs to, not the event subscription',
      'end it before /eventSubscriptions, and write that name as eventSubscriptionName',
    )
  }
  if (types.join('/') === 'namespaces/topics') {
    throw new BrokenRule(
      'is a namespace topic, from which Event Grid delivers to no webhook',
      'to receive from it, set deliveryMode to pull and write it as namespaceTopic',
    )
  }
  if (!eventGridTypes.has(types.join('/'))) {
    throw new BrokenRule('is a resource of Event Grid that has no event subscriptions', forms)
  }
  return scope
}
