import type { AdvancedFilter, PullMetadata, Setting } from '../metadata/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { decidePut, type PutDecision, settingEntry, withoutUndefined } from './decide-put.ts'

/**
 * Decides what the Queue event subscription needs. What the operator set elsewhere stays, unless the metadata sets it.
 *
 * @param existing the `properties` that ARM holds; `undefined` where there is no event subscription
 */
export function decideQueueUpsert(existing: UnknownRecord | undefined, pull: PullMetadata): PutDecision {
  return decidePut(existing, {
    refusalOf({ deliveryConfiguration }) {
      const { deliveryMode } = isRecord(deliveryConfiguration) ? deliveryConfiguration : {}
      if (deliveryMode === 'Queue') return undefined
      return {
        because: `it delivers by ${String(deliveryMode)} and not by Queue`,
        fix: 'choose another eventSubscriptionName, or delete the event subscription',
      }
    },
    merge(properties) {
      const filtersConfiguration = {
        ...(isRecord(properties.filtersConfiguration) && properties.filtersConfiguration),
        ...desiredFilters(pull),
      }
      return {
        ...properties,
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        deliveryConfiguration: {
          deliveryMode: 'Queue',
          queue: withoutUndefined({ ...queueOf(properties), ...desiredQueue(pull) }),
        },
        ...(Object.keys(filtersConfiguration).length > 0 && {
          filtersConfiguration: withoutUndefined(filtersConfiguration),
        }),
      }
    },
  })
}

const queueOf = ({ deliveryConfiguration }: UnknownRecord): UnknownRecord =>
  isRecord(deliveryConfiguration) && isRecord(deliveryConfiguration.queue) ? deliveryConfiguration.queue : {}

/** The settings of the metadata in ARM's shape (2025-02-15). */
function desiredQueue({ settings, lockDurationSeconds }: PullMetadata): UnknownRecord {
  const { maxDeliveryAttempts, eventTimeToLiveMinutes, deadLetter } = settings
  return {
    ...settingEntry('receiveLockDurationInSeconds', lockDurationSeconds),
    ...settingEntry('maxDeliveryCount', maxDeliveryAttempts),
    ...settingEntry('eventTimeToLive', eventTimeToLiveMinutes, (minutes) => `PT${minutes}M`),
    ...settingEntry('deadLetterDestinationWithResourceIdentity', deadLetter, ({ storageAccountId, container }) => ({
      identity: { type: 'SystemAssigned' },
      deadLetterDestination: {
        endpointType: 'StorageBlob',
        properties: { resourceId: storageAccountId, blobContainerName: container },
      },
    })),
  }
}

/** A forwarded scope has its filters in the event subscription that forwards. */
function desiredFilters({ settings, forwardedScope }: PullMetadata): UnknownRecord {
  if (forwardedScope) return {}
  const { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = settings
  const isSet = [subjectBeginsWith, subjectEndsWith, advancedFilters].some((setting) => setting !== undefined)
  const filters = [
    ...textFilter('StringBeginsWith', subjectBeginsWith),
    ...textFilter('StringEndsWith', subjectEndsWith),
    ...(typeof advancedFilters === 'object' ? advancedFilters : []),
  ]
  return { ...settingEntry('includedEventTypes', includedEventTypes), ...(isSet && { filters }) }
}

function textFilter(operatorType: string, setting: Setting<string> | undefined): readonly AdvancedFilter[] {
  return typeof setting === 'string' && setting !== '' ? [{ operatorType, key: 'subject', values: [setting] }] : []
}
