import { z } from 'zod'
import { randomKey } from '../model/model.ts'
import type { Namespace, NamespaceStore, NamespaceTopic, QueueSubscription } from '../model/namespace.ts'
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
import { pageOf } from './lists.ts'
import type { Operations } from './operations.ts'
import type { ArmTarget } from './path.ts'
import { parseQueueSubscription } from './queue-subscription.ts'

type Target = Extract<ArmTarget, { kind: 'namespaces' }>

/** What {@link createNamespaceHandler} needs. */
export interface NamespaceHandlerOptions extends ArmResources {
  readonly namespaces: NamespaceStore
  readonly operations: Operations
  /** Told of each event subscription that is stored or taken away. */
  readonly queues: {
    subscriptionChanged(subscription: QueueSubscription): void
    subscriptionDeleted(subscriptionId: string): void
  }
  /** The host name that a namespace's clients use. */
  readonly hostnameOf: (namespace: Namespace) => string
}

const types = [
  'Microsoft.EventGrid/namespaces',
  'Microsoft.EventGrid/namespaces/topics',
  'Microsoft.EventGrid/namespaces/topics/eventSubscriptions',
] as const

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

/** Answers for namespaces, their topics and Queue event subscriptions (ARM 2025-02-15). */
export function createNamespaceHandler(options: NamespaceHandlerOptions) {
  const { namespaces, operations, queues, clock } = options

  function viewOfNamespace(namespace: Namespace): object {
    const { id, name, location, tags, shown } = namespace
    return {
      ...{ id, name, type: types[0], location, tags: tags ?? null, systemData: null },
      sku: shown.sku ?? { name: 'Standard', capacity: 1 },
      ...(shown.identity !== undefined && { identity: shown.identity }),
      properties: {
        publicNetworkAccess: 'Enabled',
        isZoneRedundant: true,
        ...shown.properties,
        topicsConfiguration: { hostname: options.hostnameOf(namespace) },
        provisioningState: 'Succeeded',
      },
    }
  }

  function viewOfTopic({ id, name, eventRetentionInDays }: NamespaceTopic): object {
    const fixed = { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', provisioningState: 'Succeeded' }
    return { id, name, type: types[1], systemData: null, properties: { ...fixed, eventRetentionInDays } }
  }

  function viewOfSubscription({ id, name, properties, provisioningState }: QueueSubscription): object {
    const { deliveryConfiguration, ...rest } = properties
    const { queue } = deliveryConfiguration
    return {
      ...{ id, name, type: types[2], systemData: null },
      properties: {
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        ...rest,
        deliveryConfiguration: {
          deliveryMode: 'Queue',
          queue: { receiveLockDurationInSeconds: 60, maxDeliveryCount: 10, ...queue },
        },
        provisioningState,
      },
    }
  }

  /** A long-running write: 201 with the resource, whose operation has ended by then. */
  function written(call: ArmCall, { azure }: ResolvedScope, location: string, body: object): ArmAnswer {
    const operation = operations.start(azure.id, async () => ({ status: 'Succeeded' }))
    return { status: 201, headers: operationHeaders(call, azure.id, location, operation.id).status, body }
  }

  function removed(call: ArmCall, { azure }: ResolvedScope, location: string, remove: () => void): ArmAnswer {
    const operation = operations.start(azure.id, async () => {
      remove()
      return { status: 'Succeeded' }
    })
    const headers = operationHeaders(call, azure.id, location, operation.id)
    return { status: 202, headers: { ...headers.status, ...headers.result } }
  }

  function forgetTopic(topic: NamespaceTopic): void {
    for (const { id } of namespaces.subscriptions(topic.id)) queues.subscriptionDeleted(id)
    namespaces.deleteTopic(topic)
  }

  function keys(call: ArmCall, keysOf: readonly [string, string], store: (keys: [string, string]) => void): ArmAnswer {
    const [key1, key2] = keysOf
    if (!/\/regenerateKey$/i.test(pathOf(call))) return { status: 200, body: { key1, key2 } }
    const body = z.object({ keyName: z.enum(['key1', 'key2']) }).safeParse(jsonContent(call))
    if (!body.success) throw armErrors.invalidRequest('Invalid key name. It must be key1 or key2.')
    const changed: [string, string] = body.data.keyName === 'key1' ? [randomKey(), key2] : [key1, randomKey()]
    store(changed)
    return { status: 200, body: { key1: changed[0], key2: changed[1] } }
  }

  function answerNamespace(call: ArmCall, resolved: ResolvedScope, id: string, name: string): ArmAnswer {
    const existing = namespaces.namespaceById(id)
    if (call.method === 'GET') return { status: 200, body: viewOfNamespace(existing ?? missing(types[0], id)) }
    if (call.method === 'DELETE') {
      if (!existing) return { status: 204 }
      return removed(call, resolved, regionOf(existing), () => {
        for (const topic of namespaces.topics(id)) forgetTopic(topic)
        namespaces.deleteNamespace(existing)
      })
    }
    if (call.method !== 'PUT' && call.method !== 'PATCH')
      throw armErrors.methodNotAllowed(call.method, 'GET, PUT, PATCH, DELETE')
    if (call.method === 'PATCH' && !existing) missing(types[0], id)
    const body = parsed(namespaceBody, call, 'namespace')
    const location = body.location ?? existing?.location
    if (location === undefined) {
      throw armErrors.invalidRequest('The location property is required for this definition.')
    }
    checkName(name, 'namespace')
    const taken = namespaces.namespace(name)
    if (taken && !existing) throw armErrors.conflict(`Namespace name '${name}' is taken already.`)
    const base = call.method === 'PATCH' ? existing?.shown : undefined
    const namespace: Namespace = {
      id: existing?.id ?? id,
      name: existing?.name ?? name,
      subscriptionId: resolved.azure.id,
      resourceGroup: resolved.parts.resourceGroup ?? '',
      location,
      keys: existing?.keys ?? [randomKey(), randomKey()],
      ...((body.tags ?? existing?.tags) && { tags: body.tags ?? existing?.tags ?? {} }),
      shown: {
        sku: body.sku ?? base?.sku,
        identity: body.identity ?? base?.identity,
        properties: { ...base?.properties, ...body.properties },
      },
    }
    namespaces.putNamespace(namespace)
    return written(call, resolved, regionOf(namespace), viewOfNamespace(namespace))
  }

  function answerTopic(
    call: ArmCall,
    resolved: ResolvedScope,
    namespace: Namespace,
    id: string,
    name: string,
  ): ArmAnswer {
    const existing = namespaces.topic(id)
    if (call.method === 'GET') return { status: 200, body: viewOfTopic(existing ?? missing(types[1], id)) }
    if (call.method === 'DELETE') {
      return existing ? removed(call, resolved, regionOf(namespace), () => forgetTopic(existing)) : { status: 204 }
    }
    if (call.method !== 'PUT' && call.method !== 'PATCH')
      throw armErrors.methodNotAllowed(call.method, 'GET, PUT, PATCH, DELETE')
    if (call.method === 'PATCH' && !existing) missing(types[1], id)
    const { properties } = parsed(topicBody, call, 'topic')
    checkName(name, 'topic')
    const topic: NamespaceTopic = {
      id: existing?.id ?? id,
      name: existing?.name ?? name,
      namespaceId: namespace.id,
      keys: existing?.keys ?? [randomKey(), randomKey()],
      eventRetentionInDays: properties?.eventRetentionInDays ?? existing?.eventRetentionInDays ?? 1,
    }
    namespaces.putTopic(topic)
    return written(call, resolved, regionOf(namespace), viewOfTopic(topic))
  }

  function answerSubscription(
    call: ArmCall,
    resolved: ResolvedScope,
    place: {
      readonly namespace: Namespace
      readonly topic: NamespaceTopic
      readonly id: string
      readonly name: string
    },
  ): ArmAnswer {
    const { namespace, topic, id, name } = place
    const existing = namespaces.subscription(id)
    if (call.method === 'GET') return { status: 200, body: viewOfSubscription(existing ?? missing(types[2], id)) }
    if (call.method === 'DELETE') {
      if (!existing) return { status: 204 }
      return removed(call, resolved, regionOf(namespace), () => {
        queues.subscriptionDeleted(existing.id)
        namespaces.deleteSubscription(existing)
      })
    }
    if (call.method !== 'PUT' && call.method !== 'PATCH')
      throw armErrors.methodNotAllowed(call.method, 'GET, PUT, PATCH, DELETE')
    if (call.method === 'PATCH' && !existing) missing(types[2], id)
    checkName(name, 'event subscription')
    const subscription: QueueSubscription = {
      id: existing?.id ?? id,
      name: existing?.name ?? name,
      topicId: topic.id,
      properties: parseQueueSubscription(jsonContent(call), call.method === 'PATCH' ? existing?.properties : undefined),
      provisioningState: 'Succeeded',
      createdAt: existing?.createdAt ?? clock.now(),
    }
    namespaces.putSubscription(subscription)
    queues.subscriptionChanged(subscription)
    return written(call, resolved, regionOf(namespace), viewOfSubscription(subscription))
  }

  function list(call: ArmCall, scope: string, ids: readonly string[]): ArmAnswer {
    if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
    const [namespaceId, topicId] = ids
    const within = `${scope.toLowerCase()}/`
    const views = topicId
      ? namespaces.subscriptions(topicId).map(viewOfSubscription)
      : namespaceId
        ? namespaces.topics(namespaceId).map(viewOfTopic)
        : namespaces
            .namespaces()
            .filter(({ id }) => id.toLowerCase().startsWith(within))
            .map(viewOfNamespace)
    const page = pageOf(views, call)
    return { status: 200, body: { value: page.items, ...(page.nextLink ? { nextLink: page.nextLink } : {}) } }
  }

  return (call: ArmCall, target: Target): ArmAnswer => {
    const { names, isList, action } = target
    const type = types[isList ? names.length : names.length - 1] ?? types[2]
    const armAction = `${type}/${action === undefined ? actionOf(call.method) : `${action}/action`}`
    const resolved = resolveScope(options, call, target.scope, armAction)
    requireEventGridVersion(call, type.slice('Microsoft.EventGrid/'.length))
    const ids = idsOf(target.scope, names)
    requireAction(options, call, armAction, ids.at(-1) ?? target.scope)
    requireExistence(options, resolved)
    requireRegistration(resolved)
    const [namespaceId = '', topicId = '', subscriptionId = ''] = ids
    const [namespaceName = '', topicName = '', subscriptionName = ''] = names
    // What is above the resource asked for must exist.
    const above = isList ? names.length : names.length - 1
    const namespace = namespaces.namespaceById(namespaceId)
    if (above >= 1 && !namespace) missing(types[0], namespaceId)
    const topic = namespaces.topic(topicId)
    if (above >= 2 && !topic) missing(types[1], topicId)
    if (isList) return list(call, target.scope, ids)
    if (action !== undefined)
      return answerAction(call, action, namespace ?? missing(types[0], namespaceId), topic, names.length)
    if (names.length === 1) return answerNamespace(call, resolved, namespaceId, namespaceName)
    if (!namespace) return missing(types[0], namespaceId)
    if (names.length === 2) return answerTopic(call, resolved, namespace, topicId, topicName)
    if (!topic) return missing(types[1], topicId)
    return answerSubscription(call, resolved, { namespace, topic, id: subscriptionId, name: subscriptionName })
  }

  function answerAction(
    call: ArmCall,
    action: string,
    namespace: Namespace,
    topic: NamespaceTopic | undefined,
    depth: number,
  ): ArmAnswer {
    if (call.method !== 'POST') throw armErrors.methodNotAllowed(call.method, 'POST')
    if (!/^(listKeys|regenerateKey)$/i.test(action) || depth > 2) throw armErrors.pathNotFound(call.method, call.url)
    if (depth === 1)
      return keys(call, namespace.keys, (changed) => namespaces.putNamespace({ ...namespace, keys: changed }))
    const found = topic ?? missing(types[1], `${namespace.id}/topics`)
    return keys(call, found.keys, (changed) => namespaces.putTopic({ ...found, keys: changed }))
  }
}

function missing(type: string, id: string): never {
  const name = id.split('/').filter((_, index) => index >= 8 && index % 2 === 0)
  throw armErrors.resourceNotFound(type, name.join('/') || id, id.split('/')[4] ?? '')
}

function parsed<Body>(schema: z.ZodType<Body>, call: ArmCall, what: string): Body {
  const result = schema.safeParse(jsonContent(call))
  if (result.success) return result.data
  const path = result.error.issues[0]?.path.join('.')
  throw armErrors.invalidRequest(`Invalid ${what} request: property '${path}' is invalid.`)
}

function checkName(name: string, what: string): void {
  if (!/^[A-Za-z0-9-]{3,50}$/.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
}

function idsOf(scope: string, names: readonly string[]): string[] {
  const kinds = ['providers/Microsoft.EventGrid/namespaces', 'topics', 'eventSubscriptions']
  const ids: string[] = []
  for (const [index, name] of names.entries()) ids.push(`${ids.at(-1) ?? scope}/${kinds[index]}/${name}`)
  return ids
}

const actionOf = (method: string) => (method === 'GET' ? 'read' : method === 'DELETE' ? 'delete' : 'write')
const regionOf = ({ location }: Namespace) => location.toLowerCase().replaceAll(' ', '')
const pathOf = ({ url }: ArmCall) => url.split('?')[0] ?? ''
