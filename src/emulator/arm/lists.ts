import type { EventSubscription } from '../model/model.ts'
import {
  type ArmAnswer,
  type ArmCall,
  type ArmResources,
  requireAction,
  requireEventGridVersion,
  requireExistence,
  requireRegistration,
  resolveScope,
} from './call.ts'
import { armErrors } from './errors.ts'
import { eventSubscriptionType, shownAs } from './event-subscriptions.ts'
import { defaultEventTypesOf } from './event-types.ts'
import type { ArmTarget } from './path.ts'
import { parseArmScope } from './path.ts'
import { viewEventSubscription } from './view.ts'

type Target = Extract<ArmTarget, { kind: 'eventSubscriptions' }>

const maxPerPage = 100

/** The lists of event subscriptions: of a source, or of all sources below a subscription or a resource group. */
export function listEventSubscriptions(resources: ArmResources, call: ArmCall, target: Target): ArmAnswer {
  const type = eventSubscriptionType(target)
  const action = actionOf(target, type)
  const resolved = resolveScope(resources, call, target.scope, action)
  requireEventGridVersion(call, 'eventSubscriptions')
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  requireAction(resources, call, action, target.scope)
  requireExistence(resources, resolved)
  requireRegistration(resolved)
  const found = resolved.parts.resource
    ? resources.store.subscriptionsOf(target.scope)
    : resources.store.subscriptions().filter((subscription) => isBelow(resources, subscription, target))
  const page = pageOf(found.filter(filterOf(call.query.get('$filter'))), call)
  const views = page.items.map((subscription) =>
    viewEventSubscription(
      subscription,
      {
        apiVersion: call.apiVersion,
        detail: 'filled',
        secrets: 'hidden',
        defaultEventTypes: defaultEventTypesOf(subscription.scope, call.apiVersion),
      },
      shownAs(target, subscription),
    ),
  )
  return { status: 200, body: { value: views, ...(page.nextLink ? { nextLink: page.nextLink } : {}) } }
}

function actionOf({ location, topicType }: Target, type: string): string {
  const parts = [location && 'locations', topicType && 'topicTypes'].filter(Boolean)
  return parts.length > 0 ? `Microsoft.EventGrid/${parts.join('/')}/eventSubscriptions/read` : `${type}/read`
}

/**
 * Whether a list that goes over several sources shows this one: global ones without a
 * location, regional ones with theirs.
 */
function isBelow(resources: ArmResources, subscription: EventSubscription, target: Target): boolean {
  const scope = subscription.scope.toLowerCase()
  const outer = target.scope.toLowerCase()
  if (scope !== outer && !scope.startsWith(`${outer}/`)) return false
  const resource = parseArmScope(subscription.scope)?.resource
  const location = resource ? (resources.store.topicById(subscription.scope)?.location ?? 'westeurope') : 'global'
  if (!sameText(location, target.location ?? 'global')) return false
  return target.topicType === undefined || sameText(topicTypeOf(subscription.scope), target.topicType)
}

/** `Microsoft.EventGrid.Topics`, `Microsoft.Resources.Subscriptions` and so on. */
function topicTypeOf(scope: string): string {
  const parts = parseArmScope(scope)
  if (!parts?.resource) {
    return parts?.resourceGroup ? 'Microsoft.Resources.ResourceGroups' : 'Microsoft.Resources.Subscriptions'
  }
  return [parts.resource.namespace, ...parts.resource.types].join('.')
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

/** A page of a list, by `$top` and the `$skiptoken` that we put in the link to the next one. */
export function pageOf<T>(items: readonly T[], call: ArmCall): { items: readonly T[]; nextLink?: string } {
  const top = call.query.get('$top')
  if (top !== null && !/^\d{1,3}$/.test(top))
    throw armErrors.invalidRequest(`Invalid $top value: '${top.slice(0, 50)}'.`)
  const size = Math.min(Number(top ?? maxPerPage), maxPerPage)
  if (size === 0) throw armErrors.invalidRequest('The value of $top must be between 1 and 100.')
  const skip = Number(call.query.get('$skiptoken') ?? 0) || 0
  const end = skip + size
  if (end >= items.length) return { items: items.slice(skip, end) }
  const next = new URL(call.url, call.baseUrl)
  next.searchParams.set('$skiptoken', String(end))
  return { items: items.slice(skip, end), nextLink: next.href }
}

const sameText = (one: string, other: string) =>
  one.toLowerCase().replaceAll(' ', '') === other.toLowerCase().replaceAll(' ', '')
