import { z } from 'zod'
import { inputSchemaMappingBy } from '../model/input-schema-mapping.ts'
import { randomKey, type Topic, topicId } from '../model/model.ts'
import { isIpMask } from '../model/network-rules.ts'
import { stableGuid } from '../model/stable-guid.ts'
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
import { type ArmError, armErrors } from './errors.ts'
import { pageOf } from './lists.ts'
import type { Operations } from './operations.ts'
import type { ArmTarget } from './path.ts'
import type { Provisioning } from './provisioning.ts'

const record = z.record(z.string(), z.unknown())
const topicChange = z.object({
  tags: z.record(z.string(), z.string()).nullish(),
  sku: record.nullish(),
  kind: z.string().nullish(),
  identity: record.nullish(),
  properties: z
    .object({
      inputSchema: z.enum(['EventGridSchema', 'CustomEventSchema', 'CloudEventSchemaV1_0']).nullish(),
      inputSchemaMapping: inputSchemaMappingBy(z.object).nullish(),
      disableLocalAuth: z.boolean().nullish(),
      publicNetworkAccess: z.enum(['Enabled', 'Disabled', 'SecuredByPerimeter']).nullish(),
      inboundIpRules: z
        .array(z.object({ ipMask: z.string().refine(isIpMask), action: z.literal('Allow').default('Allow') }))
        .nullish(),
    })
    .nullish(),
})
const topicBody = topicChange.extend({ location: z.string().min(1) })

/** Custom topics of an Azure subscription in a region (Event Grid: quotas-limits). */
const maxTopics = 100

type Target = Extract<ArmTarget, { kind: 'topic' | 'topics' }>

/** What {@link createTopicHandler} needs. */
export interface TopicHandlerOptions extends ArmResources {
  readonly operations: Operations
  readonly provisioning: Provisioning
  /** The URL that a topic's events are posted to. */
  readonly endpointOf: (topic: Topic) => string
}

/** Makes the function that answers requests about custom topics. */
export function createTopicHandler(options: TopicHandlerOptions) {
  const { store, operations, provisioning, endpointOf } = options
  const viewOf = (call: ArmCall, topic: Topic) => viewTopic(topic, endpointOf(topic), call.apiVersion)

  const authorize = (call: ArmCall, scope: string, action: string, at: string) => {
    const resolved = resolveScope(options, call, scope, action)
    requireEventGridVersion(call, 'topics')
    requireAction(options, call, action, at)
    requireExistence(options, resolved)
    requireRegistration(resolved)
    return resolved
  }

  const put = (call: ArmCall, name: string, { azure, parts }: ResolvedScope): ArmAnswer => {
    const given = parseTopic(name, jsonContent(call))
    const { location, properties } = given
    const id = topicId(azure.id, parts.resourceGroup ?? '', name)
    const existing = store.topicById(id)
    if (!existing && store.topic(name)) {
      throw armErrors.conflict(
        `Topic name '${name}' is taken already: it is unique in a region, as it is part of a host name.`,
      )
    }
    if (existing && regionOf(existing) !== regionOf({ location })) {
      throw armErrors.locationFixed(existing.name, existing.location, existing.resourceGroup, location)
    }
    if (!existing && store.topics().filter((topic) => isNear(topic, azure.id, location)).length >= maxTopics) {
      throw armErrors.quotaReached()
    }
    const topic: Topic = {
      id: existing?.id ?? id,
      name: existing?.name ?? name,
      subscriptionId: azure.id,
      resourceGroup: parts.resourceGroup ?? '',
      location: existing?.location ?? location,
      inputSchema: existing?.inputSchema ?? properties?.inputSchema ?? 'EventGridSchema',
      ...(properties?.inputSchemaMapping ? { inputSchemaMapping: properties.inputSchemaMapping } : {}),
      keys: existing?.keys ?? [randomKey(), randomKey()],
      disableLocalAuth: false,
      ...settingsOf(given),
    }
    return write(call, topic, azure.id, existing)
  }

  const write = (call: ArmCall, topic: Topic, azureId: string, existing: Topic | undefined): ArmAnswer => {
    store.putTopic(topic)
    const operation = operations.start(azureId, async () => ({ status: 'Succeeded' }))
    const headers = operationHeaders(call, azureId, regionOf(topic), operation.id)
    const view = viewOf(call, topic)
    const { metricResourceId: _metric, publicNetworkAccess: _access, ...unprovisioned } = view.properties
    const properties = existing
      ? { ...view.properties, provisioningState: 'Updating' }
      : { ...unprovisioned, provisioningState: 'Creating', endpoint: null }
    return { status: 201, headers: headers.status, body: { ...view, properties } }
  }

  const patch = (call: ArmCall, topic: Topic, azureId: string): ArmAnswer => {
    const parsed = topicChange.safeParse(jsonContent(call))
    if (!parsed.success) throw invalidProperty(parsed.error)
    const change = settingsOf(parsed.data)
    const shown = { ...topic.shown, ...change.shown }
    return write(call, { ...topic, ...change, shown }, azureId, topic)
  }

  const find = (target: { scope: string; name: string }): Topic => {
    const topic = store.topicById(`${target.scope}/providers/Microsoft.EventGrid/topics/${target.name}`)
    if (!topic) {
      throw armErrors.resourceNotFound('Microsoft.EventGrid/topics', target.name, target.scope.split('/')[4] ?? '')
    }
    return topic
  }

  const remove = (call: ArmCall, topic: Topic, azureId: string): ArmAnswer => {
    const operation = operations.start(azureId, async () => {
      for (const subscription of store.subscriptionsOf(topic.id)) provisioning.remove(subscription, azureId)
      store.deleteTopic(topic)
      return { status: 'Succeeded' }
    })
    const headers = operationHeaders(call, azureId, regionOf(topic), operation.id)
    return { status: 202, headers: { ...headers.status, ...headers.result } }
  }

  const regenerate = (call: ArmCall, topic: Topic): ArmAnswer => {
    const body = z.object({ keyName: z.enum(['key1', 'key2']) }).safeParse(jsonContent(call))
    if (!body.success) throw armErrors.invalidRequest('Invalid key name. It must be key1 or key2.')
    const [key1, key2] = topic.keys
    const changed: Topic = { ...topic, keys: body.data.keyName === 'key1' ? [randomKey(), key2] : [key1, randomKey()] }
    store.putTopic(changed)
    return viewKeys(changed)
  }

  return (call: ArmCall, target: Target): ArmAnswer => {
    const { method } = call
    if (target.kind === 'topics') {
      authorize(call, target.scope, 'Microsoft.EventGrid/topics/read', target.scope)
      if (method !== 'GET') throw armErrors.methodNotAllowed(method, 'GET')
      const outer = `${target.scope.toLowerCase()}/`
      const page = pageOf(
        store.topics().filter(({ id }) => id.toLowerCase().startsWith(outer)),
        call,
      )
      const nextLink = page.nextLink ? { nextLink: page.nextLink } : {}
      return { status: 200, body: { value: page.items.map((topic) => viewOf(call, topic)), ...nextLink } }
    }
    const id = `${target.scope}/providers/Microsoft.EventGrid/topics/${target.name}`
    const resolved = authorize(call, target.scope, topicAction(method, target.action), id)
    if (target.action !== undefined) {
      if (method !== 'POST') throw armErrors.methodNotAllowed(method, 'POST')
      if (target.action.toLowerCase() === 'listkeys') return viewKeys(find(target))
      if (target.action.toLowerCase() === 'regeneratekey') return regenerate(call, find(target))
      throw armErrors.pathNotFound(method, call.url)
    }
    if (method === 'GET') return { status: 200, body: viewOf(call, find(target)) }
    if (resolved.parts.resource || !resolved.parts.resourceGroup) throw armErrors.pathNotFound(method, call.url)
    if (method === 'PUT') return put(call, target.name, resolved)
    if (method === 'PATCH') return patch(call, find(target), resolved.azure.id)
    if (method === 'DELETE') {
      const topic = store.topicById(id)
      return topic ? remove(call, topic, resolved.azure.id) : { status: 204 }
    }
    throw armErrors.methodNotAllowed(method, 'GET, PUT, PATCH, DELETE')
  }
}

/** Reads the body that makes a topic. Throws an ArmError. */
function parseTopic(name: string, body: unknown): z.infer<typeof topicBody> {
  const parsed = topicBody.safeParse(body)
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join('.')
    if (path === 'location') throw armErrors.invalidRequest('The location property is required for this definition.')
    throw invalidProperty(parsed.error)
  }
  if (!/^[A-Za-z0-9-]{3,50}$/.test(name) || /^(microsoft|eventgrid|system)/i.test(name)) {
    throw armErrors.invalidRequest('Invalid topic name.')
  }
  return parsed.data
}

function invalidProperty({ issues }: z.ZodError): ArmError {
  return armErrors.invalidRequest(`Invalid topic request: property '${issues[0]?.path.join('.')}' is invalid.`)
}

/** The settings that PUT and PATCH have in common. */
function settingsOf({ tags, sku, kind, identity, properties }: z.infer<typeof topicChange>) {
  const { disableLocalAuth, publicNetworkAccess, inboundIpRules } = properties ?? {}
  return {
    ...(tags && { tags }),
    ...(typeof disableLocalAuth === 'boolean' && { disableLocalAuth }),
    ...(publicNetworkAccess && { publicNetworkAccess }),
    ...(inboundIpRules && { inboundIpRules }),
    shown: { ...(sku && { sku }), ...(kind && { kind }), ...(identity && { identity }) },
  }
}

/** Versions are dates, so they compare as text. */
const firstVersionWithLocalAuth = '2021-06-01-preview'

const viewTopic = (topic: Topic, endpoint: string, apiVersion: string) => ({
  ...topic.shown,
  properties: {
    provisioningState: 'Succeeded',
    endpoint,
    inputSchema: topic.inputSchema,
    ...(topic.inputSchemaMapping ? { inputSchemaMapping: topic.inputSchemaMapping } : {}),
    metricResourceId: stableGuid(`metrics of ${topic.id}`),
    publicNetworkAccess: topic.publicNetworkAccess ?? 'Enabled',
    ...(topic.inboundIpRules ? { inboundIpRules: topic.inboundIpRules } : {}),
    ...(apiVersion >= firstVersionWithLocalAuth ? { disableLocalAuth: topic.disableLocalAuth } : {}),
  },
  location: topic.location,
  tags: topic.tags ?? null,
  id: topic.id,
  name: topic.name,
  type: 'Microsoft.EventGrid/topics',
  systemData: null,
})

const viewKeys = ({ keys: [key1, key2] }: Topic): ArmAnswer => ({ status: 200, body: { key1, key2 } })

function topicAction(method: string, action: string | undefined): string {
  if (action !== undefined) return `Microsoft.EventGrid/topics/${action}/action`
  if (method === 'GET') return 'Microsoft.EventGrid/topics/read'
  return `Microsoft.EventGrid/topics/${method === 'DELETE' ? 'delete' : 'write'}`
}

const isNear = (topic: Topic, subscriptionId: string, location: string) =>
  topic.subscriptionId.toLowerCase() === subscriptionId.toLowerCase() && regionOf(topic) === regionOf({ location })

const regionOf = ({ location }: Pick<Topic, 'location'>) => location.toLowerCase().replaceAll(' ', '')
