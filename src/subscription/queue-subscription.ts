import { isDeepStrictEqual } from 'node:util'
import type { AdvancedFilter, PullMetadata, Setting } from '../metadata/metadata.ts'
import { resetToDefault } from '../metadata/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { canonicalJson } from './canonical-json.ts'

/** What the metadata asks of a Queue event subscription: parts of its `properties`, in ARM's shape (2025-02-15). */
export interface DesiredQueue {
  readonly eventDeliverySchema: 'CloudEventSchemaV1_0'
  readonly queue: UnknownRecord
  readonly filters: UnknownRecord
}

/** What is to be done about the Queue event subscription. */
export type QueueUpsert =
  | { readonly action: 'keep' }
  | { readonly action: 'wait'; readonly state: string }
  | { readonly action: 'refuse'; readonly because: string; readonly fix: string }
  | { readonly action: 'put'; readonly because: string; readonly properties: UnknownRecord }

/** The settings of the metadata as a Queue event subscription has them. A forwarded scope has its filters elsewhere. */
export function desiredQueue({ settings, lockDurationSeconds, forwardedScope }: PullMetadata): DesiredQueue {
  const { maxDeliveryAttempts, eventTimeToLiveMinutes, deadLetter, includedEventTypes } = settings
  const conditions = [
    ...textFilter('StringBeginsWith', settings.subjectBeginsWith),
    ...textFilter('StringEndsWith', settings.subjectEndsWith),
    ...(typeof settings.advancedFilters === 'object' ? settings.advancedFilters : []),
  ]
  const setsConditions = [settings.subjectBeginsWith, settings.subjectEndsWith, settings.advancedFilters].some(
    (setting) => setting !== undefined,
  )
  return {
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    queue: {
      ...(lockDurationSeconds !== undefined && { receiveLockDurationInSeconds: lockDurationSeconds }),
      ...set('maxDeliveryCount', maxDeliveryAttempts, (count) => count),
      ...set('eventTimeToLive', eventTimeToLiveMinutes, (minutes) => `PT${minutes}M`),
      ...set('deadLetterDestinationWithResourceIdentity', deadLetter, ({ storageAccountId, container }) => ({
        identity: { type: 'SystemAssigned' },
        deadLetterDestination: {
          endpointType: 'StorageBlob',
          properties: { resourceId: storageAccountId, blobContainerName: container },
        },
      })),
    },
    filters: forwardedScope
      ? {}
      : {
          ...set('includedEventTypes', includedEventTypes, (types) => types),
          ...(setsConditions && { filters: conditions }),
        },
  }
}

/**
 * Decides what the Queue event subscription needs. What the operator set elsewhere stays, unless the metadata sets it.
 *
 * @param existing the `properties` that ARM holds; `undefined` where there is no event subscription
 */
export function decideQueueUpsert(existing: UnknownRecord | undefined, desired: DesiredQueue): QueueUpsert {
  if (existing === undefined) {
    return { action: 'put', because: 'there is none', properties: merge({}, desired) }
  }
  const { provisioningState, ...properties } = existing
  const delivery = isRecord(properties.deliveryConfiguration) ? properties.deliveryConfiguration : {}
  if (delivery.deliveryMode !== 'Queue') {
    const because = `it delivers by ${String(delivery.deliveryMode)} and not by Queue`
    return { action: 'refuse', because, fix: 'choose another eventSubscriptionName, or delete the event subscription' }
  }
  if (provisioningState === 'Creating' || provisioningState === 'Updating' || provisioningState === 'Deleting') {
    return { action: 'wait', state: provisioningState }
  }
  const merged = merge(properties, desired)
  const isSame = isDeepStrictEqual(canonicalJson(merged), canonicalJson(properties))
  if (isSame && provisioningState === 'Succeeded') return { action: 'keep' }
  const because = isSame
    ? `its state is ${String(provisioningState)}`
    : `${differing(properties, merged)} differ from the metadata`
  return { action: 'put', because, properties: merged }
}

const queueOf = ({ deliveryConfiguration }: UnknownRecord): UnknownRecord =>
  isRecord(deliveryConfiguration) && isRecord(deliveryConfiguration.queue) ? deliveryConfiguration.queue : {}

function merge(properties: UnknownRecord, { eventDeliverySchema, queue, filters }: DesiredQueue): UnknownRecord {
  const filtersConfiguration = {
    ...(isRecord(properties.filtersConfiguration) && properties.filtersConfiguration),
    ...filters,
  }
  return {
    ...properties,
    eventDeliverySchema,
    deliveryConfiguration: { deliveryMode: 'Queue', queue: withoutUndefined({ ...queueOf(properties), ...queue }) },
    ...(Object.keys(filtersConfiguration).length > 0 && {
      filtersConfiguration: withoutUndefined(filtersConfiguration),
    }),
  }
}

function differing(before: UnknownRecord, after: UnknownRecord): string {
  const names = ['deliveryConfiguration', 'filtersConfiguration', 'eventDeliverySchema']
  return names
    .filter((name) => !isDeepStrictEqual(canonicalJson(before[name]), canonicalJson(after[name])))
    .join(' and ')
}

const withoutUndefined = (record: UnknownRecord): UnknownRecord =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

/** A field that the metadata sets; `default` takes it out of what ARM holds. */
function set<Value>(
  name: string,
  setting: Setting<Value> | undefined,
  toArm: (value: Value) => unknown,
): UnknownRecord {
  if (setting === undefined) return {}
  return { [name]: setting === resetToDefault ? undefined : toArm(setting) }
}

function textFilter(operatorType: string, setting: Setting<string> | undefined): readonly AdvancedFilter[] {
  return typeof setting === 'string' && setting !== '' ? [{ operatorType, key: 'subject', values: [setting] }] : []
}
