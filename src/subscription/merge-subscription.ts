import type {
  AdvancedFilterUnion,
  DeliveryAttributeMappingUnion,
  EventSubscription,
  EventSubscriptionFilter,
  WebHookEventSubscriptionDestination,
} from '@azure/arm-eventgrid'
import { deliveryTokenHeader } from '../core/delivery-credential.ts'
import { type AdvancedFilter, resetToDefault, type Setting } from '../metadata/metadata.ts'
import { areAllEventTypes, isStatic, isWebHook } from './canonical-subscription.ts'
import type { DesiredSubscription } from './desired-subscription.ts'
import { mergeCredentials } from './merge-credentials.ts'

/**
 * The complete event subscription to write: the settings of the metadata over the existing ones. The operator's other settings
 * are kept. Empty filters and lists are left out.
 */
export function mergeSubscription(
  existing: EventSubscription | undefined,
  desired: DesiredSubscription,
): EventSubscription {
  const { settings } = desired
  const filter = mergeFilter(existing?.filter, settings)
  const labels = pick(settings.labels, existing?.labels)
  const retryPolicy = {
    ...optional('maxDeliveryAttempts', pick(settings.maxDeliveryAttempts, existing?.retryPolicy?.maxDeliveryAttempts)),
    ...optional(
      'eventTimeToLiveInMinutes',
      pick(settings.eventTimeToLiveMinutes, existing?.retryPolicy?.eventTimeToLiveInMinutes),
    ),
  }
  return {
    destination: mergeWebHook(isWebHook(existing?.destination) ? existing.destination : undefined, desired),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(labels && labels.length > 0 && { labels: [...labels] }),
    ...optional('expirationTimeUtc', existing?.expirationTimeUtc),
    eventDeliverySchema: settings.eventDeliverySchema,
    ...(Object.keys(retryPolicy).length > 0 && { retryPolicy }),
    ...mergeDeadLetter(existing, settings),
  }
}

/** Is it the attribute that carries our credentials? */
export const isDeliveryAttribute = ({ name }: DeliveryAttributeMappingUnion): boolean =>
  name?.toLowerCase() === deliveryTokenHeader.toLowerCase()

/** The value of our delivery attribute as it exists in Azure. */
export function credentialsOf(destination: WebHookEventSubscriptionDestination | undefined): string | undefined {
  const mapping = destination?.deliveryAttributeMappings?.find(isDeliveryAttribute)
  return mapping && isStatic(mapping) ? (mapping.value ?? undefined) : undefined
}

function mergeWebHook(
  existing: WebHookEventSubscriptionDestination | undefined,
  { endpointUrl, deliveryCredential, entra, settings }: DesiredSubscription,
): WebHookEventSubscriptionDestination {
  const mappings = (existing?.deliveryAttributeMappings ?? []).filter((mapping) => !isDeliveryAttribute(mapping))
  if (deliveryCredential) {
    const { value } = mergeCredentials(credentialsOf(existing), deliveryCredential.reveal())
    mappings.push({ name: deliveryTokenHeader, type: 'Static', value, isSecret: true })
  }
  return {
    endpointType: 'WebHook',
    endpointUrl,
    ...optional('maxEventsPerBatch', pick(settings.maxEventsPerBatch, existing?.maxEventsPerBatch)),
    ...optional(
      'preferredBatchSizeInKilobytes',
      pick(settings.preferredBatchSizeInKilobytes, existing?.preferredBatchSizeInKilobytes),
    ),
    ...(entra && {
      azureActiveDirectoryTenantId: entra.tenantId,
      azureActiveDirectoryApplicationIdOrUri: entra.applicationIdOrUri,
    }),
    ...(mappings.length > 0 && { deliveryAttributeMappings: mappings }),
  }
}

function mergeFilter(
  existing: EventSubscriptionFilter | undefined,
  settings: DesiredSubscription['settings'],
): EventSubscriptionFilter {
  const subjectBeginsWith = pick(settings.subjectBeginsWith, existing?.subjectBeginsWith)
  const subjectEndsWith = pick(settings.subjectEndsWith, existing?.subjectEndsWith)
  const eventTypes = pick(settings.includedEventTypes, existing?.includedEventTypes)
  const advancedFilters = pick(settings.advancedFilters && asArm(settings.advancedFilters), existing?.advancedFilters)
  return {
    ...(subjectBeginsWith && { subjectBeginsWith }),
    ...(subjectEndsWith && { subjectEndsWith }),
    ...(eventTypes && !areAllEventTypes(eventTypes) && { includedEventTypes: [...eventTypes] }),
    ...(existing?.isSubjectCaseSensitive && { isSubjectCaseSensitive: true }),
    ...(existing?.enableAdvancedFilteringOnArrays && { enableAdvancedFilteringOnArrays: true }),
    ...(advancedFilters && advancedFilters.length > 0 && { advancedFilters: [...advancedFilters] }),
  }
}

/** Metadata changes the dead-letter destination; a managed identity for it stays, because it is the operator's. */
function mergeDeadLetter(
  existing: EventSubscription | undefined,
  { deadLetter }: DesiredSubscription['settings'],
): Pick<EventSubscription, 'deadLetterDestination' | 'deadLetterWithResourceIdentity'> {
  const wrapped = existing?.deadLetterWithResourceIdentity ?? undefined
  if (deadLetter === undefined) {
    return {
      ...optional('deadLetterDestination', existing?.deadLetterDestination),
      ...optional('deadLetterWithResourceIdentity', wrapped),
    }
  }
  if (deadLetter === resetToDefault) return {}
  const destination = {
    endpointType: 'StorageBlob' as const,
    resourceId: deadLetter.storageAccountId,
    blobContainerName: deadLetter.container,
  }
  return wrapped
    ? { deadLetterWithResourceIdentity: { ...wrapped, deadLetterDestination: destination } }
    : { deadLetterDestination: destination }
}

function asArm(filters: Setting<readonly AdvancedFilter[]>): Setting<readonly AdvancedFilterUnion[]> {
  // The SDK's union wants each operator as a literal with its own kind of value; metadata has checked that they fit.
  return filters === resetToDefault ? filters : filters.map((filter) => ({ ...filter }) as AdvancedFilterUnion)
}

function pick<T>(setting: Setting<T> | undefined, existing: T | null | undefined): T | undefined {
  if (setting === resetToDefault) return undefined
  return setting ?? existing ?? undefined
}

/** The entry; empty without a value. The service's null counts as none. */
function optional<K extends string, T>(key: K, value: T | null | undefined): { [P in K]?: T } {
  const entry: { [P in K]?: T } = {}
  if (value !== undefined && value !== null) entry[key] = value
  return entry
}
