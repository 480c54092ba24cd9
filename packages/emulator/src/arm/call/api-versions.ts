/** Which api-versions Event Grid has, and which properties each of them knows. */
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import type { ArmCall } from './call.ts'
import { armErrors } from './errors.ts'

/**
 * The stable versions of Microsoft.EventGrid and its previews that carry the same shapes (Azure:
 * api-versions of the provider).
 */
const eventGridApiVersions: readonly string[] = [
  '2018-01-01',
  '2018-05-01-preview',
  '2018-09-15-preview',
  '2019-01-01',
  '2019-02-01-preview',
  '2019-06-01',
  '2020-01-01-preview',
  '2020-04-01-preview',
  '2020-06-01',
  '2020-10-15-preview',
  '2021-06-01-preview',
  '2021-10-15-preview',
  '2021-12-01',
  '2022-06-15',
  '2023-06-01-preview',
  '2023-12-15-preview',
  '2024-06-01-preview',
  '2024-12-15-preview',
  '2025-02-15',
  '2025-04-01-preview',
  '2025-07-15-preview',
]

/** Throws an ArmError for an api-version that Event Grid does not have. */
export function requireEventGridVersion(call: ArmCall, type: string): void {
  if (!eventGridApiVersions.includes(call.apiVersion.toLowerCase())) {
    throw armErrors.unsupportedApiVersion(type, call.apiVersion, eventGridApiVersions)
  }
}

/**
 * The first api-version of each property that is younger than the resource (azure-mgmt-eventgrid for Python 2.2.0, 8.0.0,
 * 10.0.0 and 10.4.0: the models of 2019-06-01, 2020-06-01, 2021-12-01 and 2025-02-15; recorded answers of 2018-09-15-preview).
 * Versions are dates, so they compare as text.
 */
const firstVersions: Readonly<Record<string, string>> = {
  metricResourceId: '2020-06-01',
  publicNetworkAccess: '2020-06-01',
  inboundIpRules: '2020-06-01',
  maxEventsPerBatch: '2020-04-01-preview',
  preferredBatchSizeInKilobytes: '2020-04-01-preview',
  azureActiveDirectoryTenantId: '2020-04-01-preview',
  azureActiveDirectoryApplicationIdOrUri: '2020-04-01-preview',
  deliveryWithResourceIdentity: '2020-10-15-preview',
  deadLetterWithResourceIdentity: '2020-10-15-preview',
  deliveryAttributeMappings: '2020-10-15-preview',
  enableAdvancedFilteringOnArrays: '2020-10-15-preview',
  queueMessageTimeToLiveInSeconds: '2020-10-15-preview',
  disableLocalAuth: '2021-06-01-preview',
  autoCreateTopicWithFirstSubscription: '2021-06-01-preview',
  autoDeleteTopicWithLastSubscription: '2021-06-01-preview',
  minimumTlsVersionAllowed: '2025-02-15',
  eventTypeInfo: '2025-02-15',
  dataResidencyBoundary: '2022-06-15',
  sourceResourceFormat: '2020-04-01-preview',
  supportedScopesForSource: '2021-06-01-preview',
  areRegionalAndGlobalSourcesSupported: '2023-12-15-preview',
  additionalEnforcedPermissions: '2023-12-15-preview',
  systemData: '2020-10-15-preview',
}

/** The previews of 2018 and 2019 had these, the stable versions since 2020-06-01. */
const earlyPreviews: ReadonlySet<string> = new Set(['inputSchema', 'inputSchemaMapping', 'eventDeliverySchema'])

/** The properties that an api-version has. */
export function visibleIn<T extends Readonly<Record<string, unknown>>>(apiVersion: string, properties: T): Partial<T> {
  const visible: Partial<T> = { ...properties }
  for (const name in visible) if (!isVisible(apiVersion, name)) delete visible[name]
  return visible
}

/** What a write by an api-version may hold: what is younger is not read, at any depth, so that a member that is replaced whole loses it. */
export function knownTo(apiVersion: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => knownTo(apiVersion, item))
  if (!isRecord(value)) return value
  const known = Object.entries(value).filter(([name]) => isVisible(apiVersion, name))
  return Object.fromEntries(known.map(([name, member]) => [name, knownTo(apiVersion, member)]))
}

function isVisible(apiVersion: string, name: string): boolean {
  if (earlyPreviews.has(name)) return apiVersion >= '2020-06-01' || apiVersion.endsWith('-preview')
  return apiVersion >= (firstVersions[name] ?? '')
}
