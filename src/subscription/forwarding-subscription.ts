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
    refusalOf(properties) {
      const { endpointType, identity } = destinationOf(properties)
      if (endpointType === 'NamespaceTopic' || replaceDestination) return undefined
      const elsewhere = `${endpointType ?? 'another destination'}${identity ? ' by a managed identity' : ''}`
      return {
        because: `it delivers to ${elsewhere} and not to a namespace topic`,
        fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
      }
    },
    merge: ({ destination: _destination, deliveryWithResourceIdentity: _wrapped, ...properties }) => ({
      ...properties,
      ...desiredDestination(namespaceTopic.id, existing ? destinationOf(existing) : {}),
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

interface ExistingDestination {
  readonly endpointType?: string
  /** The managed identity that Event Grid delivers by. */
  readonly identity?: UnknownRecord
}

function destinationOf({ destination, deliveryWithResourceIdentity: wrapped }: UnknownRecord): ExistingDestination {
  const inner = isRecord(wrapped) ? wrapped.destination : destination
  return {
    ...(isRecord(inner) && typeof inner.endpointType === 'string' && { endpointType: inner.endpointType }),
    ...(isRecord(wrapped) && { identity: isRecord(wrapped.identity) ? wrapped.identity : {} }),
  }
}

/** Keeps the managed identity of an event subscription that delivers to a namespace topic by it. */
function desiredDestination(resourceId: string, { endpointType, identity }: ExistingDestination): UnknownRecord {
  const destination = { endpointType: 'NamespaceTopic', properties: { resourceId } }
  return identity && endpointType === 'NamespaceTopic'
    ? { deliveryWithResourceIdentity: { identity, destination } }
    : { destination }
}
