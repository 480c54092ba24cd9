// Body written to Azure: metadata over existing settings; our delivery credential before other replicas' ones, at most
// 3.
import type {
  AdvancedFilterUnion,
  DeliveryAttributeMappingUnion,
  EventSubscription,
  EventSubscriptionFilter,
  WebHookEventSubscriptionDestination,
} from '@azure/arm-eventgrid'
import { deliveryTokenHeader, splitDeliveryCredentials } from '../../core/delivery-credential.ts'
import type { AdvancedFilter } from '../../metadata/fields/advanced-filters.ts'
import { resetToDefault, type Setting } from '../../metadata/fields/setting.ts'
import { areAllEventTypes, isNothing, isStatic, isWebHook } from './canonical-subscription.ts'
import type { DesiredSubscription } from './desired-subscription.ts'

/**
 * The complete event subscription to write: the settings of the metadata over the existing ones. The operator's other settings
 * are kept. Empty filters and lists are left out.
 */
export function mergeSubscription(
  existing: EventSubscription | undefined,
  desired: DesiredSubscription,
): EventSubscription {
  const { settings } = desired
  const { filter, labels, expirationTimeUtc, retryPolicy } = existing ?? {}
  return {
    destination: mergeWebHook(isWebHook(existing?.destination) ? existing.destination : undefined, desired),
    eventDeliverySchema: settings.eventDeliverySchema,
    ...present({
      filter: mergeFilter(filter, settings),
      labels: pick(settings.labels, labels)?.slice(),
      expirationTimeUtc,
      retryPolicy: present({
        maxDeliveryAttempts: pick(settings.maxDeliveryAttempts, retryPolicy?.maxDeliveryAttempts),
        eventTimeToLiveInMinutes: pick(settings.eventTimeToLiveMinutes, retryPolicy?.eventTimeToLiveInMinutes),
      }),
      ...mergeDeadLetter(existing, settings),
    }),
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

/** The most credentials that the delivery attribute holds: enough for a rotation that starts before the last one ended. */
export const maxCredentials = 3

/** Leaves out what no replica wrote, such as the word `Hidden` that ARM shows in place of a secret. */
const credentialPattern = /^[\w-]{1,100}\.[\w-]{1,200}$/

/**
 * Adds our credential to the delivery attribute, in front of those of other replicas. Replicas of an old and a new
 * version run side by side during a roll-out, and each must find its own.
 *
 * @returns the `value` to write (the existing one where it holds ours already), whether ours was `added`, and how many
 * credentials of others had to go, the oldest first
 */
export function mergeCredentials(existing: string | undefined, ours: string) {
  const present = splitDeliveryCredentials(existing ?? '')
  if (existing !== undefined && present.includes(ours)) return { value: existing, added: false, removed: 0 }
  const others = [...new Set(present)].filter((credential) => credentialPattern.test(credential))
  const kept = others.slice(0, maxCredentials - 1)
  return { value: [ours, ...kept].join(','), added: true, removed: others.length - kept.length }
}

function mergeWebHook(
  existing: WebHookEventSubscriptionDestination | undefined,
  { subscriberEndpoint, deliveryAuthentication: delivery, deliveryCredential, settings }: DesiredSubscription,
): WebHookEventSubscriptionDestination {
  const mappings = (existing?.deliveryAttributeMappings ?? []).filter((mapping) => !isDeliveryAttribute(mapping))
  if (deliveryCredential) {
    const { value } = mergeCredentials(credentialsOf(existing), deliveryCredential.reveal())
    mappings.push({ name: deliveryTokenHeader, type: 'Static', value, isSecret: true })
  }
  return {
    endpointType: 'WebHook',
    endpointUrl: subscriberEndpoint,
    ...present({
      maxEventsPerBatch: pick(settings.maxEventsPerBatch, existing?.maxEventsPerBatch),
      preferredBatchSizeInKilobytes: pick(
        settings.preferredBatchSizeInKilobytes,
        existing?.preferredBatchSizeInKilobytes,
      ),
      deliveryAttributeMappings: mappings,
    }),
    // Entra-secured delivery is switched off where deliveries prove themselves otherwise.
    ...(delivery.kind === 'entra' && {
      azureActiveDirectoryTenantId: delivery.tenantId,
      azureActiveDirectoryApplicationIdOrUri: delivery.clientId,
    }),
  }
}

function mergeFilter(
  existing: EventSubscriptionFilter | undefined,
  settings: DesiredSubscription['settings'],
): EventSubscriptionFilter {
  const eventTypes = pick(settings.includedEventTypes, existing?.includedEventTypes)
  const filters = pick<readonly (AdvancedFilter | AdvancedFilterUnion)[]>(
    settings.advancedFilters,
    existing?.advancedFilters,
  )
  return present({
    subjectBeginsWith: pick(settings.subjectBeginsWith, existing?.subjectBeginsWith),
    subjectEndsWith: pick(settings.subjectEndsWith, existing?.subjectEndsWith),
    includedEventTypes: areAllEventTypes(eventTypes) ? undefined : eventTypes?.slice(),
    isSubjectCaseSensitive: existing?.isSubjectCaseSensitive,
    enableAdvancedFilteringOnArrays: existing?.enableAdvancedFilteringOnArrays,
    // The SDK's union wants each operator as a literal with its own kind of value; metadata has checked that they fit.
    advancedFilters: filters?.map((filter) => ({ ...filter }) as AdvancedFilterUnion),
  })
}

/** Metadata changes the dead-letter destination; a managed identity for it stays, because it is the operator's. */
function mergeDeadLetter(
  existing: EventSubscription | undefined,
  { deadLetter }: DesiredSubscription['settings'],
): Pick<EventSubscription, 'deadLetterDestination' | 'deadLetterWithResourceIdentity'> {
  const { deadLetterDestination, deadLetterWithResourceIdentity: wrapped } = existing ?? {}
  if (deadLetter === undefined) return present({ deadLetterDestination, deadLetterWithResourceIdentity: wrapped })
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

function pick<T>(setting: Setting<T> | undefined, existing: T | null | undefined): T | undefined {
  if (setting === resetToDefault) return undefined
  return setting ?? existing ?? undefined
}

/** The fields that say something: without the service's null, and without what is empty or false. */
function present<Fields extends object>(fields: Fields): { [Key in keyof Fields]?: NonNullable<Fields[Key]> } {
  const found: { [Key in keyof Fields]?: NonNullable<Fields[Key]> } = {}
  for (const key in fields) {
    const value = fields[key]
    if (value && !isNothing(value)) found[key] = value
  }
  return found
}
