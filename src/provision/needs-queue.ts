/** Pull: the Queue event subscription of the namespace topic, and the one that forwards the events of another scope to that topic. */

import type { PullMetadata } from '../metadata/typed/metadata.ts'
import type { UnknownRecord } from '../support/text/json-text.ts'
import {
  blobDestination,
  mapSetting,
  mergeFilter,
  placeAt,
  placeOfQueue,
  replacedDestination,
  standingFilters,
  type WantedSubscription,
  withSettings,
} from './decide.ts'
import {
  destinationName,
  destinationOf,
  type SubscriptionProperties,
  withDestination,
  withoutNothing,
  writable,
} from './values.ts'

/** Nothing that ARM hides matters to pull, and its deliveries need no credential of ours. */
const withoutSecrets = {
  warningsOf: () => [],
  assumeHidden: (existing) => existing,
  lacksCredential: () => false,
} satisfies Partial<WantedSubscription>

/** The Queue event subscription of the namespace topic. Then, where the events of another scope are forwarded, the one of that scope. */
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
      const { deadLetterDestinationWithResourceIdentity: standing } = deliveryConfiguration?.queue ?? {}
      const queue = withSettings(
        deliveryConfiguration?.queue,
        {
          receiveLockDurationInSeconds: lockDurationSeconds,
          maxDeliveryCount: settings.maxDeliveryAttempts,
          eventTimeToLive: mapSetting(settings.eventTimeToLiveMinutes, (minutes) => `PT${minutes}M`),
          deadLetterDestinationWithResourceIdentity: mapSetting(settings.deadLetter, (given) => ({
            identity: { type: 'SystemAssigned' },
            // The operator may have chosen another identity.
            ...standing,
            deadLetterDestination: blobDestination(given, standing?.deadLetterDestination),
          })),
        },
        resets,
      )
      const filters = forwardedScope ? {} : queueFilters(settings, filtersConfiguration?.filters)
      return withoutNothing({
        ...writable(existing),
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        deliveryConfiguration: { ...deliveryConfiguration, deliveryMode: 'Queue', queue },
        filtersConfiguration: withSettings(filtersConfiguration, filters, resets),
      })
    },
  }
}

/**
 * A Queue event subscription filters subjects by advanced filters. Where the metadata set no `advancedFilters`, the operator's filters
 * stay beside the filters of subjects.
 */
function queueFilters(settings: PullMetadata['settings'], existing: readonly UnknownRecord[] = []): UnknownRecord {
  const { includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = settings
  const subjects = [
    { operatorType: 'StringBeginsWith', setting: subjectBeginsWith },
    { operatorType: 'StringEndsWith', setting: subjectEndsWith },
  ].filter(({ setting }) => setting !== undefined)
  if (subjects.length === 0 && advancedFilters === undefined) return { includedEventTypes }
  const isReplaced = ({ key, operatorType }: UnknownRecord) =>
    key === 'subject' && subjects.some((subject) => subject.operatorType === operatorType)
  const wanted = [
    ...subjects.flatMap(({ operatorType, setting }) =>
      typeof setting === 'string' ? [{ operatorType, key: 'subject', values: [setting] }] : [],
    ),
    ...(typeof advancedFilters === 'object' ? advancedFilters : []),
  ]
  const kept = advancedFilters === undefined ? existing.filter((filter) => !isReplaced(filter)) : []
  return { includedEventTypes, filters: [...standingFilters(wanted, existing), ...kept] }
}

function wantedForwarding(pull: PullMetadata, scope: NonNullable<PullMetadata['forwardedScope']>): WantedSubscription {
  const { namespaceTopic, settings, replaceDestination, eventSubscriptionName } = pull
  return {
    ...withoutSecrets,
    place: placeAt(scope, eventSubscriptionName),
    refusalOf(existing) {
      if (replaceDestination || destinationOf(existing)?.endpointType === 'NamespaceTopic') return undefined
      return {
        because: `it delivers to ${destinationName(existing)} and not to a namespace topic`,
        fix: 'set replaceDestination to "true", or choose another eventSubscriptionName',
      }
    },
    warningsOf: (existing) =>
      destinationOf(existing)?.endpointType === 'NamespaceTopic' ? [] : [replacedDestination(existing)],
    awayFrom(existing) {
      const { endpointType, properties } = destinationOf(existing) ?? {}
      const { resourceId = '' } = properties ?? {}
      if (endpointType === 'NamespaceTopic' && resourceId.toLowerCase() === namespaceTopic.id.toLowerCase())
        return undefined
      return `it delivers to ${resourceId || (endpointType ?? 'another destination')}, not to ${namespaceTopic.id}`
    },
    merge(existing, { resets }) {
      const others = writable(existing)
      const standing = destinationOf(existing)
      const kept = standing?.endpointType === 'NamespaceTopic' ? standing : undefined
      const properties = { ...kept?.properties, resourceId: namespaceTopic.id }
      return withoutNothing({
        ...others,
        ...withDestination(existing, { ...kept, endpointType: 'NamespaceTopic', properties }),
        eventDeliverySchema: 'CloudEventSchemaV1_0',
        filter: mergeFilter(settings, existing.filter, resets),
      })
    },
  }
}
