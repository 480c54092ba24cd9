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
 * The event subscription whole, ready to be written: what metadata asks for laid over what stands.
 * Settings of the operator's that metadata does not name stay, each top-level field complete; a filter or
 * list that says nothing is left out.
 */
export function mergeSubscription(
  standing: EventSubscription | undefined,
  desired: DesiredSubscription,
): EventSubscription {
  const { settings } = desired
  const filter = mergeFilter(standing?.filter, settings)
  const labels = pick(settings.labels, standing?.labels)
  const retryPolicy = {
    ...optional('maxDeliveryAttempts', pick(settings.maxDeliveryAttempts, standing?.retryPolicy?.maxDeliveryAttempts)),
    ...optional(
      'eventTimeToLiveInMinutes',
      pick(settings.eventTimeToLiveMinutes, standing?.retryPolicy?.eventTimeToLiveInMinutes),
    ),
  }
  return {
    destination: mergeWebHook(isWebHook(standing?.destination) ? standing.destination : undefined, desired),
    ...(Object.keys(filter).length > 0 && { filter }),
    ...(labels && labels.length > 0 && { labels: [...labels] }),
    ...optional('expirationTimeUtc', standing?.expirationTimeUtc),
    eventDeliverySchema: settings.eventDeliverySchema,
    ...(Object.keys(retryPolicy).length > 0 && { retryPolicy }),
    ...mergeDeadLetter(standing, settings),
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
  standing: WebHookEventSubscriptionDestination | undefined,
  { endpointUrl, deliveryCredential, entra, settings }: DesiredSubscription,
): WebHookEventSubscriptionDestination {
  const mappings = (standing?.deliveryAttributeMappings ?? []).filter((mapping) => !isDeliveryAttribute(mapping))
  if (deliveryCredential) {
    const { value } = mergeCredentials(credentialsOf(standing), deliveryCredential.reveal())
    mappings.push({ name: deliveryTokenHeader, type: 'Static', value, isSecret: true })
  }
  return {
    endpointType: 'WebHook',
    endpointUrl,
    ...optional('maxEventsPerBatch', pick(settings.maxEventsPerBatch, standing?.maxEventsPerBatch)),
    ...optional(
      'preferredBatchSizeInKilobytes',
      pick(settings.preferredBatchSizeInKilobytes, standing?.preferredBatchSizeInKilobytes),
    ),
    ...(entra && {
      azureActiveDirectoryTenantId: entra.tenantId,
      azureActiveDirectoryApplicationIdOrUri: entra.applicationIdOrUri,
    }),
    ...(mappings.length > 0 && { deliveryAttributeMappings: mappings }),
  }
}

function mergeFilter(
  standing: EventSubscriptionFilter | undefined,
  settings: DesiredSubscription['settings'],
): EventSubscriptionFilter {
  const subjectBeginsWith = pick(settings.subjectBeginsWith, standing?.subjectBeginsWith)
  const subjectEndsWith = pick(settings.subjectEndsWith, standing?.subjectEndsWith)
  const eventTypes = pick(settings.includedEventTypes, standing?.includedEventTypes)
  const advancedFilters = pick(settings.advancedFilters && asArm(settings.advancedFilters), standing?.advancedFilters)
  return {
    ...(subjectBeginsWith && { subjectBeginsWith }),
    ...(subjectEndsWith && { subjectEndsWith }),
    ...(eventTypes && !areAllEventTypes(eventTypes) && { includedEventTypes: [...eventTypes] }),
    ...(standing?.isSubjectCaseSensitive && { isSubjectCaseSensitive: true }),
    ...(standing?.enableAdvancedFilteringOnArrays && { enableAdvancedFilteringOnArrays: true }),
    ...(advancedFilters && advancedFilters.length > 0 && { advancedFilters: [...advancedFilters] }),
  }
}

/** Dead-lettering by a managed identity stays so: metadata changes where to, and the identity is the operator's. */
function mergeDeadLetter(
  standing: EventSubscription | undefined,
  { deadLetter }: DesiredSubscription['settings'],
): Pick<EventSubscription, 'deadLetterDestination' | 'deadLetterWithResourceIdentity'> {
  const wrapped = standing?.deadLetterWithResourceIdentity ?? undefined
  if (deadLetter === undefined) {
    return {
      ...optional('deadLetterDestination', standing?.deadLetterDestination),
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

function pick<T>(setting: Setting<T> | undefined, standing: T | null | undefined): T | undefined {
  if (setting === resetToDefault) return undefined
  return setting ?? standing ?? undefined
}

/** The entry, or nothing at all where there is no value: the service's null counts as none. */
function optional<K extends string, T>(key: K, value: T | null | undefined): { [P in K]?: T } {
  const entry: { [P in K]?: T } = {}
  if (value !== undefined && value !== null) entry[key] = value
  return entry
}
