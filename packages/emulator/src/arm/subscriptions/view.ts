// How ARM shows an event subscription: hidden secrets, `endpointBaseUrl`, filled-in defaults.
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { type Destination, deliveryAttributesOf } from '../../model/resources/destination.ts'
import {
  destinationOf,
  type EventSubscription,
  type EventSubscriptionProperties,
} from '../../model/resources/event-subscription.ts'
import { visibleIn } from '../call/api-versions.ts'

export interface ViewOptions {
  readonly apiVersion: string
  /** `sparse`: only the requested settings, as in the answer of a write. `filled`: with all defaults. */
  readonly detail: 'sparse' | 'filled'
  /** Whether secret delivery attributes are shown in clear, as in the answer of a creating PUT. */
  readonly secrets: 'shown' | 'hidden'
  /** The default event types of the source, where they are listed. */
  readonly defaultEventTypes?: readonly string[] | undefined
}

/** An event subscription as Azure Resource Manager shows it: the URL without its query, secrets as `Hidden`. */
export function viewEventSubscription(
  subscription: EventSubscription,
  options: ViewOptions,
  { id, type }: { readonly id: string; readonly type: string },
) {
  const { name, properties, provisioningState, scope } = subscription
  // Without a filter the first answer too has the defaults of filter and retry policy (recorded, 2026; not in 2018).
  const filled = options.detail === 'filled' || (properties.filter === undefined && options.apiVersion >= '2019')
  const delivery = properties.deliveryWithResourceIdentity
  // With a filter the first answer has those of the retry policy too (recorded, 2024 and 2025; not in 2022).
  const retryPolicy =
    filled || options.apiVersion >= '2023'
      ? { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440, ...properties.retryPolicy }
      : properties.retryPolicy
  return {
    properties: visibleIn(options.apiVersion, {
      topic: sourceId(scope, options.apiVersion),
      provisioningState,
      labels: properties.labels ?? null,
      destination: properties.destination && viewDestination(properties.destination, options),
      deliveryWithResourceIdentity: delivery && {
        ...delivery,
        destination: viewDestination(delivery.destination, options),
      },
      filter: viewFilter(properties, options, filled),
      eventDeliverySchema: properties.eventDeliverySchema,
      retryPolicy,
      expirationTimeUtc: properties.expirationTimeUtc,
      deadLetterDestination: properties.deadLetterDestination,
      deadLetterWithResourceIdentity: properties.deadLetterWithResourceIdentity,
    }),
    id,
    name,
    type,
    ...visibleIn(options.apiVersion, { systemData: null }),
  }
}

/** The body of getDeliveryAttributes: secrets in clear. */
export function viewDeliveryAttributes(properties: EventSubscriptionProperties) {
  const mappings = deliveryAttributesOf(destinationOf(properties))
  // Null where there are none (recorded, PowerShell 2024).
  return { value: mappings?.map((mapping) => withSecretFlag(mapping, 'shown')) ?? null }
}

function viewDestination(destination: Destination, options: ViewOptions) {
  const { endpointType, properties } = destination
  const mappings = deliveryAttributesOf(destination)
  const attributes = mappings && {
    deliveryAttributeMappings: mappings.map((mapping) => withSecretFlag(mapping, options.secrets)),
  }
  const isBatched = endpointType === 'WebHook' || endpointType === 'AzureFunction'
  const batch = isBatched && options.detail === 'filled' && { maxEventsPerBatch: 1, preferredBatchSizeInKilobytes: 64 }
  if (endpointType !== 'WebHook') {
    return { endpointType, properties: visibleIn(options.apiVersion, { ...batch, ...properties, ...attributes }) }
  }
  const { endpointUrl, ...rest } = properties
  const shown = {
    ...batch,
    ...rest,
    endpointUrl: null,
    endpointBaseUrl: baseUrlOf(endpointUrl),
    ...attributes,
  }
  return { endpointType, properties: visibleIn(options.apiVersion, shown) }
}

function viewFilter(
  properties: EventSubscriptionProperties,
  { apiVersion, detail, defaultEventTypes }: ViewOptions,
  filled: boolean,
) {
  const { isSubjectCaseSensitive, ...filter } = properties.filter ?? {}
  // In the versions of 2018 the answer of a write has only the types that were sent.
  const filledIn = detail === 'filled' || apiVersion >= '2019'
  return visibleIn(apiVersion, {
    ...(filled && { subjectBeginsWith: '', subjectEndsWith: '' }),
    ...filter,
    includedEventTypes: filter.includedEventTypes ?? (filledIn ? defaultEventTypes : undefined),
    // False is never echoed.
    ...(isSubjectCaseSensitive && { isSubjectCaseSensitive }),
  })
}

function withSecretFlag(mapping: unknown, secrets: 'shown' | 'hidden'): unknown {
  if (!isRecord(mapping) || mapping.type !== 'Static' || !isRecord(mapping.properties)) return mapping
  const { properties } = mapping
  const isSecret = properties.isSecret === true
  const hidden = isSecret && secrets === 'hidden' ? { value: 'Hidden' } : {}
  return { ...mapping, properties: { ...properties, isSecret, ...hidden } }
}

/** `properties.topic`: the source's id with provider, types and names in lower case; as it is since 2025-07-15-preview (recorded, 2026). */
const sourceId = (scope: string, apiVersion: string) =>
  apiVersion >= '2025-07' ? scope : scope.replace(/\/providers\/.*$/i, (resource) => resource.toLowerCase())

/** Without its query, and without the port that https has anyway (recorded, .NET 2025). */
const baseUrlOf = (url: string) => url.replace(/[?#].*$/s, '').replace(/^(https:\/\/[^/]+?):443(?=\/|$)/i, '$1')
