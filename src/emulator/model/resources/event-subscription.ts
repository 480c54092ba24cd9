// Event subscriptions: provisioning states, and settings with their limits: 25 filters, 512 characters, 10 delivery attributes.
import { z } from 'zod'
import type { ReadonlyDeep } from '../readonly-deep.ts'
import { type AdvancedFilter, advancedFilterSchema } from './advanced-filter.ts'

/** The maximum of advanced filters of a subscription, and of values in all of them (Event Grid: event-filtering). */
const maxAdvancedFilters = 25
const maxFilterText = 512
const maxDeliveryAttributes = 10
const maxAttributeBytes = 4096

const text = z.string()
const filterText = text.max(maxFilterText, `must be no longer than ${maxFilterText} characters`)
const endpointTypes = [
  'EventHub',
  'HybridConnection',
  'ServiceBusQueue',
  'ServiceBusTopic',
  'AzureFunction',
  'MonitorAlert',
  'NamespaceTopic',
] as const

const deliveryAttribute = z.discriminatedUnion('type', [
  z.object({
    name: text.min(1),
    type: z.literal('Static'),
    properties: z.object({
      value: text.refine((value) => Buffer.byteLength(value) <= maxAttributeBytes, {
        message: `must be no longer than ${maxAttributeBytes} bytes`,
      }),
      isSecret: z.exactOptional(z.boolean()),
    }),
  }),
  z.object({
    name: text.min(1),
    type: z.literal('Dynamic'),
    properties: z.object({ sourceField: text.min(1) }),
  }),
])

/** A webhook destination as requested: with secrets, without defaults. */
const webHook = z.object({
  // The whole URL, query and all. A missing one gets the same answer as an invalid one, so it is checked
  // afterwards.
  endpointUrl: text.catch(''),
  maxEventsPerBatch: z.exactOptional(z.int().min(1).max(5000)),
  preferredBatchSizeInKilobytes: z.exactOptional(z.int().min(1).max(1024)),
  azureActiveDirectoryTenantId: z.exactOptional(text),
  azureActiveDirectoryApplicationIdOrUri: z.exactOptional(text),
  deliveryAttributeMappings: z.exactOptional(
    z.array(deliveryAttribute).max(maxDeliveryAttributes, `must have no more than ${maxDeliveryAttributes} items`),
  ),
  minimumTlsVersionAllowed: z.exactOptional(z.enum(['1.0', '1.1', '1.2'])),
})

/** With the names that Azure Storage allows: an address is made of them. */
const storageQueue = z.looseObject({
  resourceId: text.regex(
    /^\/subscriptions(\/[^/?#\s]+)+\/storageAccounts\/[a-z0-9]{3,24}$/i,
    'must be the id of a storage account',
  ),
  queueName: text.max(63).regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be the name of a queue'),
  queueMessageTimeToLiveInSeconds: z.exactOptional(z.union([z.literal(-1), z.int().min(1)])),
})

const destination = z.discriminatedUnion('endpointType', [
  z.object({ endpointType: z.literal('WebHook'), properties: webHook.default({ endpointUrl: '' }) }),
  z.object({ endpointType: z.literal('StorageQueue'), properties: storageQueue }),
  z.object({ endpointType: z.enum(endpointTypes), properties: z.record(text, z.unknown()).default({}) }),
])

const filter = z.object({
  subjectBeginsWith: z.exactOptional(filterText),
  subjectEndsWith: z.exactOptional(filterText),
  /** Absent or `['All']`: every type. */
  includedEventTypes: z.exactOptional(z.array(filterText)),
  isSubjectCaseSensitive: z.exactOptional(z.boolean()),
  enableAdvancedFilteringOnArrays: z.exactOptional(z.boolean()),
  advancedFilters: z.exactOptional(
    z
      .array(advancedFilterSchema(filterText, 0))
      .max(maxAdvancedFilters, `must have no more than ${maxAdvancedFilters} items`)
      .refine((all) => all.reduce((sum, one) => sum + valuesOf(one), 0) <= maxAdvancedFilters, {
        message: `must have no more than ${maxAdvancedFilters} values in all`,
      }),
  ),
})

function valuesOf(one: AdvancedFilter): number {
  if ('values' in one) return one.values.length
  return 'value' in one ? 1 : 0
}

/** A blob container for events that could not be delivered. */
export const deadLetterDestination = z.object({
  endpointType: z.literal('StorageBlob'),
  properties: z.object({ resourceId: text.min(1), blobContainerName: text.min(1) }),
})

/** Settings of an event subscription in ARM's shape, as requested: with secrets, without defaults. */
export const eventSubscriptionSettings = z.object({
  destination: z.exactOptional(destination),
  deliveryWithResourceIdentity: z.exactOptional(z.object({ identity: z.exactOptional(z.unknown()), destination })),
  filter: z.exactOptional(filter),
  labels: z.exactOptional(z.array(text)),
  /** ISO 8601. */
  expirationTimeUtc: z.exactOptional(text),
  /** Absent: `EventGridSchema`. */
  eventDeliverySchema: z.exactOptional(z.enum(['EventGridSchema', 'CustomInputSchema', 'CloudEventSchemaV1_0'])),
  retryPolicy: z.exactOptional(
    z.object({
      maxDeliveryAttempts: z.exactOptional(z.int().min(1).max(30)),
      eventTimeToLiveInMinutes: z.exactOptional(z.int().min(1).max(1440)),
    }),
  ),
  deadLetterDestination: z.exactOptional(deadLetterDestination),
  deadLetterWithResourceIdentity: z.exactOptional(
    z.object({ identity: z.exactOptional(z.unknown()), deadLetterDestination }),
  ),
})

/** Settings of an event subscription in ARM's shape, as requested: with secrets, without defaults. */
export type EventSubscriptionProperties = ReadonlyDeep<z.infer<typeof eventSubscriptionSettings>>
/** Where a subscription delivers to: to webhooks and storage queues; others are stored and shown. */
export type Destination = NonNullable<EventSubscriptionProperties['destination']>
export type WebHookProperties = Extract<Destination, { endpointType: 'WebHook' }>['properties']
export type DeliveryAttributeMapping = NonNullable<WebHookProperties['deliveryAttributeMappings']>[number]
export type DeadLetterDestination = NonNullable<EventSubscriptionProperties['deadLetterDestination']>
export type SubscriptionFilter = NonNullable<EventSubscriptionProperties['filter']>
/** The schema of the events that a subscription delivers. */
export type DeliverySchema = NonNullable<EventSubscriptionProperties['eventDeliverySchema']>

/** The provisioning state of an event subscription. */
export type ProvisioningState =
  | 'Creating'
  | 'Updating'
  | 'Deleting'
  | 'Succeeded'
  | 'Canceled'
  | 'Failed'
  | 'AwaitingManualAction'

/** An event subscription. Immutable: a change stores a new object under the same id. */
export interface EventSubscription {
  /** `{scope}/providers/Microsoft.EventGrid/eventSubscriptions/{name}`, in the letter case of its creation. */
  readonly id: string
  /** The source's resource id, with a leading slash. */
  readonly scope: string
  readonly name: string
  readonly properties: EventSubscriptionProperties
  readonly provisioningState: ProvisioningState
  /** The settings of the last success, by which events are delivered: only where `properties` are others, of an update. */
  readonly inForce?: EventSubscriptionProperties
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The event subscription with the settings by which its events are delivered; undefined before its first success. */
export function deliveredBy(subscription: EventSubscription): EventSubscription | undefined {
  const { inForce, ...rest } = subscription
  if (subscription.provisioningState === 'Succeeded') return subscription
  return inForce && { ...rest, properties: inForce }
}

/** The same for new events, which are taken in `Succeeded` and during an update. */
export function takenBy(subscription: EventSubscription): EventSubscription | undefined {
  const isOpen = subscription.provisioningState === 'Succeeded' || subscription.provisioningState === 'Updating'
  return isOpen ? deliveredBy(subscription) : undefined
}

/** A new state of an event subscription, with the settings that stay in force by its former state. */
export function withInForce(next: EventSubscription, former: EventSubscription | undefined): EventSubscription {
  const { inForce: _, ...rest } = next
  const settings = former && deliveredBy(former)?.properties
  return rest.provisioningState === 'Succeeded' || !settings ? rest : { ...rest, inForce: settings }
}

/** The destination, with or without a managed identity. */
export function destinationOf(properties: EventSubscriptionProperties): Destination | undefined {
  return properties.destination ?? properties.deliveryWithResourceIdentity?.destination
}
