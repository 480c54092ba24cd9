// Pull: the Queue event subscription of the namespace topic, and that which forwards another scope's events to it.
import type { AdvancedFilter } from '../../metadata/fields/advanced-filters.ts'
import type { Setting } from '../../metadata/fields/setting-value.ts'
import type { PullMetadata } from '../../metadata/typed/metadata.ts'
import type { UnknownRecord } from '../../support/text/is-record.ts'
import { placeAt, placeOfQueue } from '../arm/subscription-place.ts'
import { destinationName, type SubscriptionProperties, withoutNothing, writable } from './subscription-properties.ts'
import { blobDestination, mapSetting, type WantedSubscription, withSettings } from './wanted-subscription.ts'

/** Nothing that ARM hides matters to pull, and its deliveries need no credential of ours. */
const withoutSecrets = {
  warningsOf: () => [],
  assumeHidden: (existing) => existing,
  lacksCredential: () => false,
} satisfies Partial<WantedSubscription>

/** The Queue event subscription of the namespace topic; then, if another scope's events are forwarded to it, that of the scope. */
export function wantedForPull(pull: PullMetadata): readonly WantedSubscription[] {
  const { forwardedScope } = pull
  return [wantedQueue(pull), ...(forwardedScope ? [wantedForwarding(pull, forwardedScope)] : [])]
}

/** A forwarded scope has its filters in the event subscription that forwards. */
function wantedQueue(pull: PullMetadata): WantedSubscription {
  const { settings, lockDurationSeconds, forwardedScope, namespaceTopic, eventSubscriptionName } = pull
  const awayFrom = ({ deliveryConfiguration: { deliveryMode: mode } = {} }: SubscriptionProperties) =>
    mode === 'Queue' ? undefined : `it delivers by ${mode ?? 'another mode'} and not by Queue`
  return {
    ...withoutSecrets,
    place: placeOfQueue(namespaceTopic, eventSubscriptionName),
    awayFrom,
    refusalOf(existing) {
      const because = awayFrom(existing)
      const fix = 'choose another eventSubscriptionName, or delete the event subscription'
      return because === undefined ? undefined : { because, fix }
    },
    merge(existing, { resets }) {
      const { deliveryConfiguration, filtersConfiguration } = existing
      const queue = withSettings(
        deliveryConfiguration?.queue,
        {
          receiveLockDurationInSeconds: lockDurationSeconds,
          maxDeliveryCount: settings.maxDeliveryAttempts,
          eventTimeToLive: mapSetting(settings.eventTimeToLiveMinutes, (minutes) => `PT${minutes}M`),
          deadLetterDestinationWithResourceIdentity: mapSetting(settings.deadLetter, (given) => ({
            identity: { type: 'SystemAssigned' },
            deadLetterDestination: blobDestination(given),
          })),
        },
        resets,
      )
      const filters = forwardedScope ? {} : queueFilters(settings)
      return withoutNothing({
        ...writable(existing),
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        deliveryConfiguration: { ...deliveryConfiguration, deliveryMode: 'Queue', queue },
        filtersConfiguration: withSettings(filtersConfiguration, filters, resets),
      })
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

function wantedForwarding(pull: PullMetadata, scope: NonNullable<PullMetadata['forwardedScope']>): WantedSubscription {
  const { namespaceTopic, settings, replaceDestination, eventSubscriptionName } = pull
  const { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = settings
  const filters = { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters }
  return {
    ...withoutSecrets,
    place: placeAt(scope, eventSubscriptionName),
    refusalOf(existing) {
      const { destination, deliveryWithResourceIdentity: wrapped } = existing
      if (replaceDestination || (wrapped?.destination ?? destination)?.endpointType === 'NamespaceTopic')
        return undefined
      return {
        because: `it delivers to ${destinationName(existing)} and not to a namespace topic`,
        fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
      }
    },
    awayFrom({ destination, deliveryWithResourceIdentity: wrapped }) {
      const { endpointType, properties } = wrapped?.destination ?? destination ?? {}
      const { resourceId = '' } = properties ?? {}
      if (endpointType === 'NamespaceTopic' && resourceId.toLowerCase() === namespaceTopic.id.toLowerCase())
        return undefined
      return `it delivers to ${resourceId || (endpointType ?? 'another destination')}, not to ${namespaceTopic.id}`
    },
    merge(existing, { resets }) {
      const { destination: _destination, deliveryWithResourceIdentity: _wrapped, ...others } = writable(existing)
      const { deliveryWithResourceIdentity: wrapped } = existing
      const destination = { endpointType: 'NamespaceTopic', properties: { resourceId: namespaceTopic.id } }
      return withoutNothing({
        ...others,
        // The managed identity of an event subscription that delivers to a namespace topic by it is kept.
        ...(wrapped?.destination?.endpointType === 'NamespaceTopic'
          ? { deliveryWithResourceIdentity: { ...wrapped, destination } }
          : { destination }),
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        filter: withSettings(others.filter, filters, resets),
      })
    },
  }
}
