/** Which namespaces, namespace topics and Queue event subscriptions may be written through Resource Manager, and what is shown of them. */
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { ownField } from '../../model/events/event-text.ts'
import type { Namespace, NamespaceTopic, QueueSubscription } from '../../model/resources/namespace.ts'
import { named, parentId, randomKeys, regionName } from '../../model/resources/resource.ts'
import { enumeration } from '../../model/schemas.ts'
import { jsonContent } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import { answerKeys, parseBody } from '../call/resource-answers.ts'
import {
  deleteNamespace,
  deleteNamespaceTopic,
  deleteQueueSubscription,
  parseQueueSubscription,
  storeNamespaceTopic,
  storeQueueSubscription,
  viewQueueSubscription,
} from './namespace-contents.ts'
import { keepLocation, requireName, resourceIdentity, resourcesOf } from './resources.ts'

const record = z.record(z.string(), z.unknown())
const namespaceBody = z.object({
  location: z.string().min(1).optional(),
  tags: z.record(z.string(), z.string()).nullish(),
  sku: z.looseObject({ name: enumeration('Standard').optional(), capacity: z.int().min(1).optional() }).nullish(),
  identity: resourceIdentity.nullish(),
  properties: record.nullish(),
})

const topicBody = z.object({
  properties: z
    .object({
      publisherType: enumeration('Custom').nullish(),
      inputSchema: enumeration('CloudEventSchemaV1_0').nullish(),
      eventRetentionInDays: z.int().min(1).max(7).nullish(),
    })
    .nullish(),
})

export const answerNamespaces = resourcesOf<Namespace>({
  type: 'namespaces',
  all: ({ namespaces }) => namespaces.namespaces.all(),
  find: ({ namespaces }, id) => namespaces.namespaces.get(id),
  remove: deleteNamespace,
  locationOf: (_context, { location }) => location,
  act: ({ namespaces }, call, action, namespace) =>
    answerKeys(call, action, namespace.keys, (keys) => namespaces.namespaces.put({ ...namespace, keys })),
  write({ namespaces, clock, call, id, name, subscriptionId, resourceGroup }, existing) {
    requireName(name, 'namespace')
    const body = parseBody(namespaceBody, call, 'namespace')
    const location = body.location ?? existing?.location
    if (location === undefined) {
      throw armErrors.invalidRequest('The location property is required for this definition.')
    }
    if (!existing && named(namespaces.namespaces.all(), name)) {
      throw armErrors.conflict(`Namespace name '${name}' is taken already.`)
    }
    refuseMqtt(body.properties?.topicSpacesConfiguration)
    keepLocation(existing, location)
    const base = call.method === 'PATCH' ? existing?.shown : undefined
    const sku = call.method === 'PATCH' && isRecord(base?.sku) ? { ...base.sku, ...body.sku } : body.sku
    const tags = body.tags ?? existing?.tags
    const namespace: Namespace = {
      ...{ id: existing?.id ?? id, name: existing?.name ?? name, subscriptionId, resourceGroup, location },
      keys: existing?.keys ?? randomKeys(),
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
  // What is being made has no host name yet: its PUT does not name any (recorded, 2024), a GET has null (2026).
  view({ hostnameOf }, call, namespace, state) {
    const { location, tags, shown, systemData } = namespace
    const { topicsConfiguration, ...properties } = shown.properties ?? {}
    const isMade = state !== 'Creating'
    const isWhole = isMade || call.method === 'GET'
    // Versions since then leave it out (recorded, 2026).
    const none = isMade && call.apiVersion < '2025-04' ? { type: 'None' } : undefined
    const configured = isRecord(topicsConfiguration) ? topicsConfiguration : {}
    return {
      ...{ location, tags: tags ?? null },
      sku: shown.sku ?? { name: 'Standard', capacity: 1 },
      identity: shown.identity ?? none,
      ...(isWhole && systemData && { systemData }),
      properties: {
        ...{ publicNetworkAccess: 'Enabled', isZoneRedundant: hasZones(location), inboundIpRules: null },
        minimumTlsVersionAllowed: '1.2',
        ...properties,
        ...(isWhole && { topicsConfiguration: { ...configured, hostname: isMade ? hostnameOf(namespace) : null } }),
      },
    }
  },
})

export const answerNamespaceTopics = resourcesOf<NamespaceTopic>({
  type: 'namespaces/topics',
  all: ({ namespaces }) => namespaces.topics.all(),
  find: ({ namespaces }, id) => namespaces.topics.get(id),
  remove: deleteNamespaceTopic,
  locationOf: ({ namespaces }, { namespaceId }) => namespaces.namespaces.get(namespaceId)?.location,
  act: ({ namespaces }, call, action, topic) =>
    answerKeys(call, action, topic.keys, (keys) => namespaces.topics.put({ ...topic, keys })),
  write(write, existing) {
    const { call, id, name } = write
    requireName(name, 'topic')
    const { properties } = parseBody(topicBody, call, 'topic')
    const days = properties?.eventRetentionInDays ?? existing?.eventRetentionInDays
    return storeNamespaceTopic(write, { id, name, namespaceId: parentId(id) }, days)
  },
  view: (_context, _call, { eventRetentionInDays }) => ({
    properties: { publisherType: 'Custom', inputSchema: 'CloudEventSchemaV1_0', eventRetentionInDays },
  }),
})

export const answerQueueSubscriptions = resourcesOf<QueueSubscription>({
  type: 'namespaces/topics/eventSubscriptions',
  all: ({ namespaces }) => namespaces.subscriptions.all(),
  find: ({ namespaces }, id) => namespaces.subscriptions.get(id),
  remove: deleteQueueSubscription,
  locationOf: ({ namespaces }, { topicId }) => namespaces.namespaces.get(parentId(topicId))?.location,
  // It has neither a URL nor delivery attributes.
  act(_context, call, action) {
    const bodies = { getdeliveryattributes: { value: null }, getfullurl: { endpointUrl: null } }
    const body = ownField(bodies, action.toLowerCase())
    if (body === undefined) throw armErrors.pathNotFound(call.method, call.url)
    if (call.method !== 'POST') throw armErrors.methodNotAllowed(call.method, 'POST')
    return { status: 200, body }
  },
  write(write, existing) {
    const { call, id, name } = write
    requireName(name, 'event subscription')
    const patched = call.method === 'PATCH' ? existing?.properties : undefined
    const topic = write.namespaces.topics.get(parentId(id))
    const properties = parseQueueSubscription(jsonContent(call), {
      existing: patched,
      retentionDays: topic?.eventRetentionInDays ?? 1,
    })
    // The topic's own id: the call may write it in another letter case.
    const topicId = topic?.id ?? parentId(id)
    return storeQueueSubscription(write, { id, name, topicId, properties })
  },
  view: (_context, _call, { properties }) => viewQueueSubscription(properties),
})

/** Regions without availability zones (Azure: reliability, availability-zones-region-support): false in West US (recorded, 2026). */
const regionsWithoutZones: ReadonlySet<string> = new Set([
  ...['westus', 'northcentralus', 'westcentralus', 'canadaeast', 'brazilsoutheast', 'ukwest', 'francesouth'],
  ...['germanynorth', 'norwaywest', 'swedensouth', 'switzerlandwest', 'southafricawest', 'uaecentral', 'koreasouth'],
  ...[
    'australiasoutheast',
    'australiacentral',
    'australiacentral2',
    'southindia',
    'westindia',
    'jioindiawest',
    'jioindiacentral',
  ],
])

const hasZones = (location: string) => !regionsWithoutZones.has(regionName(location))

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
