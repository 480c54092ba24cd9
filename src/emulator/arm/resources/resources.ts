// GET, PUT, PATCH, DELETE and lists of topics, domains, system topics; cascading deletion, fixed location.
import { isOfType, parentId, type Resource, type ResourceOf, regionName } from '../../model/resources/resource.ts'
import { locationOf } from '../../model/resources/store.ts'
import type { ArmAnswer, ArmCall, ArmResources } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { visibleIn } from '../call/field-versions.ts'
import type { TargetOf } from '../call/path.ts'
import type { Operations } from '../subscriptions/operations.ts'
import type { Provisioning } from '../subscriptions/provisioning.ts'
import { viewIdentity } from './identity.ts'
import {
  answerKeys,
  answerList,
  answerResource,
  authorizeCall,
  isBelow,
  resourceAction,
  simpleChanges,
  type ViewedState,
} from './resource.ts'

/** What the answers for custom topics, domains and system topics need. */
export interface ResourceOptions extends ArmResources {
  readonly operations: Operations
  readonly provisioning: Provisioning
  /** The URL that events are posted to. */
  readonly endpointOf: (published: { readonly label: string }) => string
}

/** A PUT or PATCH of a resource, which may not exist. */
export interface ResourceWrite extends ResourceOptions {
  readonly call: ArmCall
  readonly id: string
  readonly name: string
  readonly subscriptionId: string
  readonly resourceGroup: string
}

/** What one type of resource has of its own. */
export interface ResourceKind<T extends Resource['type']> {
  readonly type: T
  /** The resource as the body of a PUT wants it. Throws an ArmError. */
  put(write: ResourceWrite, existing: ResourceOf<T> | undefined): ResourceOf<T>
  /** The resource as the body of a PATCH changes it. Throws an ArmError. */
  patch(write: ResourceWrite, existing: ResourceOf<T>): ResourceOf<T>
  /** In ARM's shape. The answer to a PUT, and what is being made, lack what comes with provisioning. */
  view(options: ResourceOptions, call: ArmCall, resource: ResourceOf<T>, state: ViewedState): object
}

/** Answers for the resources of one type (ARM 2025-02-15). */
export function answerResources<T extends Resource['type']>(
  options: ResourceOptions,
  kind: ResourceKind<T>,
  call: ArmCall,
  target: TargetOf<'resource'>,
): ArmAnswer {
  const { store } = options
  const { scope, names, isList, action } = target
  const type = `Microsoft.EventGrid/${kind.type}`
  const id = idOf(scope, kind.type, names)
  const resolved = authorizeCall(options, call, {
    scope,
    type: kind.type,
    action: resourceAction(type, call.method, action),
    at: isList && names.length === 0 ? scope : id,
  })
  const { parts } = resolved
  const { stateOf, written, removed } = simpleChanges(options.operations, call, resolved)
  const shown = (resource: ResourceOf<T>, state = stateOf(resource.id)) => ({
    ...kind.view(options, call, resource, state),
    ...('shown' in resource &&
      resource.shown?.identity !== undefined && {
        identity: viewIdentity(resource.shown.identity, { id: resource.id, tenantId: resolved.azure.tenantId }),
      }),
    ...{ id: resource.id, name: resource.name, type },
    ...visibleIn(call.apiVersion, { systemData: null }),
  })
  const parent = isList ? id : parentId(id)
  if (names.length > (isList ? 0 : 1) && !store.resource(parent)) throw armErrors.parentNotFound(type, parent)
  if (isList) {
    const within = names.length === 0 ? scope : id
    return answerList(
      call,
      store.resources(kind.type).filter((one) => isBelow(within, one.id)),
      (one) => shown(one),
    )
  }
  if (parts.resource || !parts.resourceGroup) throw armErrors.pathNotFound(call.method, call.url)
  const found = store.resource(id)
  const existing = isOfType(found, kind.type) ? found : undefined
  const notFound = () => armErrors.resourceNotFound(type, names.join('/'), parts.resourceGroup ?? '')
  if (action !== undefined) {
    if (!existing) throw notFound()
    if (!('keys' in existing)) throw armErrors.pathNotFound(call.method, call.url)
    return answerKeys(call, action, existing.keys, (keys) => store.putResource({ ...existing, keys }))
  }
  const { azure } = resolved
  const change = { type: kind.type, id, existing }
  return answerResource(call, {
    existing,
    notFound,
    view: (resource) => shown(resource),
    write(resource) {
      const write: ResourceWrite = {
        ...options,
        ...{ call, id, name: names.at(-1) ?? '', subscriptionId: azure.id, resourceGroup: parts.resourceGroup ?? '' },
      }
      const changed = call.method === 'PATCH' && resource ? kind.patch(write, resource) : kind.put(write, resource)
      store.putResource(changed)
      return written({ ...change, location: locationOf(store, id) ?? 'global' }, (state) => shown(changed, state))
    },
    remove: (resource) =>
      removed({ ...change, location: locationOf(store, id) ?? 'global' }, () => removeResource(options, resource)),
  })
}

/** Deletes a resource, what it contains, and the event subscriptions of both. */
export function removeResource(
  { store, provisioning }: Pick<ResourceOptions, 'store' | 'provisioning'>,
  resource: Resource,
): void {
  const children = store
    .resources('domains/topics')
    .filter(({ domainId }) => domainId.toLowerCase() === resource.id.toLowerCase())
  const azureId = resource.id.split('/')[2] ?? ''
  for (const one of [resource, ...children]) {
    for (const subscription of store.subscriptions.of(one.id)) provisioning.remove(subscription, azureId)
    store.deleteResource(one)
  }
}

/** Throws an ArmError for a region that is not that of the existing resource. */
export function keepLocation(
  existing: { readonly name: string; readonly location: string; readonly resourceGroup: string } | undefined,
  location: string,
): void {
  if (!existing || regionName(existing.location) === regionName(location)) return
  throw armErrors.locationFixed(existing.name, existing.location, existing.resourceGroup, location)
}

/** The id of a resource, or of what contains the resources of a list. */
function idOf(scope: string, type: Resource['type'], names: readonly string[]): string {
  const types = type.split('/')
  return names.reduce((id, name, index) => `${id}/${types[index]}/${name}`, `${scope}/providers/Microsoft.EventGrid`)
}
