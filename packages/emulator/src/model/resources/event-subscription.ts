/** Which settings an event subscription has, with their limits, and which of them are in force in each provisioning state. */
import { z } from 'zod'
import { byMember, enumeration, type ReadonlyDeep } from '../schemas.ts'
import { type Destination, deadLetterDestination, destination, destinationIdentity } from './destination.ts'

const stringOperators = [
  ...(['StringIn', 'StringNotIn', 'StringBeginsWith', 'StringNotBeginsWith'] as const),
  ...(['StringEndsWith', 'StringNotEndsWith', 'StringContains', 'StringNotContains'] as const),
] as const

const numberListOperators = ['NumberIn', 'NumberNotIn'] as const
const rangeOperators = ['NumberInRange', 'NumberNotInRange'] as const
const numberOperators = [
  ...(['NumberLessThan', 'NumberLessThanOrEquals'] as const),
  ...(['NumberGreaterThan', 'NumberGreaterThanOrEquals'] as const),
] as const
const keyOperators = ['IsNullOrUndefined', 'IsNotNull'] as const

export type StringOperator = (typeof stringOperators)[number]

/** The schema of an advanced filter. @param value a text to compare with @param minValues fewest items of a list */
export function advancedFilterSchema(value: z.ZodString, minValues: 0 | 1) {
  const key = z.string().min(1)
  const atLeast = <Item extends z.ZodType>(list: z.ZodArray<Item>) => list.min(minValues)
  return byMember(
    'operatorType',
    [
      ...numberListOperators,
      ...rangeOperators,
      ...numberOperators,
      ...stringOperators,
      ...['BoolEquals'],
      ...keyOperators,
    ],
    z.discriminatedUnion('operatorType', [
      z.object({ operatorType: z.enum(numberListOperators), key, values: atLeast(z.array(z.number())) }),
      z.object({
        operatorType: z.enum(rangeOperators),
        key,
        values: atLeast(z.array(z.tuple([z.number(), z.number()]))),
      }),
      z.object({ operatorType: z.enum(numberOperators), key, value: z.number() }),
      z.object({ operatorType: z.enum(stringOperators), key, values: atLeast(z.array(value)) }),
      z.object({ operatorType: z.literal('BoolEquals'), key, value: z.boolean() }),
      z.object({ operatorType: z.enum(keyOperators), key }),
    ]),
  )
}

/** One condition on a field of the event. */
export type AdvancedFilter = ReadonlyDeep<z.infer<ReturnType<typeof advancedFilterSchema>>>

/** The maximum of advanced filters of a subscription, and of values in all of them (Event Grid: event-filtering). */
const maxAdvancedFilters = 25
const maxFilterText = 512

const text = z.string()
const filterText = text.max(maxFilterText, `must be no longer than ${maxFilterText} characters`)
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

/** Settings of an event subscription in ARM's shape, as requested: with secrets, without defaults. */
export const eventSubscriptionSettings = z.object({
  destination: z.exactOptional(destination),
  deliveryWithResourceIdentity: z.exactOptional(
    z.object({ identity: z.exactOptional(destinationIdentity), destination }),
  ),
  filter: z.exactOptional(filter),
  labels: z.exactOptional(z.array(text)),
  /** ISO 8601. */
  expirationTimeUtc: z.exactOptional(text),
  /** Absent: `EventGridSchema`. */
  eventDeliverySchema: z.exactOptional(enumeration('EventGridSchema', 'CustomInputSchema', 'CloudEventSchemaV1_0')),
  retryPolicy: z.exactOptional(
    z.object({
      maxDeliveryAttempts: z.exactOptional(z.int().min(1).max(30)),
      eventTimeToLiveInMinutes: z.exactOptional(z.int().min(1).max(1440)),
    }),
  ),
  deadLetterDestination: z.exactOptional(deadLetterDestination),
  deadLetterWithResourceIdentity: z.exactOptional(
    z.object({ identity: z.exactOptional(destinationIdentity), deadLetterDestination }),
  ),
})

/** Settings of an event subscription in ARM's shape, as requested: with secrets, without defaults. */
export type EventSubscriptionProperties = ReadonlyDeep<z.infer<typeof eventSubscriptionSettings>>
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
export function takingEvents(subscription: EventSubscription): EventSubscription | undefined {
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
