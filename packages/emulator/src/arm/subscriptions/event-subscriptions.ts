/** How calls about event subscriptions are answered: one of them, its actions, and the lists. */

import { destinationOf, type EventSubscription } from '../../model/resources/event-subscription.ts'
import { covers, eventSubscriptionId, regionName, sameName } from '../../model/resources/resource.ts'
import { locationOf, publisherOf } from '../../model/resources/store.ts'
import { topicTypeNameAt } from '../../model/resources/topic-types.ts'
import {
  type ArmAnswer,
  type ArmCall,
  type ArmResources,
  bodyField,
  jsonContent,
  type ResolvedScope,
} from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { parseArmScope, type TargetOf } from '../call/path.ts'
import { answerList, answerResource, authorizeCall, resourceAction, writeAnswer } from '../call/resource-answers.ts'
import type { ArmContext } from '../context.ts'
import { defaultEventTypesAt } from '../resources/topic-types.ts'
import { parseEventSubscription } from './read-settings.ts'
import { type ViewOptions, viewDeliveryAttributes, viewEventSubscription } from './view.ts'

const knownActions: readonly string[] = ['getfullurl', 'getdeliveryattributes']

/** Event subscriptions of one source, and of a domain itself (Event Grid: quotas-limits). */
const maxPerSource = 500
const maxPerDomain = 50

const busy: readonly string[] = ['Creating', 'Updating', 'Deleting']

/** Types whose event subscriptions are no extension resources. */
const ownPathOnly = ['Microsoft.EventGrid/systemTopics', 'Microsoft.EventGrid/namespaces/topics']

/** Answers for one event subscription. Throws an ArmError. */
export function answerEventSubscription(
  options: ArmContext,
  call: ArmCall,
  target: TargetOf<'eventSubscription'>,
): ArmAnswer {
  const { store, provisioning } = options
  const { method } = call
  const { scope, action } = target
  const id = eventSubscriptionId(scope, target.name)
  if (action !== undefined && !knownActions.includes(action.toLowerCase())) {
    throw armErrors.pathNotFound(method, call.url)
  }
  // Azure says so whether or not the system topic exists (recorded answers); of a namespace topic assumed.
  const { namespace = '', types = [] } = parseArmScope(scope)?.resource ?? {}
  const sourceType = [namespace, ...types].join('/')
  if (!target.nested && ownPathOnly.some((one) => sameName(one, sourceType))) {
    throw armErrors.invalidRequest(
      'This event subscription operation is not supported using this API call. Please use the proper API and try again.',
    )
  }
  const type = eventSubscriptionType(target)
  const needed = resourceAction(type, method, action)
  authorizeAt(options, call, target, needed, method === 'GET' ? scope : id)
  const existing = store.subscriptions.get(id)
  if (action !== undefined) {
    if (method !== 'POST') throw armErrors.methodNotAllowed(method, 'POST')
    if (!existing) throw armErrors.eventSubscriptionNotFound()
    return answerAction(action, existing)
  }
  return answerResource(call, {
    existing,
    notFound: armErrors.eventSubscriptionNotFound,
    view: (found) => viewAt(options, call, target, found, { detail: 'filled', secrets: 'hidden' }),
    write(found) {
      const subscription = wantedSubscription(options, call, target, found)
      const begun = { type: 'eventSubscriptions', existed: found !== undefined } as const
      const operation = provisioning.write(subscription)
      // The settings as requested, without the default schema.
      const asked = echoOf(subscription, call)
      const secrets = found ? 'hidden' : 'shown'
      const body = viewAt(options, call, target, asked, { detail: 'sparse', secrets })
      return writeAnswer(call, { ...begun, operation, location: regionAt(store, scope), body })
    },
    remove(found) {
      refuseWhileBusy(options, found)
      const operation = provisioning.remove(found)
      return writeAnswer(call, {
        type: 'eventSubscriptions',
        existed: true,
        operation,
        location: regionAt(store, scope),
      })
    },
  })
}

/** The event subscription as the body of a PUT or a PATCH wants it. Throws an ArmError. */
function wantedSubscription(
  options: ArmContext,
  call: ArmCall,
  { scope, name }: TargetOf<'eventSubscription'>,
  existing: EventSubscription | undefined,
): EventSubscription {
  const { store, clock } = options
  const properties = parseEventSubscription(call.method === 'PATCH' ? 'PATCH' : 'PUT', jsonContent(call), {
    apiVersion: call.apiVersion,
    name,
    existing: existing?.properties,
    inputSchema: publisherOf(store, scope)?.inputSchema,
    now: clock.now(),
  })
  refuseWhileBusy(options, existing)
  const max = nestedType(scope).toLowerCase() === 'microsoft.eventgrid/domains' ? maxPerDomain : maxPerSource
  if (!existing && store.subscriptions.of(scope).length >= max) throw armErrors.quotaReached()
  const kept = existing ?? { id: eventSubscriptionId(scope, name), scope, name, createdAt: clock.now() }
  // Over a failed one Azure begins anew (recorded, 2026).
  const isNew = existing === undefined || (existing.provisioningState === 'Failed' && call.method === 'PUT')
  return { ...kept, properties, provisioningState: isNew ? 'Creating' : 'Updating' }
}

function refuseWhileBusy({ conflicts }: ArmContext, existing: EventSubscription | undefined): void {
  if (!conflicts || !existing || !busy.includes(existing.provisioningState)) return
  throw armErrors.conflict(
    `Event subscription ${existing.name} is in ${existing.provisioningState} state. Only one operation ` +
      `at a time is allowed; try again later.`,
  )
}

/** The region of a scope: its source's, or `global` for a scope without a region. */
export function regionAt(store: ArmResources['store'], scope: string): string {
  return parseArmScope(scope)?.resource ? (locationOf(store, scope) ?? 'westeurope') : 'global'
}

function answerAction(action: string, { properties }: EventSubscription): ArmAnswer {
  if (action.toLowerCase() === 'getdeliveryattributes') return { status: 200, body: viewDeliveryAttributes(properties) }
  const destination = destinationOf(properties)
  const endpointUrl = destination?.endpointType === 'WebHook' ? destination.properties.endpointUrl : null
  return { status: 200, body: { endpointUrl } }
}

/**
 * The resource type of event subscriptions: `Microsoft.EventGrid/eventSubscriptions`, or nested below another type.
 */
export function eventSubscriptionType({ nested, scope }: { readonly nested: boolean; readonly scope: string }): string {
  return `${nested ? nestedType(scope) : 'Microsoft.EventGrid'}/eventSubscriptions`
}

/** Checks that Event Grid answers this call about event subscriptions. Throws an ArmError. */
export function authorizeAt(
  resources: ArmResources,
  call: ArmCall,
  target: { readonly nested: boolean; readonly scope: string },
  action: string,
  at: string,
): ResolvedScope {
  const nestedType = eventSubscriptionType(target).slice('Microsoft.EventGrid/'.length)
  const access = { scope: target.scope, type: 'eventSubscriptions', action, at }
  return authorizeCall(resources, call, target.nested ? { ...access, nestedType } : access)
}

/** An event subscription in ARM's shape. Its id and type are nested at the nested path of its source. */
export function viewAt(
  { store }: Pick<ArmResources, 'store'>,
  { apiVersion }: ArmCall,
  target: { readonly nested: boolean; readonly scope: string },
  subscription: EventSubscription,
  how: Pick<ViewOptions, 'detail' | 'secrets'>,
) {
  const { scope, name } = subscription
  const defaultEventTypes = defaultEventTypesAt(store, scope, apiVersion)
  const id = target.nested ? `${scope}/eventSubscriptions/${name}` : subscription.id
  const shownAs = { id, type: eventSubscriptionType(target) }
  return viewEventSubscription(subscription, { ...how, apiVersion, defaultEventTypes }, shownAs)
}

/** The type of the resource that contains a nested subscription: `Microsoft.EventGrid/topics`, or with more levels. */
function nestedType(scope: string): string {
  const parts = scope.slice(scope.toLowerCase().lastIndexOf('/providers/') + '/providers/'.length).split('/')
  return parts.filter((_, index) => index === 0 || index % 2 === 1).join('/')
}

function echoOf(subscription: EventSubscription, call: ArmCall): EventSubscription {
  const { eventDeliverySchema, ...rest } = subscription.properties
  const path = [...(call.method === 'PUT' ? ['properties'] : []), 'eventDeliverySchema']
  const sent = bodyField(call, path) != null && eventDeliverySchema
  return { ...subscription, properties: sent ? { ...rest, eventDeliverySchema } : rest }
}

type Target = TargetOf<'eventSubscriptions'>

/** The lists of event subscriptions: of a source, or of all sources below a subscription or a resource group. */
export function listEventSubscriptions(resources: ArmResources, call: ArmCall, target: Target): ArmAnswer {
  const type = eventSubscriptionType(target)
  const { scope } = target
  const resolved = authorizeAt(resources, call, target, actionOf(target, type), scope)
  const found = resolved.parts.resource
    ? resources.store.subscriptions.of(scope)
    : resources.store.subscriptions.all().filter((subscription) => isListed(resources, subscription, target))
  return answerList(call, found, (subscription) =>
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
  return target.topicType === undefined || sameText(topicTypeNameAt(resources.store, scope), target.topicType)
}

const sameText = (one: string, other: string) => regionName(one) === regionName(other)
