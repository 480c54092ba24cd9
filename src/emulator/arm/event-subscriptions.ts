import { destinationOf, type EventSubscription, eventSubscriptionId, type Topic, topicId } from '../model/model.ts'
import {
  type ArmAnswer,
  type ArmCall,
  type ArmResources,
  jsonContent,
  operationHeaders,
  type ResolvedScope,
  requireAction,
  requireEventGridVersion,
  requireExistence,
  requireRegistration,
  resolveScope,
} from './call.ts'
import { armErrors } from './errors.ts'
import { defaultEventTypesOf, unknownEventType } from './event-types.ts'
import type { ArmTarget } from './path.ts'
import type { Provisioning } from './provisioning.ts'
import { parseEventSubscription } from './validation.ts'
import { viewDeliveryAttributes, viewEventSubscription } from './view.ts'

type Target = Extract<ArmTarget, { kind: 'eventSubscription' }>

/** The POST actions of an event subscription. */
const knownActions: readonly string[] = ['getfullurl', 'getdeliveryattributes']

/** Event subscriptions of one source, and of a domain itself (Event Grid: quotas-limits). */
const maxPerSource = 500
const maxPerDomain = 50

/** States in which a change is under way. */
const busy: readonly string[] = ['Creating', 'Updating', 'Deleting']

/** Makes the function that answers requests about one event subscription. */
export function createEventSubscriptionHandler(
  resources: ArmResources,
  provisioning: Provisioning,
  conflicts: boolean,
) {
  const viewOf = (
    call: ArmCall,
    target: Target,
    subscription: EventSubscription,
    more: {
      readonly detail: 'sparse' | 'filled'
      readonly secrets: 'shown' | 'hidden'
    },
  ) =>
    viewEventSubscription(
      subscription,
      {
        ...more,
        apiVersion: call.apiVersion,
        defaultEventTypes: defaultEventTypesOf(subscription.scope, call.apiVersion),
      },
      shownAs(target, subscription),
    )

  const write = (call: ArmCall, target: Target, resolved: ResolvedScope): ArmAnswer => {
    const id = idOf(target)
    const existing = resources.store.subscription(id)
    if (call.method === 'PATCH' && !existing) throw armErrors.eventSubscriptionNotFound()
    const method = call.method === 'PATCH' ? 'PATCH' : 'PUT'
    const properties = parseEventSubscription(method, jsonContent(call), {
      name: target.name,
      existing: existing?.properties,
      inputSchema: topicOf(resources, resolved)?.inputSchema,
      now: resources.clock.now(),
    })
    refuseWhileBusy(existing)
    const unknown = unknownEventType(target.scope, properties.filter?.includedEventTypes ?? [])
    if (unknown !== undefined) {
      throw armErrors.invalidRequest(
        `Invalid event subscription request: event type '${unknown.slice(0, 100)}' is not supported by the source.`,
      )
    }
    const max = nestedType(target.scope).toLowerCase() === 'microsoft.eventgrid/domains' ? maxPerDomain : maxPerSource
    if (!existing && resources.store.subscriptionsOf(target.scope).length >= max) throw armErrors.quotaReached()
    const subscription: EventSubscription = {
      id: existing?.id ?? id,
      scope: existing?.scope ?? target.scope,
      name: existing?.name ?? target.name,
      properties,
      provisioningState: existing ? 'Updating' : 'Creating',
      createdAt: existing?.createdAt ?? resources.clock.now(),
    }
    const operation = provisioning.write(subscription, resolved.azure.id)
    const headers = operationHeaders(call, resolved.azure.id, locationOf(resources, resolved), operation.id)
    // The settings as requested, without the default schema.
    const asked = echoOf(subscription, call)
    const secrets = method === 'PUT' && !existing ? 'shown' : 'hidden'
    return { status: 201, headers: headers.status, body: viewOf(call, target, asked, { detail: 'sparse', secrets }) }
  }

  const remove = (call: ArmCall, target: Target, resolved: ResolvedScope): ArmAnswer => {
    const existing = resources.store.subscription(idOf(target))
    if (!existing) return { status: 204 }
    refuseWhileBusy(existing)
    const operation = provisioning.remove(existing, resolved.azure.id)
    const headers = operationHeaders(call, resolved.azure.id, locationOf(resources, resolved), operation.id)
    return { status: 202, headers: { ...headers.status, ...headers.result } }
  }

  const refuseWhileBusy = (existing: EventSubscription | undefined) => {
    if (!conflicts || !existing || !busy.includes(existing.provisioningState)) return
    throw armErrors.conflict(
      `Event subscription ${existing.name} is in ${existing.provisioningState} state. Only one operation ` +
        `at a time is allowed; try again later.`,
    )
  }

  const find = (target: Target): EventSubscription => {
    const found = resources.store.subscription(idOf(target))
    if (!found) throw armErrors.eventSubscriptionNotFound()
    return found
  }

  return (call: ArmCall, target: Target): ArmAnswer => {
    const { method } = call
    const action = actionOf(method, target)
    const resolved = resolveScope(resources, call, target.scope, action)
    requireEventGridVersion(call, 'eventSubscriptions')
    if (target.action !== undefined && !knownActions.includes(target.action.toLowerCase())) {
      throw armErrors.pathNotFound(method, call.url)
    }
    requireAction(resources, call, action, method === 'GET' ? target.scope : idOf(target))
    requireExistence(resources, resolved)
    requireRegistration(resolved)
    if (!target.nested && resolved.parts.resource?.types[0]?.toLowerCase() === 'systemtopics') {
      throw armErrors.invalidRequest(
        'This event subscription operation is not supported using this API call. Please use the proper API and try again.',
      )
    }
    if (target.action !== undefined) {
      if (method !== 'POST') throw armErrors.methodNotAllowed(method, 'POST')
      const { properties } = find(target)
      if (target.action.toLowerCase() === 'getfullurl') {
        const destination = destinationOf(properties)
        return {
          status: 200,
          body: { endpointUrl: destination?.endpointType === 'WebHook' ? destination.properties.endpointUrl : null },
        }
      }
      return { status: 200, body: viewDeliveryAttributes(properties) }
    }
    if (method === 'PUT' || method === 'PATCH') return write(call, target, resolved)
    if (method === 'DELETE') return remove(call, target, resolved)
    if (method !== 'GET') throw armErrors.methodNotAllowed(method, 'GET, PUT, PATCH, DELETE')
    return { status: 200, body: viewOf(call, target, find(target), { detail: 'filled', secrets: 'hidden' }) }
  }
}

/** The id that it is stored under, which is that of the extension path. */
const idOf = ({ scope, name }: Target) => eventSubscriptionId(scope, name)

function actionOf(method: string, target: Target): string {
  const type = eventSubscriptionType(target)
  if (target.action !== undefined) return `${type}/${target.action}/action`
  if (method === 'GET') return `${type}/read`
  return method === 'DELETE' ? `${type}/delete` : `${type}/write`
}

/**
 * The resource type of event subscriptions: `Microsoft.EventGrid/eventSubscriptions`, or nested below another type.
 */
export function eventSubscriptionType({ nested, scope }: { readonly nested: boolean; readonly scope: string }): string {
  return `${nested ? nestedType(scope) : 'Microsoft.EventGrid'}/eventSubscriptions`
}

/** Id and type of an event subscription. Both are nested at the nested path of its source. */
export function shownAs(
  target: { readonly nested: boolean; readonly scope: string },
  { id, scope, name }: Pick<EventSubscription, 'id' | 'scope' | 'name'>,
): { readonly id: string; readonly type: string } {
  return { id: target.nested ? `${scope}/eventSubscriptions/${name}` : id, type: eventSubscriptionType(target) }
}

/** The type of the resource that contains a nested subscription: `Microsoft.EventGrid/topics`, or with more levels. */
function nestedType(scope: string): string {
  const parts = scope.slice(scope.toLowerCase().lastIndexOf('/providers/') + '/providers/'.length).split('/')
  return parts.filter((_, index) => index === 0 || index % 2 === 1).join('/')
}

/** The custom topic of a scope; undefined for other scopes. */
function topicOf(resources: ArmResources, { azure, parts }: ResolvedScope): Topic | undefined {
  const { resource, resourceGroup } = parts
  const [name] = resource?.names ?? []
  if (resource?.namespace.toLowerCase() !== 'microsoft.eventgrid' || resource.types.length !== 1 || !name)
    return undefined
  return resourceGroup === undefined ? undefined : resources.store.topicById(topicId(azure.id, resourceGroup, name))
}

/** The region of operations: the topic's, or `global` for a scope without a region. */
function locationOf(resources: ArmResources, resolved: ResolvedScope): string {
  if (!resolved.parts.resource) return 'global'
  return (topicOf(resources, resolved)?.location ?? 'westeurope').toLowerCase().replaceAll(' ', '')
}

function echoOf(subscription: EventSubscription, call: ArmCall): EventSubscription {
  const { eventDeliverySchema, ...rest } = subscription.properties
  const sent = call.content?.includes('"eventDeliverySchema"') && eventDeliverySchema
  return { ...subscription, properties: sent ? { ...rest, eventDeliverySchema } : rest }
}
