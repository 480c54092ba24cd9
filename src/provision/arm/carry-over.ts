// Settings unknown to the SDK's model, found and written back unchanged in an update.
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { filterOperators } from '../../metadata/fields/advanced-filters.ts'
import { isRecord } from '../../support/text/is-record.ts'
import type { DesiredSubscription } from '../decide/desired-subscription.ts'

/** A setting that the SDK's model lacks. The SDK would lose it in a write. */
export interface UnknownSetting {
  /** Where it lies below `properties`, in ARM's own spelling. */
  readonly path: readonly string[]
  readonly value: unknown
}

type Model = { readonly [key: string]: true | Model }

const identity: Model = { type: true, userAssignedIdentity: true }
const blob: Model = { endpointType: true, properties: { resourceId: true, blobContainerName: true } }

/**
 * What the model of `@azure/arm-eventgrid` 14 knows of an event subscription with a web
 * hook; `true` is not looked into.
 */
const model: Model = {
  topic: true,
  provisioningState: true,
  systemData: true,
  destination: {
    endpointType: true,
    properties: {
      endpointUrl: true,
      endpointBaseUrl: true,
      maxEventsPerBatch: true,
      preferredBatchSizeInKilobytes: true,
      azureActiveDirectoryTenantId: true,
      azureActiveDirectoryApplicationIdOrUri: true,
      deliveryAttributeMappings: true,
    },
  },
  deliveryWithResourceIdentity: true,
  filter: {
    subjectBeginsWith: true,
    subjectEndsWith: true,
    includedEventTypes: true,
    isSubjectCaseSensitive: true,
    enableAdvancedFilteringOnArrays: true,
    advancedFilters: true,
  },
  labels: true,
  expirationTimeUtc: true,
  eventDeliverySchema: true,
  retryPolicy: { maxDeliveryAttempts: true, eventTimeToLiveInMinutes: true },
  deadLetterDestination: blob,
  deadLetterWithResourceIdentity: { identity, deadLetterDestination: blob },
}

/** The operators of advanced filters in the same model. Azure may have more. */
const operators: ReadonlySet<unknown> = new Set(filterOperators)

/**
 * Finds what an answer's `properties` hold beyond the SDK's model, for instance a web
 * hook's `minimumTlsVersionAllowed`.
 */
export function findUnknownSettings(properties: unknown): UnknownSetting[] {
  const found: UnknownSetting[] = []
  const look = (value: unknown, known: true | Model, path: readonly string[]) => {
    if (known === true || !isRecord(value)) return
    for (const [key, inner] of Object.entries(value)) {
      const below = Object.hasOwn(known, key) ? known[key] : undefined
      if (below !== undefined) look(inner, below, [...path, key])
      else if (inner !== null && key !== '__proto__') found.push({ path: [...path, key], value: inner })
    }
  }
  look(properties, model, [])
  const filters = isRecord(properties) && isRecord(properties.filter) ? properties.filter.advancedFilters : undefined
  // Of a filter whose operator it does not know, the SDK keeps the key alone.
  if (Array.isArray(filters) && filters.some((filter) => !isRecord(filter) || !operators.has(filter.operatorType))) {
    found.push({ path: ['filter', 'advancedFilters'], value: filters })
  }
  return found
}

/** The settings that a write has to carry. Those that metadata sets are not among them. */
export function carriedSettings(settings: readonly UnknownSetting[], desired: DesiredSubscription): UnknownSetting[] {
  const { advancedFilters, deadLetter } = desired.settings
  return settings.filter(({ path: [field, inner] }) => {
    if (field === 'filter' && inner === 'advancedFilters') return advancedFilters === undefined
    if (field === 'deadLetterDestination') return deadLetter === undefined
    if (field === 'deadLetterWithResourceIdentity') return typeof deadLetter !== 'symbol'
    return true
  })
}

/** Puts settings into the body of a write: a PUT holds its fields below `properties`, a PATCH at the top. */
export function carryOver(method: string, body: string, settings: readonly UnknownSetting[]): string {
  const whole: unknown = JSON.parse(body)
  const root = method === 'PUT' && isRecord(whole) ? whole.properties : whole
  if (!isRecord(root)) return body
  for (const { path, value } of settings) {
    let parent = root
    for (const key of path.slice(0, -1)) {
      const next = isRecord(parent[key]) ? parent[key] : {}
      parent[key] = next
      parent = next
    }
    parent[path.at(-1) ?? ''] = value
  }
  return JSON.stringify(whole)
}

/** A pipeline policy that adds settings to the SDK's writes. */
export function createCarryOverPolicy(settings: readonly UnknownSetting[]): PipelinePolicy {
  return {
    name: 'eventgrid-binding-carry-over',
    sendRequest(request, next) {
      const writes = request.method === 'PUT' || request.method === 'PATCH'
      if (writes && settings.length > 0 && typeof request.body === 'string') {
        request.body = carryOver(request.method, request.body, settings)
      }
      return next(request)
    },
  }
}
