// ARM calls for namespaces, their topics and event subscriptions: names (3-50), `sku`, location, unique name,
// `eventRetentionInDays` 1 to 7, `listKeys`, deletion.
import { z } from 'zod'
import { isRecord } from '../../../support/text/is-record.ts'
import { randomKey } from '../../model/resources/model.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from '../../model/resources/namespace.ts'
import { namespaceNamed } from '../../model/resources/namespace-store.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, jsonContent, type ResolvedScope } from '../call/call.ts'
import { type ArmError, armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import type { Operations } from '../subscriptions/operations.ts'
import {
  deleteQueueSubscription,
  parseQueueSubscription,
  storeQueueSubscription,
  viewQueueSubscription,
} from '../subscriptions/queue-subscriptions.ts'
import { viewIdentity } from './identity.ts'
import { type NamespaceContents, namespaceTypes } from './namespace-contents.ts'
import { deleteNamespaceTopic, namespaceTopicBody, storeNamespaceTopic } from './namespace-topics.ts'
import {
  answerKeys,
  answerList,
  answerResource,
  authorizeCall,
  isBelow,
  parseBody,
  resourceAction,
  simpleChanges,
  type ViewedState,
} from './resource.ts'

const record = z.record(z.string(), z.unknown())
const namespaceBody = z.object({
  location: z.string().min(1).optional(),
  tags: z.record(z.string(), z.string()).nullish(),
  sku: record.nullish(),
  identity: record.nullish(),
  properties: record.nullish(),
})

const topicBody = z.object({
  properties: z
    .object({
      publisherType: z.literal('Custom').nullish(),
      inputSchema: z.literal('CloudEventSchemaV1_0').nullish(),
      eventRetentionInDays: z.int().min(1).max(7).nullish(),
    })
    .nullish(),
})

export interface NamespaceCallsOptions extends ArmResources, NamespaceContents {
  readonly operations: Operations
  /** The host name that a namespace's clients use. */
  readonly hostnameOf: (namespace: Namespace) => string
}

/** A call about a namespace, one of its topics, or an event subscription of that. The resource may not exist. */
interface NamespacePlace {
  readonly call: ArmCall
  readonly resolved: ResolvedScope
  readonly type: (typeof namespaceTypes)[number]
  readonly id: string
  readonly name: string
}

/** Answers for namespaces, their topics and Queue event subscriptions (ARM 2025-02-15). */
export function answerNamespaces(
  options: NamespaceCallsOptions,
  call: ArmCall,
  target: TargetOf<'namespaces'>,
): ArmAnswer {
  const { namespaces } = options
  const { scope, names, isList, action } = target
  const depth = isList ? names.length + 1 : names.length
  const type = namespaceTypes[depth - 1] ?? namespaceTypes[2]
  const ids = idsOf(scope, names)
  const [namespaceId = '', topicId = ''] = ids
  const resolved = authorizeCall(options, call, {
    scope,
    type,
    action: resourceAction(`Microsoft.EventGrid/${type}`, call.method, action),
    at: ids.at(-1) ?? scope,
  })
  const place: NamespacePlace = { call, resolved, type, id: ids.at(-1) ?? '', name: names.at(-1) ?? '' }

  if (depth === 1) {
    if (isList) {
      const listed = namespaces.namespaces.all().filter(({ id }) => isBelow(scope, id))
      return answerNamespaceList(options, place, listed, namespaceView(options, place))
    }
    if (action === undefined) return answerNamespaceResource(options, place, namespaceLevel(options, place))
  }
  const namespace = namespaces.namespaces.get(namespaceId)
  if (!namespace)
    throw depth === 1
      ? notFound(type, namespaceId)
      : armErrors.parentNotFound(`Microsoft.EventGrid/${type}`, namespaceId)
  if (depth === 1) {
    return answerKeys(call, action ?? '', namespace.keys, (keys) => namespaces.namespaces.put({ ...namespace, keys }))
  }
  if (depth === 2) {
    if (isList) return answerNamespaceList(options, place, namespaces.topics.of(namespaceId), namespaceTopicBody)
    if (action === undefined) {
      return answerNamespaceResource(options, place, namespaceTopicLevel(options, place, namespace))
    }
  }
  const topic = namespaces.topics.get(topicId)
  if (!topic)
    throw depth === 2 ? notFound(type, topicId) : armErrors.parentNotFound(`Microsoft.EventGrid/${type}`, topicId)
  if (depth === 2) {
    return answerKeys(call, action ?? '', topic.keys, (keys) => namespaces.topics.put({ ...topic, keys }))
  }
  if (isList) {
    return answerNamespaceList(options, place, namespaces.subscriptions.of(topicId), viewQueueSubscription)
  }
  const level = queueSubscriptionLevel(options, place, { namespace, topic })
  return action === undefined
    ? answerNamespaceResource(options, place, level)
    : answerQueueAction(place, action, level.existing)
}

/** A Queue event subscription has neither a URL nor delivery attributes. */
function answerQueueAction(
  { call, type, id }: NamespacePlace,
  action: string,
  existing: QueueSubscription | undefined,
): ArmAnswer {
  const body = { getdeliveryattributes: { value: [] }, getfullurl: { endpointUrl: null } }[action.toLowerCase()]
  if (body === undefined) throw armErrors.pathNotFound(call.method, call.url)
  if (call.method !== 'POST') throw armErrors.methodNotAllowed(call.method, 'POST')
  if (existing === undefined) throw notFound(type, id)
  return { status: 200, body }
}

/** The ids of a namespace, its topic and that topic's event subscription, as far as there are names. */
function idsOf(scope: string, names: readonly string[]): string[] {
  const kinds = ['providers/Microsoft.EventGrid/namespaces', 'topics', 'eventSubscriptions']
  const ids: string[] = []
  for (const [index, name] of names.entries()) ids.push(`${ids.at(-1) ?? scope}/${kinds[index]}/${name}`)
  return ids
}

/** What one level of namespaces has of its own. */
interface NamespaceLevel<Resource> {
  /** For errors: `topic`. */
  readonly what: string
  readonly existing: Resource | undefined
  /** Stores the resource as the body of the call wants it. Throws an ArmError. */
  readonly put: (existing: Resource | undefined) => Resource
  readonly remove: (existing: Resource) => void
  readonly view: NamespaceView<Resource>
  /** The region of the namespace. */
  readonly locationOf: (resource: Resource) => string
}

/** What ARM shows of a resource, without what all have: id, name, type and provisioning state. */
type NamespaceView<Resource> = (resource: Resource, state: ViewedState) => { readonly properties?: object }

interface NamedResource {
  readonly id: string
  readonly name: string
}

function answerNamespaceList<Resource extends NamedResource>(
  { operations }: NamespaceCallsOptions,
  { call, resolved, type }: NamespacePlace,
  listed: readonly Resource[],
  view: NamespaceView<Resource>,
): ArmAnswer {
  const { stateOf } = simpleChanges(operations, call, resolved)
  return answerList(call, listed, (one) => shown(one, type, stateOf(one.id), view))
}

function shown<Resource extends NamedResource>(
  resource: Resource,
  type: string,
  provisioningState: ViewedState,
  view: NamespaceView<Resource>,
) {
  const { id, name } = resource
  const { properties, ...rest } = view(resource, provisioningState)
  const what = { id, name, type: `Microsoft.EventGrid/${type}`, systemData: null }
  return { ...what, ...rest, properties: { ...properties, provisioningState } }
}

/** Answers GET, PUT, PATCH and DELETE of a namespace, a topic or an event subscription. Throws an ArmError. */
function answerNamespaceResource<Resource extends NamedResource>(
  { operations }: NamespaceCallsOptions,
  { call, resolved, type, id, name }: NamespacePlace,
  { what, existing, put, remove, view, locationOf }: NamespaceLevel<Resource>,
): ArmAnswer {
  const { stateOf, written, removed } = simpleChanges(operations, call, resolved)
  const change = { type, id, existing }
  return answerResource(call, {
    existing,
    notFound: () => notFound(type, id),
    view: (resource) => shown(resource, type, stateOf(id), view),
    write(former) {
      if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
      const stored = put(former)
      return written({ ...change, location: locationOf(stored) }, (state) => shown(stored, type, state, view))
    },
    remove: (former) => removed({ ...change, location: locationOf(former) }, () => remove(former)),
  })
}

/** The error for a resource that does not exist. Its names are those of the id: `namespace/topic`. */
function notFound(type: string, id: string): ArmError {
  const segments = id.split('/')
  const names = segments.filter((_, index) => index >= 8 && index % 2 === 0)
  return armErrors.resourceNotFound(`Microsoft.EventGrid/${type}`, names.join('/') || id, segments[4] ?? '')
}

function namespaceLevel(options: NamespaceCallsOptions, place: NamespacePlace): NamespaceLevel<Namespace> {
  const { namespaces, clock } = options
  const { call, resolved, id, name } = place
  return {
    what: 'namespace',
    existing: namespaces.namespaces.get(id),
    view: namespaceView(options, place),
    locationOf: ({ location }) => location,
    put(existing) {
      const body = parseBody(namespaceBody, call, 'namespace')
      const location = body.location ?? existing?.location
      if (location === undefined) {
        throw armErrors.invalidRequest('The location property is required for this definition.')
      }
      if (!existing && namespaceNamed(namespaces, name)) {
        throw armErrors.conflict(`Namespace name '${name}' is taken already.`)
      }
      refuseMqtt(body.properties?.topicSpacesConfiguration)
      const base = call.method === 'PATCH' ? existing?.shown : undefined
      const sku = call.method === 'PATCH' && isRecord(base?.sku) ? { ...base.sku, ...body.sku } : body.sku
      const tags = body.tags ?? existing?.tags
      const namespace: Namespace = {
        id: existing?.id ?? id,
        name: existing?.name ?? name,
        subscriptionId: resolved.azure.id,
        resourceGroup: resolved.parts.resourceGroup ?? '',
        location,
        keys: existing?.keys ?? [randomKey(), randomKey()],
        ...(tags && { tags }),
        shown: {
          sku: sku ?? base?.sku,
          identity: body.identity ?? base?.identity,
          properties: { ...base?.properties, ...body.properties },
        },
        systemData: existing?.systemData ?? systemDataOf(call.caller.clientId, clock.now()),
      }
      namespaces.namespaces.put(namespace)
      return namespace
    },
    remove: (existing) => deleteNamespace(options, existing),
  }
}

function namespaceTopicLevel(
  options: NamespaceCallsOptions,
  { call, id, name }: NamespacePlace,
  { id: namespaceId, location }: Namespace,
): NamespaceLevel<NamespaceTopic> {
  const { namespaces } = options
  return {
    what: 'topic',
    existing: namespaces.topics.get(id),
    view: namespaceTopicBody,
    locationOf: () => location,
    put(existing) {
      const { properties } = parseBody(topicBody, call, 'topic')
      const days = properties?.eventRetentionInDays ?? existing?.eventRetentionInDays
      return storeNamespaceTopic(options, { id, name, namespaceId }, days)
    },
    remove: (topic) => deleteNamespaceTopic(options, topic),
  }
}

function queueSubscriptionLevel(
  options: NamespaceCallsOptions,
  { call, id, name }: NamespacePlace,
  { namespace, topic }: { readonly namespace: Namespace; readonly topic: NamespaceTopic },
): NamespaceLevel<QueueSubscription> {
  const { namespaces } = options
  return {
    what: 'event subscription',
    existing: namespaces.subscriptions.get(id),
    view: viewQueueSubscription,
    locationOf: () => namespace.location,
    put(existing) {
      const patched = call.method === 'PATCH' ? existing?.properties : undefined
      const properties = parseQueueSubscription(jsonContent(call), patched)
      return storeQueueSubscription(options, { id, name, topicId: topic.id, properties })
    },
    remove: (existing) => deleteQueueSubscription(options, existing),
  }
}

/** Deletes a namespace with all that it contains. */
export function deleteNamespace(contents: NamespaceContents, namespace: Namespace): void {
  const { namespaces, topics } = contents.namespaces
  for (const topic of topics.of(namespace.id)) deleteNamespaceTopic(contents, topic)
  namespaces.delete(namespace)
}

/** Without MQTT the setting says so, or is absent. Throws an ArmError. */
function refuseMqtt(configuration: unknown): void {
  if (!isRecord(configuration) || configuration.state === 'Disabled') return
  throw armErrors.notSupported('the topicSpacesConfiguration (MQTT) of a namespace')
}

function systemDataOf(clientId: string, now: number): Readonly<Record<string, string>> {
  const at = new Date(now).toISOString()
  const created = { createdBy: clientId, createdByType: 'Application', createdAt: at }
  return { ...created, lastModifiedBy: clientId, lastModifiedByType: 'Application', lastModifiedAt: at }
}

/** A namespace's own part in ARM's shape. What is being made has no host name yet (recorded answers). */
function namespaceView({ hostnameOf }: NamespaceCallsOptions, { resolved }: NamespacePlace): NamespaceView<Namespace> {
  const { tenantId } = resolved.azure
  return (namespace, state) => {
    const { id, location, tags, shown: given, systemData } = namespace
    const { topicsConfiguration, ...properties } = given.properties ?? {}
    const isMade = state !== 'Creating'
    return {
      ...{ location, tags: tags ?? null },
      sku: given.sku ?? { name: 'Standard', capacity: 1 },
      ...((isMade || given.identity !== undefined) && {
        identity: viewIdentity(given.identity ?? { type: 'None' }, { id, tenantId }),
      }),
      ...(isMade && systemData && { systemData }),
      properties: {
        ...{
          publicNetworkAccess: 'Enabled',
          isZoneRedundant: true,
          inboundIpRules: null,
          minimumTlsVersionAllowed: '1.2',
        },
        ...properties,
        ...(isMade && {
          topicsConfiguration: {
            ...(isRecord(topicsConfiguration) && topicsConfiguration),
            hostname: hostnameOf(namespace),
          },
        }),
      },
    }
  }
}
