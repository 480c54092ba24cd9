// Types of event subscriptions, destinations, filter operators, provisioning states; random keys, resource ids.
import { randomBytes } from 'node:crypto'

/** The schema of the events that a topic accepts. */
export type InputSchema = 'EventGridSchema' | 'CustomEventSchema' | 'CloudEventSchemaV1_0'

/** The schema of the events that a subscription delivers. */
export type DeliverySchema = 'EventGridSchema' | 'CustomInputSchema' | 'CloudEventSchemaV1_0'

export interface MappedField {
  readonly sourceField?: string
  readonly defaultValue?: string
}

/** How a `CustomEventSchema` topic finds the Event Grid fields, in ARM's shape. */
export interface InputSchemaMapping {
  readonly inputSchemaMappingType: 'Json'
  readonly properties: {
    readonly id?: { readonly sourceField?: string }
    readonly topic?: { readonly sourceField?: string }
    readonly eventTime?: { readonly sourceField?: string }
    readonly eventType?: MappedField
    readonly subject?: MappedField
    readonly dataVersion?: MappedField
  }
}

/** A header of each delivery. */
export type DeliveryAttributeMapping =
  | {
      readonly name: string
      readonly type: 'Static'
      readonly properties: { readonly value: string; readonly isSecret?: boolean }
    }
  | { readonly name: string; readonly type: 'Dynamic'; readonly properties: { readonly sourceField: string } }

/** A webhook destination as requested: with secrets, without defaults. */
export interface WebHookProperties {
  /** The whole URL, query and all. */
  readonly endpointUrl: string
  readonly maxEventsPerBatch?: number
  readonly preferredBatchSizeInKilobytes?: number
  readonly azureActiveDirectoryTenantId?: string
  readonly azureActiveDirectoryApplicationIdOrUri?: string
  readonly deliveryAttributeMappings?: readonly DeliveryAttributeMapping[]
  readonly minimumTlsVersionAllowed?: string
}

/** Where a subscription delivers to. The emulator delivers to webhooks; others are stored and shown. */
export type Destination =
  | { readonly endpointType: 'WebHook'; readonly properties: WebHookProperties }
  | { readonly endpointType: OtherEndpointType; readonly properties: Readonly<Record<string, unknown>> }

export type OtherEndpointType =
  | 'EventHub'
  | 'StorageQueue'
  | 'HybridConnection'
  | 'ServiceBusQueue'
  | 'ServiceBusTopic'
  | 'AzureFunction'
  | 'MonitorAlert'
  | 'NamespaceTopic'

/** The operators of advanced filters, by the form of what they compare with. */
export const filterOperators = {
  numbers: ['NumberIn', 'NumberNotIn'],
  ranges: ['NumberInRange', 'NumberNotInRange'],
  number: ['NumberLessThan', 'NumberGreaterThan', 'NumberLessThanOrEquals', 'NumberGreaterThanOrEquals'],
  strings: [
    'StringIn',
    'StringNotIn',
    'StringBeginsWith',
    'StringNotBeginsWith',
    'StringEndsWith',
    'StringNotEndsWith',
    'StringContains',
    'StringNotContains',
  ],
} as const

type OperatorOf<Form extends keyof typeof filterOperators> = (typeof filterOperators)[Form][number]
export type StringOperator = OperatorOf<'strings'>

/** One condition on a field of the event. */
export type AdvancedFilter =
  | { readonly operatorType: OperatorOf<'numbers'>; readonly key: string; readonly values: readonly number[] }
  | {
      readonly operatorType: OperatorOf<'ranges'>
      readonly key: string
      readonly values: readonly (readonly [number, number])[]
    }
  | { readonly operatorType: OperatorOf<'number'>; readonly key: string; readonly value: number }
  | { readonly operatorType: StringOperator; readonly key: string; readonly values: readonly string[] }
  | { readonly operatorType: 'BoolEquals'; readonly key: string; readonly value: boolean }
  | { readonly operatorType: 'IsNullOrUndefined' | 'IsNotNull'; readonly key: string }

/** The filter of an event subscription. */
export interface SubscriptionFilter {
  readonly subjectBeginsWith?: string
  readonly subjectEndsWith?: string
  /** Absent or `['All']`: every type. */
  readonly includedEventTypes?: readonly string[]
  readonly isSubjectCaseSensitive?: boolean
  readonly enableAdvancedFilteringOnArrays?: boolean
  readonly advancedFilters?: readonly AdvancedFilter[]
}

/** A blob container for events that could not be delivered. */
export interface DeadLetterDestination {
  readonly endpointType: 'StorageBlob'
  readonly properties: { readonly resourceId: string; readonly blobContainerName: string }
}

/** Settings of an event subscription in ARM's shape, as requested: with secrets, without defaults. */
export interface EventSubscriptionProperties {
  readonly destination?: Destination
  readonly deliveryWithResourceIdentity?: { readonly identity?: unknown; readonly destination: Destination }
  readonly filter?: SubscriptionFilter
  readonly labels?: readonly string[]
  /** ISO 8601. */
  readonly expirationTimeUtc?: string
  /** Absent: `EventGridSchema`. */
  readonly eventDeliverySchema?: DeliverySchema
  readonly retryPolicy?: { readonly maxDeliveryAttempts?: number; readonly eventTimeToLiveInMinutes?: number }
  readonly deadLetterDestination?: DeadLetterDestination
  readonly deadLetterWithResourceIdentity?: {
    readonly identity?: unknown
    readonly deadLetterDestination: DeadLetterDestination
  }
}

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
  /** Events are delivered in `Succeeded`, and in `Updating` by the previous settings. */
  readonly provisioningState: ProvisioningState
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** A resource id with its leading slash and without a trailing one, however it was written. */
export function asResourceId(id: string): string {
  return `/${id.replace(/^\/|\/$/g, '')}`
}

/** A new topic key in Event Grid's form: 32 random bytes, base64. */
export function randomKey(): string {
  return randomBytes(32).toString('base64')
}

/** The resource id of an event subscription. @param scope the source's resource id */
export function eventSubscriptionId(scope: string, name: string): string {
  return `${scope}/providers/Microsoft.EventGrid/eventSubscriptions/${name}`
}

/** The destination, with or without a managed identity. */
export function destinationOf(properties: EventSubscriptionProperties): Destination | undefined {
  return properties.destination ?? properties.deliveryWithResourceIdentity?.destination
}
