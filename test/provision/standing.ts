import type { PushMetadata, SubscriptionSettings } from '../../src/metadata/typed/metadata.ts'
import { wantedWebHook } from '../../src/provision/needs-webhook.ts'
import type { SubscriptionProperties, WebHookProperties } from '../../src/provision/values.ts'
import { header, inputMetadata } from './input.ts'

/** What the sample's metadata asks for, with what a test changes of it. */
export const desire = (changes: Partial<PushMetadata> = {}) => wantedWebHook(inputMetadata(changes))
/** The same with settings of the event subscription. */
export const settings = (changes: Partial<SubscriptionSettings>) =>
  desire({ settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', ...changes } })

/** A static attribute of a web hook. */
export const attribute = (name: string, value: string, isSecret: boolean) => ({
  name,
  type: 'Static',
  properties: { value, isSecret },
})
/** Our delivery attribute. */
export const ours = attribute('X-EventGrid-Binding-Token', header, true)
/** One of the operator's. */
export const theirs = { name: 'x-theirs', type: 'Dynamic', properties: { sourceField: 'data.key' } }
export const blob = (resourceId: string) => ({
  endpointType: 'StorageBlob',
  properties: { resourceId, blobContainerName: 'c' },
})

/** What stands after our own create, with the defaults that the service fills in. */
export const webHook = (changes: WebHookProperties = {}) => ({
  endpointType: 'WebHook',
  properties: {
    endpointUrl: 'https://app.example.com/api/events?code=query-marked',
    endpointBaseUrl: 'https://app.example.com/api/events',
    maxEventsPerBatch: 1,
    preferredBatchSizeInKilobytes: 64,
    deliveryAttributeMappings: [ours],
    ...changes,
  },
})
export const standing = (changes: SubscriptionProperties = {}): SubscriptionProperties => ({
  topic: 'x',
  provisioningState: 'Succeeded',
  destination: webHook(),
  filter: { subjectBeginsWith: '', subjectEndsWith: '', isSubjectCaseSensitive: false },
  eventDeliverySchema: 'CloudEventSchemaV1_0',
  retryPolicy: { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1440 },
  ...changes,
})
