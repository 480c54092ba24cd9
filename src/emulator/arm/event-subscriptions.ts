import { destinationOf, type EventSubscription, eventSubscriptionId } from '../model/model.ts'
import { locationOf, publisherOf, sourceOf } from '../model/store.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, jsonContent, type ResolvedScope } from './call.ts'
import { armErrors } from './errors.ts'
import { defaultEventTypesOf, unknownEventType } from './event-types.ts'
import type { TargetOf } from './path.ts'
import type { Provisioning } from './provisioning.ts'
import { answerResource, authorizeCall, removedAnswer, resourceAction, writtenAnswer } from './resource.ts'
import { parseEventSubscription } from './validation.ts'
import { type ViewOptions, viewDeliveryAttributes, viewEventSubscription } from './view.ts'

type Target = TargetOf<'eventSubscription'>

const knownActions: readonly string[] = ['getfullurl', 'getdeliveryattributes']

/** Event subscriptions of one source, and of a domain itself (Event Grid: quotas-limits). */
const maxPerSource = 500
const maxPerDomain = 50

/** States in which a change is under way. */
const busy: readonly string[] = ['Creating', 'Updating', 'Deleting']

export function createEventSubscriptionHandler(
  resources: ArmResources,
  provisioning: Provisioning,
  conflicts: boolean,
) {
  const write = (
    call: ArmCall,
    target: Target,
    resolved: ResolvedScope,
    existing: EventSubscription | undefined,
  ): ArmAnswer => {
    const id = idOf(target)
    const method = call.method === 'PATCH' ? 'PATCH' : 'PUT'
    const properties = parseEventSubscription(method, jsonContent(call), {
      name: target.name,
      existing: existing?.properties,
      inputSchema: publisherOf(resources.store, target.scope)?.inputSchema,
      now: resources.clock.now(),
    })
    refuseWhileBusy(existing)
    const unknown = unknownEventType(
      sourceOf(resources.store, target.scope),
      properties.filter?.includedEventTypes ?? [],
    )
    if (unknown !== undefined) {
      throw armErrors.invalidRequest(
        `Invalid event subscription request: event type '${unknown.slice(0, 100)}' is not supported by the source.`,
      )
    }
    const max = nestedType(target.scope).toLowerCase() === 'microsoft.eventgrid/domains' ? maxPerDomain : maxPerSource
    if (!existing && resources.store.subscriptions.of(target.scope).length >= max) throw armErrors.quotaReached()
    const subscription: EventSubscription = {
      id: existing?.id ?? id,
      scope: existing?.scope ?? target.scope,
      name: existing?.name ?? target.name,
      properties,
      provisioningState: existing ? 'Updating' : 'Creating',
      createdAt: existing?.createdAt ?? resources.clock.now(),
    }
    const operation = provisioning.write(subscription, resolved.azure.id)
    // The settings as requested, without the default schema.
    const asked = echoOf(subscription, call)
    const secrets = method === 'PUT' && !existing ? 'shown' : 'hidden'
    const body = viewAt(resources, call, target, asked, { detail: 'sparse', secrets })
    return writtenAnswer(call, operation, locationAt(resolved, target), body)
  }

  const remove = (call: ArmCall, target: Target, resolved: ResolvedScope, existing: EventSubscription): ArmAnswer => {
    refuseWhileBusy(existing)
    return removedAnswer(call, provisioning.remove(existing, resolved.azure.id), locationAt(resolved, target))
  }

  /** The region of operations: the source's, or `global` for a scope without a region. */
  const locationAt = ({ parts }: ResolvedScope, { scope }: Target): string =>
    parts.resource ? (locationOf(resources.store, scope) ?? 'westeurope') : 'global'

  const refuseWhileBusy = (existing: EventSubscription | undefined) => {
    if (!conflicts || !existing || !busy.includes(existing.provisioningState)) return
    throw armErrors.conflict(
      `Event subscription ${existing.name} is in ${existing.provisioningState} state. Only one operation ` +
        `at a time is allowed; try again later.`,
    )
  }

  return (call: ArmCall, target: Target): ArmAnswer => {
    const { method } = call
    const { scope } = target
    const id = idOf(target)
    if (target.action !== undefined && !knownActions.includes(target.action.toLowerCase())) {
      throw armErrors.pathNotFound(method, call.url)
    }
    const action = resourceAction(eventSubscriptionType(target), method, target.action)
    const at = method === 'GET' ? scope : id
    const resolved = authorizeCall(resources, call, { scope, type: 'eventSubscriptions', action, at })
    if (!target.nested && resolved.parts.resource?.types[0]?.toLowerCase() === 'systemtopics') {
      throw armErrors.invalidRequest(
        'This event subscription operation is not supported using this API call. Please use the proper API and try again.',
      )
    }
    const existing = resources.store.subscriptions.get(id)
    if (target.action !== undefined) {
      if (method !== 'POST') throw armErrors.methodNotAllowed(method, 'POST')
      if (!existing) throw armErrors.eventSubscriptionNotFound()
      return answerAction(target.action, existing)
    }
    return answerResource(call, {
      existing,
      notFound: armErrors.eventSubscriptionNotFound,
      view: (found) => viewAt(resources, call, target, found, { detail: 'filled', secrets: 'hidden' }),
      write: (found) => write(call, target, resolved, found),
      remove: (found) => remove(call, target, resolved, found),
    })
  }
}

function answerAction(action: string, { properties }: EventSubscription): ArmAnswer {
  if (action.toLowerCase() === 'getdeliveryattributes') return { status: 200, body: viewDeliveryAttributes(properties) }
  const destination = destinationOf(properties)
  const endpointUrl = destination?.endpointType === 'WebHook' ? destination.properties.endpointUrl : null
  return { status: 200, body: { endpointUrl } }
}

/** The id that it is stored under, which is that of the extension path. */
const idOf = ({ scope, name }: Target) => eventSubscriptionId(scope, name)

/**
 * The resource type of event subscriptions: `Microsoft.EventGrid/eventSubscriptions`, or nested below another type.
 */
export function eventSubscriptionType({ nested, scope }: { readonly nested: boolean; readonly scope: string }): string {
  return `${nested ? nestedType(scope) : 'Microsoft.EventGrid'}/eventSubscriptions`
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
  const defaultEventTypes = defaultEventTypesOf(sourceOf(store, scope), apiVersion)
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
  const sent = call.content?.includes('"eventDeliverySchema"') && eventDeliverySchema
  return { ...subscription, properties: sent ? { ...rest, eventDeliverySchema } : rest }
}
