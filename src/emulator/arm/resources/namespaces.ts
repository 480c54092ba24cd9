// ARM calls for namespaces, their topics and event subscriptions: names (3-50), `sku`, location, unique name,
// `eventRetentionInDays` 1 to 7, `listKeys`, `hostname`, deletion.
import { z } from 'zod'
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
import { type NamespaceContents, namespaceTypes } from './namespace-contents.ts'
import { deleteNamespaceTopic, storeNamespaceTopic, viewNamespaceTopic } from './namespace-topics.ts'
import {
  answerKeys,
  answerList,
  answerResource,
  authorizeCall,
  isBelow,
  parseBody,
  resourceAction,
  simpleChanges,
} from './resource.ts'

const record = z.record(z.string(), z.unknown())
const namespaceBody = z.object({
  location: z.string().min(1).optional(),
  tags: z.record(z.string(), z.string()).nullish(),
  sku: z.unknown().optional(),
  identity: z.unknown().optional(),
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

export interface NamespaceOptions extends ArmResources, NamespaceContents {
  readonly operations: Operations
  /** The host name that a namespace's clients use. */
  readonly hostnameOf: (namespace: Namespace) => string
}

/** A call about a namespace, one of its topics, or an event subscription of that. The resource may not exist. */
interface NamespacePlace {
  readonly call: ArmCall
  readonly resolved: ResolvedScope
  readonly type: string
  readonly id: string
  readonly name: string
}

/** Answers for namespaces, their topics and Queue event subscriptions (ARM 2025-02-15). */
export function answerNamespaces(options: NamespaceOptions, call: ArmCall, target: TargetOf<'namespaces'>): ArmAnswer {
  const { namespaces } = options
  const { scope, names, isList, action } = target
  const depth = isList ? names.length + 1 : names.length
  const type = namespaceTypes[depth - 1] ?? namespaceTypes[2]
  const ids = idsOf(scope, names)
  const [namespaceId = '', topicId = ''] = ids
  const resolved = authorizeCall(options, call, {
    scope,
    type: type.slice('Microsoft.EventGrid/'.length),
    action: resourceAction(type, call.method, action),
    at: ids.at(-1) ?? scope,
  })
  const place: NamespacePlace = { call, resolved, type, id: ids.at(-1) ?? '', name: names.at(-1) ?? '' }

  if (depth === 1) {
    if (isList) {
      const listed = namespaces.namespaces.all().filter(({ id }) => isBelow(scope, id))
      return answerList(call, listed, (namespace) => viewNamespace(options, namespace))
    }
    if (action === undefined) return answerNamespaceResource(options, place, namespaceLevel(options, place))
  }
  const namespace = namespaces.namespaces.get(namespaceId)
  if (!namespace) throw namespaceResourceNotFound(namespaceTypes[0], namespaceId)
  if (depth === 1) {
    return answerKeys(call, action ?? '', namespace.keys, (keys) => namespaces.namespaces.put({ ...namespace, keys }))
  }
  if (depth === 2) {
    if (isList) return answerList(call, namespaces.topics.of(namespaceId), viewNamespaceTopic)
    if (action === undefined)
      return answerNamespaceResource(options, place, namespaceTopicLevel(options, place, namespace))
  }
  const topic = namespaces.topics.get(topicId)
  if (!topic) throw namespaceResourceNotFound(namespaceTypes[1], topicId)
  if (depth === 2)
    return answerKeys(call, action ?? '', topic.keys, (keys) => namespaces.topics.put({ ...topic, keys }))
  if (isList) return answerList(call, namespaces.subscriptions.of(topicId), viewQueueSubscription)
  if (action !== undefined) throw armErrors.pathNotFound(call.method, call.url)
  return answerNamespaceResource(options, place, queueSubscriptionLevel(options, place, { namespace, topic }))
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
  readonly view: (resource: Resource) => object
  /** The region of the namespace. */
  readonly locationOf: (resource: Resource) => string
}

/** Answers GET, PUT, PATCH and DELETE of a namespace, a topic or an event subscription. Throws an ArmError. */
function answerNamespaceResource<Resource>(
  { operations }: NamespaceOptions,
  { call, resolved, type, id, name }: NamespacePlace,
  { what, existing, put, remove, view, locationOf }: NamespaceLevel<Resource>,
): ArmAnswer {
  const { written, removed } = simpleChanges(operations, call, resolved)
  return answerResource(call, {
    existing,
    notFound: () => namespaceResourceNotFound(type, id),
    view,
    write(former) {
      if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
      const stored = put(former)
      return written(locationOf(stored), view(stored))
    },
    remove: (former) => removed(locationOf(former), () => remove(former)),
  })
}

/** The error for a resource that does not exist. Its names are those of the id: `namespace/topic`. */
function namespaceResourceNotFound(type: string, id: string): ArmError {
  const segments = id.split('/')
  const names = segments.filter((_, index) => index >= 8 && index % 2 === 0)
  return armErrors.resourceNotFound(type, names.join('/') || id, segments[4] ?? '')
}

function namespaceLevel(
  options: NamespaceOptions,
  { call, resolved, id, name }: NamespacePlace,
): NamespaceLevel<Namespace> {
  const { namespaces } = options
  return {
    what: 'namespace',
    existing: namespaces.namespaces.get(id),
    view: (existing) => viewNamespace(options, existing),
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
      const base = call.method === 'PATCH' ? existing?.shown : undefined
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
          sku: body.sku ?? base?.sku,
          identity: body.identity ?? base?.identity,
          properties: { ...base?.properties, ...body.properties },
        },
      }
      namespaces.namespaces.put(namespace)
      return namespace
    },
    remove: (existing) => deleteNamespace(options, existing),
  }
}

function namespaceTopicLevel(
  options: NamespaceOptions,
  { call, id, name }: NamespacePlace,
  { id: namespaceId, location }: Namespace,
): NamespaceLevel<NamespaceTopic> {
  const { namespaces } = options
  return {
    what: 'topic',
    existing: namespaces.topics.get(id),
    view: viewNamespaceTopic,
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
  options: NamespaceOptions,
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

function viewNamespace({ hostnameOf }: NamespaceOptions, namespace: Namespace): object {
  const { id, name, location, tags, shown } = namespace
  return {
    ...{ id, name, type: namespaceTypes[0], location, tags: tags ?? null, systemData: null },
    sku: shown.sku ?? { name: 'Standard', capacity: 1 },
    ...(shown.identity !== undefined && { identity: shown.identity }),
    properties: {
      publicNetworkAccess: 'Enabled',
      isZoneRedundant: true,
      ...shown.properties,
      topicsConfiguration: { hostname: hostnameOf(namespace) },
      provisioningState: 'Succeeded',
    },
  }
}
