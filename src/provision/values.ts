/** The values of an event subscription as Resource Manager spells them: types of what we read, and the one form in which they compare. */
import { z } from 'zod'
import { deliveryTokenHeader } from '../core/delivery-credential.ts'
import { isRecord, type UnknownRecord } from '../support/text/json-text.ts'
import { durationSeconds } from '../support/time/clock.ts'

const text = z.string().optional()
const flag = z.boolean().optional()
const filters = z.array(z.looseObject({})).optional()

const attribute = z.looseObject({
  name: text,
  type: text,
  properties: z.looseObject({ value: text, isSecret: flag, sourceField: text }).optional(),
})

const destination = z.looseObject({
  endpointType: text,
  properties: z
    .looseObject({
      endpointUrl: text,
      endpointBaseUrl: text,
      resourceId: text,
      azureActiveDirectoryTenantId: text,
      azureActiveDirectoryApplicationIdOrUri: text,
      deliveryAttributeMappings: z.array(attribute).optional(),
    })
    .optional(),
})

const blob = z.looseObject({ endpointType: text, properties: z.looseObject({}).optional() })
const blobByIdentity = z.looseObject({ deadLetterDestination: blob.optional() }).optional()

/** Only the members that we look at are named. Each other member is kept as it was read, through each write. */
const schema = z.looseObject({
  provisioningState: text,
  // Of a source outside of namespaces.
  destination: destination.optional(),
  deliveryWithResourceIdentity: z.looseObject({ destination: destination.optional() }).optional(),
  filter: z.looseObject({ advancedFilters: filters }).optional(),
  retryPolicy: z.looseObject({}).optional(),
  deadLetterDestination: blob.optional(),
  deadLetterWithResourceIdentity: blobByIdentity,
  // Of a namespace topic.
  deliveryConfiguration: z
    .looseObject({
      deliveryMode: text,
      queue: z.looseObject({ deadLetterDestinationWithResourceIdentity: blobByIdentity }).optional(),
    })
    .optional(),
  filtersConfiguration: z.looseObject({ filters }).optional(),
})

/** The `properties` of an event subscription, of any kind, with what ARM hides joined in. Holds secrets. */
export type SubscriptionProperties = z.infer<typeof schema>
export type Destination = NonNullable<SubscriptionProperties['destination']>
export type WebHookProperties = NonNullable<Destination['properties']>
export type DeliveryAttribute = z.infer<typeof attribute>

/** What an answer of ARM holds, or which part of it has a form that no event subscription has. */
export type ReadProperties =
  | { readonly properties: SubscriptionProperties }
  /** As a clause, without a value. */
  | { readonly fault: string }

/** Reads the `properties` of the JSON of a resource. */
export function readSubscriptionProperties(resource: unknown): ReadProperties {
  const given = isRecord(resource) ? resource.properties : undefined
  if (!isRecord(given)) return { fault: 'it has no properties' }
  const parsed = schema.safeParse(withoutNulls(given))
  if (parsed.success) return { properties: parsed.data }
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: '' }
  return { fault: `properties.${path.join('.')}: ${message}` }
}

/** The `properties` of the JSON of a resource; empty where there are none. */
export const propertiesIn = (resource: unknown): UnknownRecord =>
  isRecord(resource) && isRecord(resource.properties) ? resource.properties : {}

/** The attributes in the answer of `getDeliveryAttributes`. */
export function readAttributes(answer: unknown): readonly DeliveryAttribute[] {
  const parsed = z.looseObject({ value: z.array(attribute) }).safeParse(withoutNulls(answer))
  return parsed.success ? parsed.data.value : []
}

/** ARM sends null where nothing is set. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const set = Object.entries(value).filter(([name, member]) => member !== null && name !== '__proto__')
  return Object.fromEntries(set.map(([name, member]) => [name, withoutNulls(member)]))
}

type Destined = Pick<SubscriptionProperties, 'destination' | 'deliveryWithResourceIdentity'>

/** The destination, with or without a managed identity. */
export const destinationOf = ({ destination, deliveryWithResourceIdentity: wrapped }: Destined) =>
  wrapped ? wrapped.destination : destination

/** The properties of a web hook that Event Grid delivers to; `undefined` with any other destination. */
export function webHookOf(properties: Destined): WebHookProperties | undefined {
  const destination = destinationOf(properties)
  return destination?.endpointType === 'WebHook' ? (destination.properties ?? {}) : undefined
}

/**
 * Another destination in the place of the existing one. A managed identity that delivers to one of its kind is the operator's, and stays.
 */
export function withDestination<Given extends object>(
  { deliveryWithResourceIdentity: wrapped }: Destined,
  destination: Given & { readonly endpointType: string },
) {
  return wrapped?.destination?.endpointType === destination.endpointType
    ? { destination: undefined, deliveryWithResourceIdentity: { ...wrapped, destination } }
    : { destination, deliveryWithResourceIdentity: undefined }
}

/** The destination in words. */
export function destinationName(properties: Destined): string {
  const kind = destinationOf(properties)?.endpointType ?? 'another destination'
  return properties.deliveryWithResourceIdentity ? `${kind} by a managed identity` : kind
}

/** Whether a delivery attribute is the one that carries our credentials. */
export const isOurAttribute = ({ name }: DeliveryAttribute): boolean =>
  name?.toLowerCase() === deliveryTokenHeader.toLowerCase()

/** What ARM gives in place of a secret attribute's value. */
const hiddenValue = 'Hidden'

/** The name of an attribute of somebody else whose value ARM did not tell, so that a write of this destination would lose it. */
export function unreadableAttribute(destination: Destination | undefined): string | undefined {
  const unread = destination?.properties?.deliveryAttributeMappings?.find(
    (attribute) => !isOurAttribute(attribute) && !isValueKnown(attribute),
  )
  return unread && (unread.name ?? 'without a name')
}

/**
 * Whether the value of a delivery attribute is known. ARM leaves out a secret value, or has the word `Hidden` in its place.
 * Event Grid accepts no empty value, so an empty value is not known either.
 */
export function isValueKnown({ type, properties: { value, isSecret, sourceField } = {} }: DeliveryAttribute): boolean {
  if (type === 'Dynamic') return !isNothing(sourceField)
  return !isNothing(value) && !(isSecret === true && value === hiddenValue)
}

const changing: ReadonlySet<string | undefined> = new Set(['Creating', 'Updating', 'Deleting'])

/** Whether a change of the event subscription is under way. */
export const isChanging = ({ provisioningState }: SubscriptionProperties): boolean => changing.has(provisioningState)

/** Whether the event subscription delivers and no change is under way, so that a write could break its deliveries. */
export const isProvisioned = ({ provisioningState: state }: SubscriptionProperties): boolean =>
  state === undefined || state === 'Succeeded'

/** Whether Event Grid delivers now. During a change Event Grid delivers by the settings from before. */
export const isActive = ({ provisioningState: state }: SubscriptionProperties): boolean =>
  state === undefined || state === 'Succeeded' || state === 'Updating'

/** Does a member of JSON mean the same as no member? */
export function isNothing(value: unknown): boolean {
  if (value === undefined || value === '') return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0
}

/** The properties that can be written: without those that ARM fills in, and without members that say nothing. */
export function writable(properties: UnknownRecord): UnknownRecord {
  const { provisioningState: _state, topic: _topic, systemData: _data, ...rest } = properties
  return withoutNothing(rest)
}

/** Members that mean the same empty as missing. An empty value of any other member may say something, and stays. */
const sayNothingEmpty: ReadonlySet<string> = new Set([
  ...['destination', 'deliveryWithResourceIdentity', 'identity', 'properties', 'deliveryAttributeMappings'],
  ...['filter', 'subjectBeginsWith', 'subjectEndsWith', 'includedEventTypes', 'advancedFilters'],
  ...['labels', 'retryPolicy', 'expirationTimeUtc', 'eventDeliverySchema'],
  ...['deadLetterDestination', 'deadLetterWithResourceIdentity', 'deadLetterDestinationWithResourceIdentity'],
  ...['deliveryConfiguration', 'queue', 'filtersConfiguration', 'filters', 'eventTimeToLive'],
])

/** The JSON without members that say nothing. Members that we do not know are left as they are. */
export function withoutNothing(json: UnknownRecord): UnknownRecord {
  const members = Object.entries(json).map(([name, member]) => {
    if (!sayNothingEmpty.has(name)) return [name, member] as const
    const known = isRecord(member) ? withoutNothing(member) : member
    return [name, isNothing(known) ? undefined : known] as const
  })
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

/** What Event Grid uses where an event subscription says nothing (ARM reference of its event subscriptions). */
const serviceDefaults: UnknownRecord = {
  maxEventsPerBatch: 1,
  preferredBatchSizeInKilobytes: 64,
  maxDeliveryAttempts: 30,
  eventTimeToLiveInMinutes: 1440,
  receiveLockDurationInSeconds: 60,
  isSubjectCaseSensitive: false,
  enableAdvancedFilteringOnArrays: false,
  isSecret: false,
}

/** Lists whose order means nothing. */
const unordered: ReadonlySet<string> = new Set([
  ...['includedEventTypes', 'labels', 'advancedFilters', 'filters', 'values'],
])

const lowerCase = (text: string) => text.toLowerCase()

/** How texts compare that mean the same in several spellings. */
const spellings: Readonly<Record<string, (text: string) => unknown>> = {
  resourceId: lowerCase,
  azureActiveDirectoryTenantId: lowerCase,
  azureActiveDirectoryApplicationIdOrUri: lowerCase,
  endpointUrl: (url) => URL.parse(url)?.href ?? url,
  eventTimeToLive: (text) => durationSeconds(text) ?? text,
}

/**
 * The form in which event subscriptions compare: only what can be written, under ARM's names, and nothing that equals a default.
 * Delivery attributes stand by name.
 */
export function canonicalSubscription(properties: UnknownRecord): UnknownRecord {
  const { eventDeliverySchema, ...rest } = writable(properties)
  const defaultSchema = properties.deliveryConfiguration ? 'CloudEventSchemaV1_0' : 'EventGridSchema'
  const schema = eventDeliverySchema === defaultSchema ? {} : { eventDeliverySchema }
  return canonicalRecord({ ...rest, ...schema })
}

/** Any record within an event subscription, in the form in which records compare. */
export function canonicalRecord(record: UnknownRecord): UnknownRecord {
  const { endpointBaseUrl, endpointUrl = endpointBaseUrl, ...others } = record
  // The base URL is what ARM shows where it hides the URL.
  const members = { ...others, endpointUrl }
  const canonical = Object.entries(members)
    .map(([name, member]) => [name, canonicalValue(name, member)] as const)
    .filter(([name, member]) => !isNothing(member) && member !== serviceDefaults[name])
  return Object.fromEntries(canonical)
}

function canonicalValue(name: string, value: unknown): unknown {
  if (name === 'deliveryAttributeMappings' && Array.isArray(value)) return attributesByName(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => (isRecord(item) ? canonicalRecord(item) : item))
    return unordered.has(name) ? items.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1)) : items
  }
  if (isRecord(value)) return canonicalRecord(value)
  return typeof value === 'string' ? (spellings[name]?.(value) ?? value) : value
}

const keyOf = (item: unknown) => JSON.stringify(item)

function attributesByName(mappings: readonly unknown[]): UnknownRecord {
  return Object.fromEntries(
    mappings.filter(isRecord).map(({ name, ...rest }) => [String(name).toLowerCase(), canonicalRecord(rest)]),
  )
}
