import type { EventSubscription, WebHookEventSubscriptionDestination } from '@azure/arm-eventgrid'
import type { InputMetadata, SubscriptionSettings } from '../../../src/metadata/typed/metadata.ts'
import type { ExistingSubscription } from '../../../src/provision/decide/decide-upsert.ts'
import { desiredSubscription } from '../../../src/provision/decide/desired-subscription.ts'
import { header, inputMetadata } from './input.ts'

/** What the sample's metadata asks for, with what a test changes of it. */
export const desire = (changes: Partial<InputMetadata> = {}) => desiredSubscription(inputMetadata(changes), header)
/** The same with settings of the event subscription. */
export const settings = (changes: Partial<SubscriptionSettings>) =>
  desire({ settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', ...changes } })

/** Our delivery attribute. */
export const ours = {
  name: 'X-EventGrid-Binding-Token',
  type: 'Static',
  value: 'key1.header-marked',
  isSecret: true,
} as const
/** One of the operator's. */
export const theirs = { name: 'x-theirs', type: 'Dynamic', sourceField: 'data.key' } as const

/** What stands after our own create, as the SDK reads it: with the defaults that service and SDK fill in. */
export const webHook = (
  changes: Partial<WebHookEventSubscriptionDestination> = {},
): WebHookEventSubscriptionDestination => ({
  endpointType: 'WebHook',
  endpointUrl: 'https://app.example.com/api/events?code=query-marked',
  endpointBaseUrl: 'https://app.example.com/api/events',
  maxEventsPerBatch: 1,
  preferredBatchSizeInKilobytes: 64,
  deliveryAttributeMappings: [ours],
  ...changes,
})
export const standing = (changes: Partial<EventSubscription> = {}): ExistingSubscription => ({
  subscription: {
    id: 'x',
    topic: 'x',
    provisioningState: 'Succeeded',
    destination: webHook(),
    filter: { subjectBeginsWith: '', subjectEndsWith: '', isSubjectCaseSensitive: false },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
    ...changes,
  },
  unknownSettings: [],
})
