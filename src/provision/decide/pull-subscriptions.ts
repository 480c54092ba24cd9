// Pull's event subscriptions, Queue and forwarding: ARM paths, lock duration, delivery count, filters, dead letter.
import type { AdvancedFilter } from '../../metadata/fields/advanced-filters.ts'
import { resetToDefault, type Setting } from '../../metadata/fields/setting.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'
import type { SubscriptionPlace } from '../arm/namespace-arm.ts'
import { chooseSubscriptionPath } from '../arm/subscription-path.ts'
import type { FailureContext } from '../explain/explain-failure.ts'
import { decidePut, type PutDecision, type PutRules } from './decide-put.ts'

/** An event subscription that pull delivery needs. */
export interface PullSubscription extends SubscriptionPlace {
  readonly pathKind: FailureContext['pathKind']
  /**
   * Decides what it needs (pure). What the operator set elsewhere stays, unless the metadata sets it.
   *
   * @param existing the `properties` that ARM holds; `undefined` where there is no event subscription
   */
  decide(existing: UnknownRecord | undefined): PutDecision
}

/** The Queue event subscription of the namespace topic; then, if another scope's events are forwarded to it, that of the scope. */
export function pullSubscriptions(pull: PullMetadata): readonly PullSubscription[] {
  const { namespaceTopic, forwardedScope, eventSubscriptionName: name } = pull
  const queue: PullSubscription = {
    id: `${namespaceTopic.id}/eventSubscriptions/${name}`,
    sourceId: namespaceTopic.id,
    pathKind: 'namespaceTopic',
    decide: (existing) => decidePut(existing, queueRules(pull)),
  }
  if (!forwardedScope) return [queue]
  const { id: sourceId } = forwardedScope
  const { kind: pathKind } = chooseSubscriptionPath(forwardedScope)
  const provider = pathKind === 'extension' ? '/providers/Microsoft.EventGrid' : ''
  const forwarding: PullSubscription = {
    id: `${sourceId}${provider}/eventSubscriptions/${name}`,
    sourceId,
    pathKind,
    decide: (existing) => decidePut(existing, forwardingRules(pull)),
  }
  return [queue, forwarding]
}

/** In ARM's shape of 2025-02-15. A forwarded scope has its filters in the event subscription that forwards. */
function queueRules(pull: PullMetadata): PutRules {
  const { settings, lockDurationSeconds, forwardedScope } = pull
  const deadLetter = mapSetting(settings.deadLetter, ({ storageAccountId, container }) => ({
    identity: { type: 'SystemAssigned' },
    deadLetterDestination: {
      endpointType: 'StorageBlob',
      properties: { resourceId: storageAccountId, blobContainerName: container },
    },
  }))
  return {
    refusalOf({ deliveryConfiguration }) {
      const { deliveryMode } = isRecord(deliveryConfiguration) ? deliveryConfiguration : {}
      if (deliveryMode === 'Queue') return undefined
      return {
        because: `it delivers by ${String(deliveryMode)} and not by Queue`,
        fix: 'choose another eventSubscriptionName, or delete the event subscription',
      }
    },
    merge(properties) {
      const { deliveryConfiguration, filtersConfiguration } = properties
      const filters = withSettings(filtersConfiguration, forwardedScope ? {} : queueFilters(settings))
      const queue = withSettings(isRecord(deliveryConfiguration) ? deliveryConfiguration.queue : undefined, {
        receiveLockDurationInSeconds: lockDurationSeconds,
        maxDeliveryCount: settings.maxDeliveryAttempts,
        eventTimeToLive: mapSetting(settings.eventTimeToLiveMinutes, (minutes) => `PT${minutes}M`),
        deadLetterDestinationWithResourceIdentity: deadLetter,
      })
      return {
        ...properties,
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        deliveryConfiguration: { deliveryMode: 'Queue', queue },
        ...((isRecord(filtersConfiguration) || Object.keys(filters).length > 0) && {
          filtersConfiguration: filters,
        }),
      }
    },
  }
}

/** A Queue event subscription filters subjects by advanced filters. */
function queueFilters(settings: PullMetadata['settings']): UnknownRecord {
  const { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = settings
  const isSet = [subjectBeginsWith, subjectEndsWith, advancedFilters].some((setting) => setting !== undefined)
  const filters = [
    ...subjectFilter('StringBeginsWith', subjectBeginsWith),
    ...subjectFilter('StringEndsWith', subjectEndsWith),
    ...(typeof advancedFilters === 'object' ? advancedFilters : []),
  ]
  return { includedEventTypes, filters: isSet ? filters : undefined }
}

function subjectFilter(operatorType: string, setting: Setting<string> | undefined): readonly AdvancedFilter[] {
  return typeof setting === 'string' && setting !== '' ? [{ operatorType, key: 'subject', values: [setting] }] : []
}

function forwardingRules({ namespaceTopic, settings, replaceDestination }: PullMetadata): PutRules {
  const { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = settings
  const filters = { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters }
  return {
    refusalOf(properties) {
      const { endpointType, identity } = destinationOf(properties)
      if (endpointType === 'NamespaceTopic' || replaceDestination) return undefined
      const elsewhere = `${endpointType ?? 'another destination'}${identity ? ' by a managed identity' : ''}`
      return {
        because: `it delivers to ${elsewhere} and not to a namespace topic`,
        fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
      }
    },
    merge(properties) {
      const { destination: _destination, deliveryWithResourceIdentity: _wrapped, ...others } = properties
      const { endpointType, identity } = destinationOf(properties)
      const destination = { endpointType: 'NamespaceTopic', properties: { resourceId: namespaceTopic.id } }
      return {
        ...others,
        // The managed identity of an event subscription that delivers to a namespace topic by it is kept.
        ...(identity && endpointType === 'NamespaceTopic'
          ? { deliveryWithResourceIdentity: { identity, destination } }
          : { destination }),
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        filter: withSettings(others.filter, filters),
      }
    },
  }
}

/** The kind of a destination, and the managed identity that Event Grid delivers by. */
function destinationOf({ destination, deliveryWithResourceIdentity: wrapped }: UnknownRecord) {
  const inner = isRecord(wrapped) ? wrapped.destination : destination
  const endpointType = isRecord(inner) && typeof inner.endpointType === 'string' ? inner.endpointType : undefined
  return { endpointType, identity: isRecord(wrapped) ? (wrapped.identity ?? {}) : undefined }
}

/** What ARM holds, with settings of the metadata over it by ARM's names: `default` takes a field out. */
function withSettings(existing: unknown, settings: UnknownRecord): UnknownRecord {
  const set = Object.entries(settings).filter(([, setting]) => setting !== undefined)
  const fields = Object.entries({ ...(isRecord(existing) && existing), ...Object.fromEntries(set) })
  return Object.fromEntries(fields.filter(([, value]) => value !== resetToDefault))
}

function mapSetting<Value>(setting: Setting<Value> | undefined, toArm: (value: Value) => unknown): unknown {
  return setting === undefined || setting === resetToDefault ? setting : toArm(setting)
}
