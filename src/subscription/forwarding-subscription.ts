import type { PullMetadata } from '../metadata/metadata.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { decidePut, type PutDecision, settingEntry, withoutUndefined } from './decide-put.ts'

/**
 * Decides what the event subscription needs that forwards a scope's events to the namespace topic. What the operator set
 * elsewhere stays, unless the metadata sets it.
 *
 * @param existing the `properties` that ARM holds; `undefined` where there is no event subscription
 */
export function decideForwarding(existing: UnknownRecord | undefined, pull: PullMetadata): PutDecision {
  const { namespaceTopic, settings, replaceDestination } = pull
  return decidePut(existing, {
    refusalOf({ destination }) {
      const { endpointType } = isRecord(destination) ? destination : {}
      if (endpointType === 'NamespaceTopic' || replaceDestination) return undefined
      return {
        because: `it delivers to ${String(endpointType)} and not to a namespace topic`,
        fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
      }
    },
    merge: (properties) => ({
      ...properties,
      destination: { endpointType: 'NamespaceTopic', properties: { resourceId: namespaceTopic.id } },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      filter: withoutUndefined({
        ...(isRecord(properties.filter) && properties.filter),
        ...settingEntry('includedEventTypes', settings.includedEventTypes),
        ...settingEntry('subjectBeginsWith', settings.subjectBeginsWith),
        ...settingEntry('subjectEndsWith', settings.subjectEndsWith),
        ...settingEntry('advancedFilters', settings.advancedFilters),
      }),
    }),
  })
}
