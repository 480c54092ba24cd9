// Comparison form of an event subscription: Event Grid's defaults, ignored order and letter case.
import { isDeepStrictEqual } from 'node:util'
import type {
  AdvancedFilterUnion,
  DeliveryAttributeMappingUnion,
  EventSubscription,
  EventSubscriptionDestinationUnion,
  EventSubscriptionFilter,
  StaticDeliveryAttributeMapping,
  StorageBlobDeadLetterDestination,
  WebHookEventSubscriptionDestination,
} from '@azure/arm-eventgrid'
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'

/**
 * What Event Grid uses where an event subscription says nothing (ARM reference of
 * Microsoft.EventGrid/eventSubscriptions).
 */
const serviceDefaults = {
  maxEventsPerBatch: 1,
  preferredBatchSizeInKilobytes: 64,
  maxDeliveryAttempts: 30,
  eventTimeToLiveInMinutes: 1440,
  eventDeliverySchema: 'EventGridSchema',
} as const

/** The top-level fields of an event subscription that can be written; each is replaced whole by an update. */
export const writableFields = [
  'destination',
  'deliveryWithResourceIdentity',
  'filter',
  'labels',
  'expirationTimeUtc',
  'eventDeliverySchema',
  'retryPolicy',
  'deadLetterDestination',
  'deadLetterWithResourceIdentity',
] as const

export type WritableField = (typeof writableFields)[number]

/** What says no more than a default is left out, and order and letter case are fixed where they mean nothing. */
export type CanonicalSubscription = Readonly<Partial<Record<WritableField, unknown>>>

export const isWebHook = (
  destination: EventSubscriptionDestinationUnion | undefined,
): destination is WebHookEventSubscriptionDestination => destination?.endpointType === 'WebHook'

export const isStatic = (mapping: DeliveryAttributeMappingUnion): mapping is StaticDeliveryAttributeMapping =>
  mapping.type === 'Static'

/** Event types that say no more than the default does: none, or the word that the API of 2018 gave for all. */
export const areAllEventTypes = (types: readonly string[] | undefined): boolean =>
  types === undefined || types.length === 0 || (types.length === 1 && types[0]?.toLowerCase() === 'all')

/** An event subscription as it compares, one entry for each writable field that says more than a default. */
export function canonicalSubscription(subscription: EventSubscription): CanonicalSubscription {
  const { destination, filter, retryPolicy, deadLetterWithResourceIdentity: wrapped } = subscription
  const fields: Record<WritableField, unknown> = {
    destination: isWebHook(destination) ? webHook(destination) : destination,
    deliveryWithResourceIdentity: subscription.deliveryWithResourceIdentity,
    filter: filter && canonicalFilter(filter),
    labels: sorted(subscription.labels),
    expirationTimeUtc: subscription.expirationTimeUtc?.toISOString(),
    eventDeliverySchema: unless(serviceDefaults.eventDeliverySchema, subscription.eventDeliverySchema),
    retryPolicy: {
      maxDeliveryAttempts: unless(serviceDefaults.maxDeliveryAttempts, retryPolicy?.maxDeliveryAttempts),
      eventTimeToLiveInMinutes: unless(serviceDefaults.eventTimeToLiveInMinutes, retryPolicy?.eventTimeToLiveInMinutes),
    },
    deadLetterDestination: deadLetter(subscription.deadLetterDestination),
    deadLetterWithResourceIdentity: {
      identity: wrapped?.identity,
      destination: deadLetter(wrapped?.deadLetterDestination),
    },
  }
  return withoutNothing(fields)
}

function webHook(destination: WebHookEventSubscriptionDestination): UnknownRecord {
  const url = destination.endpointUrl ?? destination.endpointBaseUrl
  const { preferredBatchSizeInKilobytes: kilobytes, deliveryAttributeMappings: mappings } = destination
  return {
    endpointType: 'WebHook',
    url: url !== undefined && URL.canParse(url) ? new URL(url).href : url,
    maxEventsPerBatch: unless(serviceDefaults.maxEventsPerBatch, destination.maxEventsPerBatch),
    preferredBatchSizeInKilobytes: unless(serviceDefaults.preferredBatchSizeInKilobytes, kilobytes),
    entraTenant: destination.azureActiveDirectoryTenantId?.toLowerCase(),
    entraApplication: destination.azureActiveDirectoryApplicationIdOrUri?.toLowerCase(),
    attributes: Object.fromEntries(
      (mappings ?? []).map((mapping) => [mapping.name?.toLowerCase() ?? '', attribute(mapping)]),
    ),
  }
}

function attribute(mapping: DeliveryAttributeMappingUnion): UnknownRecord {
  return {
    type: mapping.type,
    ...(isStatic(mapping) && { value: mapping.value, isSecret: mapping.isSecret || undefined }),
    ...('sourceField' in mapping && { sourceField: mapping.sourceField }),
  }
}

function canonicalFilter(filter: EventSubscriptionFilter): UnknownRecord {
  const { includedEventTypes } = filter
  return {
    subjectBeginsWith: filter.subjectBeginsWith,
    subjectEndsWith: filter.subjectEndsWith,
    isSubjectCaseSensitive: filter.isSubjectCaseSensitive || undefined,
    enableAdvancedFilteringOnArrays: filter.enableAdvancedFilteringOnArrays || undefined,
    includedEventTypes: areAllEventTypes(includedEventTypes ?? undefined) ? undefined : sorted(includedEventTypes),
    advancedFilters: sorted(filter.advancedFilters?.map(advancedFilter)),
  }
}

/** As text, so that filters can be sorted. */
function advancedFilter(filter: AdvancedFilterUnion): string {
  const { operatorType, key } = filter
  const value = 'value' in filter ? filter.value : undefined
  const values = 'values' in filter ? filter.values?.map((each) => JSON.stringify(each)) : undefined
  return JSON.stringify(withoutNothing({ operatorType, key, value, values: sorted(values) }))
}

function deadLetter(destination: EventSubscription['deadLetterDestination']): UnknownRecord | undefined {
  if (!destination) return undefined
  // Blob storage is the only kind there is; the SDK's union also names the abstract base.
  const { resourceId, blobContainerName } = destination as StorageBlobDeadLetterDestination
  return { resourceId: resourceId?.toLowerCase(), container: blobContainerName }
}

const unless = <T>(fallback: T, value: T | undefined): T | undefined => (value === fallback ? undefined : value)

// The service sends null where nothing is set, whatever the SDK's types say.
const sorted = (values: readonly string[] | null | undefined): string[] => [...(values ?? [])].sort()

function withoutNothing(json: UnknownRecord): UnknownRecord {
  const members = Object.entries(json).map(([name, member]) => [
    name,
    isRecord(member) ? withoutNothing(member) : member,
  ])
  return Object.fromEntries(members.filter(([, member]) => !isNothing(member)))
}

/** Does a member of JSON say no more than if it were missing? */
export const isNothing = (value: unknown): boolean =>
  [undefined, null, '', [], {}].some((nothing) => isDeepStrictEqual(value, nothing))
