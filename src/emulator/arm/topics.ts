import { z } from 'zod'
import { inputSchemaMappingBy } from '../model/input-schema-mapping.ts'
import { randomKey, type Topic, topicId } from '../model/model.ts'
import { isIpMask } from '../model/network-rules.ts'
import { stableGuid } from '../model/stable-guid.ts'
import type { ArmAnswer, ArmCall, ArmResources, ResolvedScope } from './call.ts'
import { armErrors } from './errors.ts'
import type { Operations } from './operations.ts'
import type { ArmTarget } from './path.ts'
import type { Provisioning } from './provisioning.ts'
import {
  answerKeys,
  answerList,
  answerResource,
  authorizeCall,
  isBelow,
  parseBody,
  regionName,
  removedAnswer,
  resourceAction,
  writtenAnswer,
} from './resource.ts'

const type = 'Microsoft.EventGrid/topics'

const record = z.record(z.string(), z.unknown())
const networkAccesses = ['Enabled', 'Disabled', 'SecuredByPerimeter'] as const
/** In any letter case: Azure CLI writes it in lower case. */
const publicNetworkAccess = z.string().transform((given, context) => {
  const known = networkAccesses.find((one) => one.toLowerCase() === given.toLowerCase())
  if (known === undefined) context.addIssue({ code: 'custom', message: 'unknown' })
  return known ?? z.NEVER
})
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
      publicNetworkAccess: publicNetworkAccess.nullish(),
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

export interface TopicHandlerOptions extends ArmResources {
  readonly operations: Operations
  readonly provisioning: Provisioning
  /** The URL that a topic's events are posted to. */
  readonly endpointOf: (topic: Topic) => string
}

export function createTopicHandler(options: TopicHandlerOptions) {
  const { store, operations, provisioning, endpointOf } = options
  const viewOf = (call: ArmCall, topic: Topic) => viewTopic(topic, endpointOf(topic), call.apiVersion)

  const put = (call: ArmCall, name: string, { azure, parts }: ResolvedScope): ArmAnswer => {
    const given = parseBody(topicBody, call, 'topic')
    if (!/^[A-Za-z0-9-]{3,50}$/.test(name) || /^(microsoft|eventgrid|system)/i.test(name)) {
      throw armErrors.invalidRequest('Invalid topic name.')
    }
    const { location, properties } = given
    const id = topicId(azure.id, parts.resourceGroup ?? '', name)
    const existing = store.topicById(id)
    if (!existing && store.topic(name)) {
      throw armErrors.conflict(
        `Topic name '${name}' is taken already: it is unique in a region, as it is part of a host name.`,
      )
    }
    if (existing && regionName(existing.location) !== regionName(location)) {
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
    const view = viewOf(call, topic)
    const { metricResourceId: _metric, publicNetworkAccess: _access, ...unprovisioned } = view.properties
    const properties = existing
      ? { ...view.properties, provisioningState: 'Updating' }
      : { ...unprovisioned, provisioningState: 'Creating', endpoint: null }
    return writtenAnswer(call, operation, topic.location, { ...view, properties })
  }

  const patch = (call: ArmCall, topic: Topic, azureId: string): ArmAnswer => {
    const change = settingsOf(parseBody(topicChange, call, 'topic'))
    const shown = { ...topic.shown, ...change.shown }
    return write(call, { ...topic, ...change, shown }, azureId, topic)
  }

  const remove = (call: ArmCall, topic: Topic, azureId: string): ArmAnswer => {
    const operation = operations.start(azureId, async () => {
      for (const subscription of store.subscriptionsOf(topic.id)) provisioning.remove(subscription, azureId)
      store.deleteTopic(topic)
      return { status: 'Succeeded' }
    })
    return removedAnswer(call, operation, topic.location)
  }

  return (call: ArmCall, target: Target): ArmAnswer => {
    const { scope } = target
    if (target.kind === 'topics') {
      authorizeCall(options, call, { scope, type: 'topics', action: `${type}/read`, at: scope })
      const topics = store.topics().filter(({ id }) => isBelow(scope, id))
      return answerList(call, topics, (topic) => viewOf(call, topic))
    }
    const id = `${scope}/providers/${type}/${target.name}`
    const action = resourceAction(type, call.method, target.action)
    const resolved = authorizeCall(options, call, { scope, type: 'topics', action, at: id })
    if (resolved.parts.resource || !resolved.parts.resourceGroup) throw armErrors.pathNotFound(call.method, call.url)
    const existing = store.topicById(id)
    const notFound = () => armErrors.resourceNotFound(type, target.name, resolved.parts.resourceGroup ?? '')
    if (target.action !== undefined) {
      if (!existing) throw notFound()
      return answerKeys(call, target.action, existing.keys, (keys) => store.putTopic({ ...existing, keys }))
    }
    return answerResource(call, {
      existing,
      notFound,
      view: (topic) => viewOf(call, topic),
      write: (topic) =>
        call.method === 'PATCH' && topic ? patch(call, topic, resolved.azure.id) : put(call, target.name, resolved),
      remove: (topic) => remove(call, topic, resolved.azure.id),
    })
  }
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
  type,
  systemData: null,
})

const isNear = (topic: Topic, subscriptionId: string, location: string) =>
  topic.subscriptionId.toLowerCase() === subscriptionId.toLowerCase() &&
  regionName(topic.location) === regionName(location)
