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

/**
 * JSON that compares: what says no more than a default is left out, and order and letter case are
 * fixed where they mean nothing.
 */
export type Canonical = string | number | boolean | readonly Canonical[] | { readonly [key: string]: Canonical }

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

export type CanonicalSubscription = Readonly<Partial<Record<WritableField, Canonical>>>

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
  const { destination, filter, labels, expirationTimeUtc, retryPolicy } = subscription
  const fields: Record<WritableField, Canonical | undefined> = {
    destination: isWebHook(destination) ? webHook(destination) : opaque(destination),
    deliveryWithResourceIdentity: opaque(subscription.deliveryWithResourceIdentity),
    filter: filter && canonicalFilter(filter),
    labels: sorted(labels),
    expirationTimeUtc: expirationTimeUtc?.toISOString(),
    eventDeliverySchema: unless(serviceDefaults.eventDeliverySchema, subscription.eventDeliverySchema),
    retryPolicy: object({
      maxDeliveryAttempts: unless(serviceDefaults.maxDeliveryAttempts, retryPolicy?.maxDeliveryAttempts),
      eventTimeToLiveInMinutes: unless(serviceDefaults.eventTimeToLiveInMinutes, retryPolicy?.eventTimeToLiveInMinutes),
    }),
    deadLetterDestination: deadLetter(subscription.deadLetterDestination),
    deadLetterWithResourceIdentity: object({
      identity: opaque(subscription.deadLetterWithResourceIdentity?.identity),
      destination: deadLetter(subscription.deadLetterWithResourceIdentity?.deadLetterDestination),
    }),
  }
  return object(fields) ?? {}
}

function webHook(destination: WebHookEventSubscriptionDestination): Canonical | undefined {
  const { deliveryAttributeMappings: mappings } = destination
  return object({
    endpointType: 'WebHook',
    url: canonicalUrl(destination.endpointUrl ?? destination.endpointBaseUrl),
    maxEventsPerBatch: unless(serviceDefaults.maxEventsPerBatch, destination.maxEventsPerBatch),
    preferredBatchSizeInKilobytes: unless(
      serviceDefaults.preferredBatchSizeInKilobytes,
      destination.preferredBatchSizeInKilobytes,
    ),
    entraTenant: destination.azureActiveDirectoryTenantId?.toLowerCase(),
    entraApplication: destination.azureActiveDirectoryApplicationIdOrUri?.toLowerCase(),
    attributes: object(
      Object.fromEntries((mappings ?? []).map((mapping) => [mapping.name?.toLowerCase() ?? '', attribute(mapping)])),
    ),
  })
}

function attribute(mapping: DeliveryAttributeMappingUnion): Canonical | undefined {
  return object({
    type: mapping.type,
    ...(isStatic(mapping) && { value: mapping.value, isSecret: mapping.isSecret || undefined }),
    ...('sourceField' in mapping && { sourceField: mapping.sourceField }),
  })
}

function canonicalFilter(filter: EventSubscriptionFilter): Canonical | undefined {
  return object({
    subjectBeginsWith: unless('', filter.subjectBeginsWith),
    subjectEndsWith: unless('', filter.subjectEndsWith),
    isSubjectCaseSensitive: filter.isSubjectCaseSensitive || undefined,
    enableAdvancedFilteringOnArrays: filter.enableAdvancedFilteringOnArrays || undefined,
    includedEventTypes: areAllEventTypes(filter.includedEventTypes ?? undefined)
      ? undefined
      : sorted(filter.includedEventTypes),
    advancedFilters: sorted(filter.advancedFilters?.map((each) => JSON.stringify(advancedFilter(each)))),
  })
}

function advancedFilter(filter: AdvancedFilterUnion): Canonical | undefined {
  const values =
    'values' in filter && filter.values ? [...filter.values].map((value) => JSON.stringify(value)) : undefined
  return object({
    operatorType: filter.operatorType,
    key: filter.key,
    value: 'value' in filter ? filter.value : undefined,
    values: sorted(values),
  })
}

function deadLetter(destination: EventSubscription['deadLetterDestination']): Canonical | undefined {
  if (!destination) return undefined
  // Blob storage is the only kind there is; the SDK's union also names the abstract base.
  const { resourceId, blobContainerName } = destination as StorageBlobDeadLetterDestination
  return object({ resourceId: resourceId?.toLowerCase(), container: blobContainerName })
}

function canonicalUrl(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).href : url
}

/** A value that nobody here changes, so that any spelling will do. */
function opaque(value: unknown): Canonical | undefined {
  return value === undefined || value === null ? undefined : JSON.stringify(value)
}

// The service sends null where nothing is set, whatever the SDK's types say; hence the loose comparisons.
function unless<T extends string | number>(fallback: T, value: T | string | number | undefined): Canonical | undefined {
  return value == null || value === fallback ? undefined : value
}

function sorted(values: readonly string[] | undefined): Canonical | undefined {
  return values == null || values.length === 0 ? undefined : [...values].sort()
}

function object(
  entries: Readonly<Record<string, Canonical | undefined>>,
): Readonly<Record<string, Canonical>> | undefined {
  const present = Object.entries(entries).flatMap(([key, value]) => (value == null ? [] : [[key, value] as const]))
  return present.length === 0 ? undefined : Object.fromEntries(present)
}
