// Lists of event subscriptions by region, topic type, `$filter` (`contains`, `name eq`).
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import { covers, regionName } from '../../model/resources/resource-ids.ts'
import type { ArmAnswer, ArmCall, ArmResources } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { answerList } from '../call/resource-answers.ts'
import { topicTypeOf } from '../resources/event-types.ts'
import { authorizeAt, eventSubscriptionType, regionAt, viewAt } from './event-subscriptions.ts'

type Target = TargetOf<'eventSubscriptions'>

/** The lists of event subscriptions: of a source, or of all sources below a subscription or a resource group. */
export function listEventSubscriptions(resources: ArmResources, call: ArmCall, target: Target): ArmAnswer {
  const type = eventSubscriptionType(target)
  const { scope } = target
  const resolved = authorizeAt(resources, call, target, actionOf(target, type), scope)
  const found = resolved.parts.resource
    ? resources.store.subscriptions.of(scope)
    : resources.store.subscriptions.all().filter((subscription) => isListed(resources, subscription, target))
  const wanted = found.filter(filterOf(call.query.get('$filter')))
  return answerList(call, wanted, (subscription) =>
    viewAt(resources, call, target, subscription, { detail: 'filled', secrets: 'hidden' }),
  )
}

function actionOf({ location, topicType }: Target, type: string): string {
  const parts = [location && 'locations', topicType && 'topicTypes'].filter(Boolean)
  return parts.length > 0 ? `Microsoft.EventGrid/${parts.join('/')}/eventSubscriptions/read` : `${type}/read`
}

/**
 * Whether a list that goes over several sources shows this one: global ones without a
 * location, regional ones with theirs.
 */
function isListed(resources: ArmResources, subscription: EventSubscription, target: Target): boolean {
  const { scope } = subscription
  if (!covers(target.scope, scope)) return false
  if (!sameText(regionAt(resources.store, scope), target.location ?? 'global')) return false
  return target.topicType === undefined || sameText(topicTypeOf(scope), target.topicType)
}

/**
 * `contains(name, 'x')`, `name eq 'x'` and their negations are what the lists can be filtered by (Event
 * Grid: REST reference, $filter).
 */
function filterOf(text: string | null): (subscription: EventSubscription) => boolean {
  if (!text) return () => true
  const contains = /^(not\s+)?contains\(\s*(?:name|namespace)\s*,\s*'([^']*)'\s*\)$/i.exec(text.trim())
  if (contains) {
    return ({ name }) => name.toLowerCase().includes((contains[2] ?? '').toLowerCase()) !== Boolean(contains[1])
  }
  const compare = /^name\s+(eq|ne)\s+'([^']*)'$/i.exec(text.trim())
  if (compare) {
    return ({ name }) => sameText(name, compare[2] ?? '') === (compare[1]?.toLowerCase() === 'eq')
  }
  throw armErrors.invalidRequest(`Invalid filter query: '${text.slice(0, 200)}'.`)
}

const sameText = (one: string, other: string) => regionName(one) === regionName(other)
