// Values for `deliveryMode: pull`; push or pull fields without effect; settings refused for queues.
import type { MetadataIssue } from '../../core/errors.ts'
import type { FieldName } from '../fields/fields.ts'
import type { Partly, PullValues } from '../fields/schema.ts'
import { derivePullName } from '../fields/subscription-name.ts'
import { eitherInput, type InputMetadataOptions } from './input-metadata.ts'
import type { PullMetadata } from './metadata.ts'
import type { GivenFields } from './read-properties.ts'

/** Fields of push that a puller does not read. */
const pushOnly: readonly FieldName[] = [
  'subscriberEndpoint',
  'handshakePort',
  'listenAddress',
  'deliveryAuthentication',
  'deliveryToken',
  'eventGridClientId',
  'maxRequestBytes',
]

/** Fields of pull that a listener does not read. */
export const pullOnly: readonly FieldName[] = ['namespaceTopic', 'namespaceEndpoint', 'namespaceKey', 'lockDuration']

/** Settings that a Queue event subscription does not have (Event Grid namespaces: event subscriptions). */
const unknownToQueues: readonly FieldName[] = ['labels', 'maxEventsPerBatch', 'preferredBatchSizeInKilobytes']

/** Faults of fields that pull delivery does not know, though push delivery does. */
export function pullConflicts(values: Partly<PullValues>, { fields }: GivenFields): readonly MetadataIssue[] {
  const rule = 'is not a setting of pull delivery'
  const fix = 'take it out, or set deliveryMode to push'
  const issues = unknownToQueues.filter((field) => fields.has(field)).map((field) => ({ field, rule, fix }))
  if (values.eventDeliverySchema !== 'EventGridSchema') return issues
  const ofSchema = { field: 'eventDeliverySchema', rule: 'must be CloudEventSchemaV1_0 with deliveryMode pull', fix }
  return [...issues, ofSchema]
}

/** A sentence for each given field that the delivery mode makes no use of. */
export function unusedFields({ fields }: GivenFields, mode: 'push' | 'pull'): readonly string[] {
  return (mode === 'pull' ? pushOnly : pullOnly)
    .filter((field) => fields.has(field))
    .map((field) => `${field} has no effect with deliveryMode ${mode}`)
}

/** The input side of values without a fault. */
export function pullMetadata(values: PullValues, options: InputMetadataOptions): PullMetadata {
  const { namespaceTopic, namespaceEndpoint, namespaceKey, scope } = values
  const isTopicItself = scope?.id.toLowerCase() === namespaceTopic.id.toLowerCase()
  return {
    ...eitherInput(values, derivePullName(options.componentName, namespaceTopic.id, scope), options),
    ...{ namespaceTopic, namespaceEndpoint, namespaceKey },
    forwardedScope: isTopicItself ? undefined : scope,
    lockDurationSeconds: values.lockDuration === undefined ? undefined : values.lockDuration / 1000,
  }
}
