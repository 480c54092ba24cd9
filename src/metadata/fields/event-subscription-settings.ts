/** The fields that are settings of the event subscription: filters, retries, batches, dead letters, labels. */
import { parseAdvancedFilters } from './advanced-filters.ts'
import { setting } from './field-entry.ts'
import * as needs from './needs.ts'
import { parseList } from './plain-values.ts'
import * as rules from './rules.ts'

export const settingFields = {
  includedEventTypes: setting({ type: 'list', about: 'Event types to deliver.', parse: parseList }),
  subjectBeginsWith: setting({
    type: 'string',
    about: 'Deliver only events with a subject that begins with this text.',
    parse: rules.asIs,
  }),
  subjectEndsWith: setting({
    type: 'string',
    about: 'Deliver only events with a subject that ends with this text.',
    parse: rules.asIs,
  }),
  advancedFilters: setting({
    type: 'JSON array of `{ operatorType, key, value or values }`; at most 25 filters and 25 values',
    about: "Advanced filters, in ARM's spelling.",
    parse: parseAdvancedFilters,
  }),
  maxDeliveryAttempts: setting({
    type: 'integer, 1-30; with `deliveryMode: pull` 1-10',
    stricter: { pull: rules.unlessDefault(rules.integer(1, 10)) },
    about: 'How often Event Grid tries to deliver an event.',
    parse: rules.integer(1, 30),
  }),
  eventTimeToLive: setting({
    type: 'duration in whole minutes, 1m-24h',
    about: 'How long Event Grid tries to deliver an event.',
    parse: rules.parseTimeToLive,
  }),
  maxEventsPerBatch: setting({
    type: 'integer, 1-5000',
    stricter: { pull: rules.refusedByPull },
    about: 'Most events in one delivery.',
    parse: rules.integer(1, 5000),
  }),
  preferredBatchSizeInKilobytes: setting({
    type: 'integer, 1-1024',
    stricter: { pull: rules.refusedByPull },
    about: 'Preferred size of a delivery.',
    parse: rules.integer(1, 1024),
  }),
  deadLetterStorageAccountId: setting({
    needed: needs.beside('deadLetterContainer'),
    type: 'resource id of a storage account',
    example: '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.Storage/storageAccounts/ACCOUNT',
    about: 'Where undeliverable events go. Needs `deadLetterContainer`.',
    parse: rules.parseStorageAccount,
  }),
  deadLetterContainer: setting({
    needed: needs.beside('deadLetterStorageAccountId'),
    type: 'name of a blob container',
    example: 'dead-letters',
    about: 'Container for undeliverable events. Needs `deadLetterStorageAccountId`.',
    parse: rules.parseContainerName,
  }),
  labels: setting({
    type: 'list',
    stricter: { pull: rules.refusedByPull },
    about: 'Labels of the event subscription.',
    parse: parseList,
  }),
}
