/** Which custom topics, domains and domain topics may be written through Resource Manager, and what is shown of them. */
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import {
  inputSchemaMappingBy,
  inputSchemas,
  isIpMask,
  type Publishable,
  type PublishedResource,
  randomKeys,
  regionName,
  sameName,
  stableGuid,
} from '../../model/resources/resource.ts'
import { newLabel } from '../../model/resources/store.ts'
import { enumeration } from '../../model/schemas.ts'
import { visibleIn } from '../call/api-versions.ts'
import { type ArmCall, bodyField } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { parseBody } from '../call/resource-answers.ts'
import { domainTopic } from './domain-topics.ts'
import {
  identityMembers,
  keepLocation,
  type ResourceWrite,
  requireName,
  resourceIdentity,
  storedResourcesOf,
  type ViewedState,
} from './resources.ts'

const record = z.record(z.string(), z.unknown())
const changeBody = z.object({
  tags: z.record(z.string(), z.string()).nullish(),
  sku: z.looseObject({ name: enumeration('Basic', 'Premium') }).nullish(),
  kind: enumeration('Azure', 'AzureArc').nullish(),
  identity: resourceIdentity.nullish(),
  properties: z
    .object({
      inputSchema: enumeration(...inputSchemas).nullish(),
      inputSchemaMapping: inputSchemaMappingBy(z.object).nullish(),
      disableLocalAuth: z.boolean().nullish(),
      publicNetworkAccess: enumeration('Enabled', 'Disabled', 'SecuredByPerimeter').nullish(),
      inboundIpRules: z
        .array(z.object({ ipMask: z.string().refine(isIpMask), action: enumeration('Allow').default('Allow') }))
        .nullish(),
      autoCreateTopicWithFirstSubscription: z.boolean().nullish(),
      autoDeleteTopicWithLastSubscription: z.boolean().nullish(),
      minimumTlsVersionAllowed: z.enum(['1.0', '1.1', '1.2']).nullish(),
      dataResidencyBoundary: enumeration('WithinGeopair', 'WithinRegion').nullish(),
      eventTypeInfo: record.nullish(),
    })
    .nullish(),
})
const putBody = changeBody.extend({ location: z.string().min(1) })

type Change = z.infer<typeof changeBody>

/** Custom topics, and domains, of an Azure subscription in a region (Event Grid: quotas-limits). */
const maxInRegion = 100

export const answerTopics = storedResourcesOf({
  type: 'topics',
  put: (write, existing) => {
    const body = parseBody(putBody, write.call, 'topic')
    return { type: 'topics', ...published(write, existing, body, 'topics') }
  },
  patch: (write, existing) => ({ ...existing, ...changed(existing, parseBody(changeBody, write.call, 'topic')) }),
  view: ({ endpointOf }, call, topic, state) => view(topic, endpointOf(topic), call, state),
})

export const answerDomains = storedResourcesOf({
  type: 'domains',
  put: (write, existing) => {
    const body = parseBody(putBody, write.call, 'domain')
    return { type: 'domains', ...published(write, existing, body, 'domains'), ...domainSettings(body) }
  },
  patch: (write, existing) => {
    const body = parseBody(changeBody, write.call, 'domain')
    return { ...existing, ...changed(existing, body), ...domainSettings(body) }
  },
  view({ endpointOf }, call, domain, state) {
    const { properties, ...rest } = view(domain, endpointOf(domain), call, state)
    const { autoCreateTopicWithFirstSubscription, autoDeleteTopicWithLastSubscription } = domain
    const own = visibleIn(call.apiVersion, {
      autoCreateTopicWithFirstSubscription,
      autoDeleteTopicWithLastSubscription,
    })
    return { ...rest, properties: { ...properties, ...own } }
  },
})

export const answerDomainTopics = storedResourcesOf({
  type: 'domains/topics',
  put({ id, name }, existing) {
    requireName(name, 'domain topic')
    return existing ?? domainTopic(id)
  },
  patch({ call }) {
    throw armErrors.methodNotAllowed(call.method, 'GET, PUT, DELETE')
  },
  view: () => ({}),
})

/** What a PUT makes of a custom topic or a domain. Throws an ArmError. */
function published(
  { store, id, name, subscriptionId, resourceGroup }: ResourceWrite,
  existing: Publishable | undefined,
  body: z.infer<typeof putBody>,
  type: Publishable['type'],
): PublishedResource {
  const { location, properties } = body
  const [what, noun] = type === 'topics' ? ['topic', 'Topic'] : ['domain', 'Domain']
  requireName(name, what)
  if (/^(microsoft|eventgrid|system)/i.test(name)) throw armErrors.invalidRequest(`Invalid ${what} name.`)
  keepLocation(existing, location)
  const label = existing?.label ?? newLabel(store, { name, location })
  if (label === undefined) {
    // Event Grid: troubleshoot-errors.
    throw armErrors.conflict(`${noun} with the specified name already exists. Choose a different ${what} name.`)
  }
  if (!existing && store.resources(type).filter((one) => isNear(one, subscriptionId, location)).length >= maxInRegion) {
    throw armErrors.quotaReached()
  }
  return {
    ...{ id: existing?.id ?? id, name: existing?.name ?? name, label, subscriptionId, resourceGroup },
    location: existing?.location ?? location,
    inputSchema: existing?.inputSchema ?? properties?.inputSchema ?? 'EventGridSchema',
    ...(properties?.inputSchemaMapping ? { inputSchemaMapping: properties.inputSchemaMapping } : {}),
    keys: existing?.keys ?? randomKeys(),
    disableLocalAuth: false,
    ...settingsOf(body),
  }
}

function changed(existing: Publishable, body: Change) {
  const settings = settingsOf(body)
  return {
    ...settings,
    shown: { ...existing.shown, ...settings.shown },
    shownProperties: { ...existing.shownProperties, ...settings.shownProperties },
  }
}

function settingsOf({ tags, sku, kind, identity, properties }: Change) {
  const { disableLocalAuth, publicNetworkAccess, inboundIpRules } = properties ?? {}
  const { minimumTlsVersionAllowed, dataResidencyBoundary, eventTypeInfo } = properties ?? {}
  return {
    ...(tags && { tags }),
    ...(typeof disableLocalAuth === 'boolean' && { disableLocalAuth }),
    ...(publicNetworkAccess && { publicNetworkAccess }),
    ...(inboundIpRules && { inboundIpRules }),
    shown: { ...(sku && { sku }), ...(kind && { kind }), ...(identity && { identity }) },
    shownProperties: {
      ...(minimumTlsVersionAllowed && { minimumTlsVersionAllowed }),
      ...(dataResidencyBoundary && { dataResidencyBoundary }),
      ...(eventTypeInfo && { eventTypeInfo }),
      // Shown where it was written (recorded, PowerShell 2024).
      ...(typeof disableLocalAuth === 'boolean' && { disableLocalAuth }),
    },
  }
}

function domainSettings({ properties }: Change) {
  const { autoCreateTopicWithFirstSubscription: create, autoDeleteTopicWithLastSubscription: remove } = properties ?? {}
  return {
    ...(typeof create === 'boolean' && { autoCreateTopicWithFirstSubscription: create }),
    ...(typeof remove === 'boolean' && { autoDeleteTopicWithLastSubscription: remove }),
  }
}

/**
 * The answer to a PUT, and what is being made, have none of the properties that come with provisioning. Over an existing
 * resource the answer of most versions has not even what was asked for (recorded answers).
 */
function view(resource: Publishable, endpoint: string, call: ArmCall, state: ViewedState) {
  const { apiVersion, method } = call
  const { inputSchema, inputSchemaMapping, publicNetworkAccess, inboundIpRules, disableLocalAuth } = resource
  const isSparse = method === 'PUT' || state === 'Creating'
  // Over an existing one the previews of 2020 do (recorded, CLI 2022), later versions do not (2026).
  const echoesAsked = state === 'Creating' || (isPreviewOfSku(apiVersion) && apiVersion < '2021')
  const provisioned = {
    inputSchema,
    metricResourceId: stableGuid(`metrics of ${resource.id}`),
    publicNetworkAccess: publicNetworkAccess ?? 'Enabled',
    dataResidencyBoundary: 'WithinGeopair',
  }
  const asked = {
    ...(isAsked(call, 'inputSchema') && { inputSchema }),
    ...(publicNetworkAccess && { publicNetworkAccess }),
  }
  const settings = {
    ...(inputSchemaMapping && { inputSchemaMapping }),
    ...(inboundIpRules && { inboundIpRules }),
    ...resource.shownProperties,
    ...((disableLocalAuth || resource.shownProperties?.disableLocalAuth !== undefined) && { disableLocalAuth }),
  }
  const { minimumTlsVersionAllowed = '1.0', ...properties }: Readonly<Record<string, unknown>> = {
    ...(isSparse ? echoesAsked && { ...asked, ...settings } : { ...provisioned, ...settings }),
  }
  const { identity, ...shown } = resource.shown ?? {}
  return {
    ...(isPreviewOfSku(apiVersion) && !isSparse && { sku: { name: 'Basic' } }),
    // A domain has none (recorded, .NET 2025).
    ...(isPreviewOfSku(apiVersion) && !isSparse && resource.type === 'topics' && { kind: 'Azure' }),
    ...shown,
    ...(isRecord(identity) && { identity: { ...identityMembers, ...identity } }),
    properties: {
      endpoint: isSparse ? null : endpoint,
      ...visibleIn(apiVersion, properties),
      // A topic has it since this version, a webhook since 2025-02-15 (recorded, PowerShell 2024).
      ...(apiVersion >= '2023-06-01-preview' && { minimumTlsVersionAllowed }),
    },
    location: resource.location,
    tags: resource.tags ?? null,
  }
}

/** The previews have `sku` and `kind`, the stable versions do not (azure-mgmt-eventgrid; recorded, PowerShell 2024). */
const isPreviewOfSku = (apiVersion: string) => apiVersion.endsWith('-preview') && apiVersion >= '2020-10-15-preview'

/** Whether the body of a write has a property. */
const isAsked = (call: ArmCall, name: string) => bodyField(call, ['properties', name]) != null

const isNear = (resource: Publishable, subscriptionId: string, location: string) =>
  sameName(resource.subscriptionId, subscriptionId) && regionName(resource.location) === regionName(location)
