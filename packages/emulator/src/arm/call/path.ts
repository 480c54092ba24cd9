/** Which paths and scopes Resource Manager has, and which types the emulator does not support. */
import { sameName } from '../../model/resources/resource.ts'

/** A parsed path of Azure Resource Manager. Ids keep the caller's letter case; keywords match in any case. */
export type ArmTarget =
  /** The kinds of sources of Azure, one of them, or its event types. */
  | { readonly kind: 'topicTypes'; readonly name?: string; readonly eventTypes: boolean }
  | ({ readonly scope: string } & ScopedTarget)

type ScopedTarget =
  | { readonly kind: 'eventSubscription'; readonly name: string; readonly nested: boolean; readonly action?: string }
  | {
      readonly kind: 'eventSubscriptions'
      readonly nested: boolean
      readonly location?: string
      readonly topicType?: string
    }
  | { readonly kind: 'operation'; readonly form: 'operationsStatus' | 'operationResults'; readonly id: string }
  /** A resource, by its name and the names of what contains it, outermost first. */
  | {
      readonly kind: 'resource'
      readonly type: ResourceType
      readonly names: readonly string[]
      /** True: all resources of the type below the names are asked for. */
      readonly isList: boolean
      readonly action?: string
    }
  | { readonly kind: 'provider'; readonly namespace: string; readonly action?: string }
  | { readonly kind: 'providers' }
  /** Roles that may be assigned at the scope; with a name the one with that id. */
  | { readonly kind: 'roleDefinitions'; readonly name?: string }
  | { readonly kind: 'roleAssignment'; readonly name: string }
  | { readonly kind: 'roleAssignments' }
  | { readonly kind: 'permissions' }
  | { readonly kind: 'container' }
  /** The event types of a source. */
  | { readonly kind: 'eventTypes' }
  /** A type that the emulator does not support, with its provider. */
  | {
      readonly kind: 'unsupported'
      readonly type: string
      /** Of a list in Event Grid: the id of the resource that would contain the items, or the scope. */
      readonly listedIn?: string
    }

/** A path of one kind. */
export type TargetOf<Kind extends ArmTarget['kind']> = Extract<ArmTarget, { kind: Kind }>

/** The types of Microsoft.EventGrid whose resources are read and written alike. */
const resourceTypes = [
  ...(['topics', 'domains', 'domains/topics', 'systemTopics'] as const),
  ...(['namespaces', 'namespaces/topics', 'namespaces/topics/eventSubscriptions'] as const),
] as const

export type ResourceType = (typeof resourceTypes)[number]

export interface ArmScope {
  readonly subscriptionId: string
  readonly resourceGroup?: string
  /** The resource in the group: namespace, then types and names, outermost first. */
  readonly resource?: {
    readonly namespace: string
    readonly types: readonly string[]
    readonly names: readonly string[]
  }
}

/** Types of Microsoft.EventGrid that the emulator does not support; the last five are parts of a namespace. */
const unsupportedTypes: readonly string[] = [
  'partnerTopics',
  'partnerNamespaces',
  'partnerRegistrations',
  'partnerConfigurations',
  'partnerDestinations',
  'verifiedPartners',
  'extensionTopics',
  'operations',
  'privateEndpointConnections',
  'privateLinkResources',
  'caCertificates',
  'clientGroups',
  'clients',
  'permissionBindings',
  'topicSpaces',
]

/** Unsupported types whose lists Azure itself fills. */
const answeredByAzure: ReadonlySet<string> = new Set([
  'verifiedpartners',
  'extensiontopics',
  'operations',
  'privatelinkresources',
])

/**
 * Parses a path; undefined if the emulator has no such route of Azure Resource Manager. Its scope is checked by
 * {@link parseArmScope}.
 */
export function parseArmPath(path: string): ArmTarget | undefined {
  const segments = decodeSegments(path)
  if (!segments) return undefined
  const at = segments.findLastIndex((segment) => sameName(segment, 'providers'))
  if (at < 0) return parseContainer(segments)
  const scope = join(segments.slice(0, at))
  const [namespace, ...rest] = segments.slice(at + 1)
  if (namespace === undefined) return { kind: 'providers', scope }
  if (rest.length === 0 && namespace) return { kind: 'provider', scope, namespace }
  if (rest.length === 1 && (sameName(rest[0], 'register') || sameName(rest[0], 'unregister'))) {
    return { kind: 'provider', scope, namespace, action: rest[0]?.toLowerCase() ?? '' }
  }
  if (sameName(namespace, 'Microsoft.EventGrid')) return parseEventGrid(segments, at, scope, rest)
  const [type, name, ...more] = rest
  if (sameName(namespace, 'Microsoft.Authorization') && more.length === 0) {
    if (sameName(type, 'permissions') && name === undefined) return { kind: 'permissions', scope }
    if (sameName(type, 'roleDefinitions'))
      return { kind: 'roleDefinitions', scope, ...(name !== undefined && { name }) }
    if (sameName(type, 'roleAssignments')) {
      return name === undefined ? { kind: 'roleAssignments', scope } : { kind: 'roleAssignment', scope, name }
    }
  }
  const types = rest.filter((_, index) => index % 2 === 0)
  return type ? { kind: 'unsupported', scope, type: [namespace, ...types].join('/') } : undefined
}

/** A subscription, a group, or a list in one; or the result of a group's deletion. */
function parseContainer(segments: readonly string[]): ArmTarget {
  const [, , results, id, ...more] = segments
  if (sameName(results, 'operationresults') && id && more.length === 0) {
    return { kind: 'operation', scope: join(segments.slice(0, 2)), form: 'operationResults', id }
  }
  return { kind: 'container', scope: join(segments) }
}

function parseEventGrid(
  segments: readonly string[],
  at: number,
  scope: string,
  rest: readonly string[],
): ArmTarget | undefined {
  const [type, second, third] = rest
  if (sameName(type, 'locations')) return parseLocation(scope, rest)
  const operation = rest.length === 2 ? parseOperation(scope, type, second) : undefined
  if (operation) return operation
  if (sameName(type, 'topicTypes')) return parseTopicType(scope, rest)
  if (sameName(type, 'eventTypes')) return rest.length === 1 ? { kind: 'eventTypes', scope } : undefined
  const unsupported = findUnsupported(type, third)
  // Types are at the odd places of `{namespace}/{type}/{name}/{type}/{name}`.
  const nest = rest.findIndex((segment, index) => index % 2 === 0 && sameName(segment, 'eventSubscriptions'))
  if (nest >= 0 && !sameName(type, 'namespaces')) {
    const nested = nest > 0
    const source = nested ? join(segments.slice(0, at + 2 + nest)) : scope
    return parseEventSubscription(source, nested, rest.slice(nest + 1))
  }
  if (unsupported !== undefined) {
    const isList = rest.length % 2 === 1 && !answeredByAzure.has(rest.at(-1)?.toLowerCase() ?? '')
    const listedIn = rest.length === 1 ? scope : join(segments.slice(0, -1))
    return { kind: 'unsupported', scope, type: unsupported, ...(isList && { listedIn }) }
  }
  return parseResource(scope, rest)
}

/** The type of Event Grid that is not supported: that of the path's resource, or of what that contains. */
function findUnsupported(type: string | undefined, child: string | undefined): string | undefined {
  const known = ['topics', 'domains', 'namespaces'].find((one) => sameName(type, one))
  const found = unsupportedTypes.find((one) => sameName(known === undefined ? type : child, one))
  return found && ['Microsoft.EventGrid', ...(known === undefined ? [] : [known]), found].join('/')
}

/** `locations/{location}/...`: an operation, or a list of event subscriptions. */
function parseLocation(scope: string, [, location, ...rest]: readonly string[]): ArmTarget | undefined {
  const [first, second, third, ...more] = rest
  if (!location || more.length > 0) return undefined
  const operation = parseOperation(scope, first, second)
  if (operation) return third === undefined ? operation : undefined
  const list = { kind: 'eventSubscriptions', scope, nested: false, location } as const
  if (sameName(first, 'eventSubscriptions') && second === undefined) return list
  if (!sameName(first, 'topicTypes') || !second || !sameName(third, 'eventSubscriptions')) return undefined
  return { ...list, topicType: second }
}

/** `operationsStatus/{id}` or `operationResults/{id}`. */
function parseOperation(scope: string, first: string | undefined, id: string | undefined): ArmTarget | undefined {
  const form = (['operationsStatus', 'operationResults'] as const).find((one) => sameName(first, one))
  return form && id ? { kind: 'operation', scope, form, id } : undefined
}

/** `topicTypes/{name}/...`: a topic type, its event types, or its event subscriptions. */
function parseTopicType(scope: string, [, name, third, ...more]: readonly string[]): ArmTarget | undefined {
  if (more.length > 0) return undefined
  if (name !== undefined && sameName(third, 'eventSubscriptions')) {
    return { kind: 'eventSubscriptions', scope, nested: false, topicType: name }
  }
  const eventTypes = third !== undefined
  if (scope !== '/' || (eventTypes && !sameName(third, 'eventTypes'))) return undefined
  return { kind: 'topicTypes', ...(name !== undefined && { name }), eventTypes }
}

/** `[{name}[/{action}]]` behind `eventSubscriptions`. */
function parseEventSubscription(
  scope: string,
  nested: boolean,
  [name, action, ...more]: readonly string[],
): ArmTarget | undefined {
  if (more.length > 0) return undefined
  if (name === undefined) return { kind: 'eventSubscriptions', scope, nested }
  return { kind: 'eventSubscription', scope, name, nested, ...(action !== undefined && { action }) }
}

/** `{type}[/{name}[/{type}[/{name}]]]` and so on, and an action behind a name. */
function parseResource(scope: string, rest: readonly string[]): ArmTarget | undefined {
  const types = rest.filter((_, index) => index % 2 === 0)
  const names = rest.filter((_, index) => index % 2 === 1)
  const typeOf = (levels: readonly string[]) => resourceTypes.find((one) => sameName(levels.join('/'), one))
  const isOdd = rest.length % 2 === 1
  const type = typeOf(types)
  if (type) return { kind: 'resource', scope, type, names, isList: isOdd }
  const owner = isOdd ? typeOf(types.slice(0, -1)) : undefined
  return owner && { kind: 'resource', scope, type: owner, names, isList: false, action: types.at(-1) ?? '' }
}

/**
 * Parses a scope: a subscription, a resource group, or a resource with its children. Undefined for anything else.
 */
export function parseArmScope(scope: string): ArmScope | undefined {
  const segments = scope.replace(/^\//, '').split('/')
  const [subscriptions, subscriptionId, groups, resourceGroup, providers, namespace, ...pairs] = segments
  if (!sameName(subscriptions, 'subscriptions') || !subscriptionId || segments.includes('')) return undefined
  if (groups === undefined) return { subscriptionId }
  if (!sameName(groups, 'resourceGroups') || !resourceGroup) return undefined
  if (providers === undefined) return { subscriptionId, resourceGroup }
  if (!sameName(providers, 'providers') || !namespace || pairs.length === 0 || pairs.length % 2 > 0) return undefined
  const types = pairs.filter((_, index) => index % 2 === 0)
  const names = pairs.filter((_, index) => index % 2 === 1)
  return { subscriptionId, resourceGroup, resource: { namespace, types, names } }
}

function decodeSegments(path: string): string[] | undefined {
  try {
    return path.replace(/^\//, '').replace(/\/$/, '').split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
}

const join = (segments: readonly string[]) => `/${segments.join('/')}`
