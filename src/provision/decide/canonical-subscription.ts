/** The one form in which event subscriptions are compared, of push and pull: defaults left out, durations by value, lists without order. */
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'
import { durationSeconds } from '../../support/time/iso-duration.ts'
import { isNothing, writable } from './subscription-properties.ts'

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
 * An event subscription as it compares: only what can be written, under ARM's names, and nothing that says no more than a default.
 * Delivery attributes stand by name.
 */
export function canonicalSubscription(properties: UnknownRecord): UnknownRecord {
  const { eventDeliverySchema, ...rest } = writable(properties)
  const defaultSchema = properties.deliveryConfiguration ? 'CloudEventSchemaV1_0' : 'EventGridSchema'
  const schema = eventDeliverySchema === defaultSchema ? {} : { eventDeliverySchema }
  return canonicalRecord({ ...rest, ...schema })
}

/** The same of any record within one. */
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
  if (name === 'includedEventTypes' && areAllEventTypes(value)) return undefined
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

/** Event types that say no more than the default does: the word that the API of 2018 gave for all. */
export const areAllEventTypes = (types: unknown): boolean =>
  Array.isArray(types) && types.length === 1 && String(types[0]).toLowerCase() === 'all'
