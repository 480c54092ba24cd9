/** How the contents of a namespace are stored and deleted, and which settings a Queue event subscription may have. */
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { durationSeconds } from '../../../../../src/support/time/clock.ts'
import {
  type Namespace,
  type NamespaceStore,
  type NamespaceTopic,
  type QueueSubscription,
  type QueueSubscriptionProperties,
  queueSubscriptionSettings,
} from '../../model/resources/namespace.ts'
import { type AccessKeys, randomKeys } from '../../model/resources/resource.ts'
import { plainWords, spelledMembers } from '../../model/schemas.ts'
import type { Clock } from '../../model/time/clock.ts'
import { withoutEmptyExpiry, withoutNulls } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'

/** The namespaces, and the queues of their event subscriptions. */
export interface NamespaceContents {
  readonly clock: Pick<Clock, 'now'>
  /** @default random ones */
  readonly newKeys?: () => AccessKeys
  readonly namespaces: NamespaceStore
  /** Follows each event subscription that is stored or deleted. */
  readonly queues: {
    subscriptionChanged(subscription: QueueSubscription): void
    subscriptionDeleted(subscriptionId: string): void
  }
}

/** Stores a topic. An existing one keeps its keys, and its queues take the new retention. @param eventRetentionInDays @default 1 */
export function storeNamespaceTopic(
  { namespaces, queues, newKeys = randomKeys }: NamespaceContents,
  { id, name, namespaceId }: Pick<NamespaceTopic, 'id' | 'name' | 'namespaceId'>,
  eventRetentionInDays = 1,
): NamespaceTopic {
  const existing = namespaces.topics.get(id)
  const topic = { id, name, namespaceId, keys: newKeys(), ...existing, eventRetentionInDays }
  namespaces.topics.put(topic)
  for (const one of namespaces.subscriptions.of(id)) queues.subscriptionChanged(one)
  return topic
}

/** Stores an event subscription; its queue is made, or takes the new settings. */
export function storeQueueSubscription(
  { namespaces, queues, clock }: NamespaceContents,
  given: Pick<QueueSubscription, 'id' | 'name' | 'topicId' | 'properties'>,
): QueueSubscription {
  const { id, name, createdAt } = namespaces.subscriptions.get(given.id) ?? { ...given, createdAt: clock.now() }
  const subscription: QueueSubscription = { ...given, id, name, createdAt }
  namespaces.subscriptions.put(subscription)
  queues.subscriptionChanged(subscription)
  return subscription
}

/** Deletes a namespace with all that it contains. */
export function deleteNamespace(contents: NamespaceContents, namespace: Namespace): void {
  const { namespaces, topics } = contents.namespaces
  for (const topic of topics.of(namespace.id)) deleteNamespaceTopic(contents, topic)
  namespaces.delete(namespace)
}

/** Deletes a topic with its event subscriptions and their events. */
export function deleteNamespaceTopic(contents: NamespaceContents, topic: NamespaceTopic): void {
  const { subscriptions, topics } = contents.namespaces
  for (const subscription of subscriptions.of(topic.id)) deleteQueueSubscription(contents, subscription)
  topics.delete(topic)
}

/** Deletes an event subscription with its events. */
export function deleteQueueSubscription(
  { namespaces, queues }: NamespaceContents,
  subscription: QueueSubscription,
): void {
  queues.subscriptionDeleted(subscription.id)
  namespaces.subscriptions.delete(subscription)
}

export interface QueueWriteContext {
  /** The existing settings, for PATCH. */
  readonly existing?: QueueSubscriptionProperties | undefined
  /** The `eventRetentionInDays` of the topic. */
  readonly retentionDays: number
}

const daySeconds = 24 * 3600

/** Throws an ArmError. */
function checkTimeToLive(
  { deliveryConfiguration: { queue } }: QueueSubscriptionProperties,
  retentionDays: number,
): void {
  const seconds = queue?.eventTimeToLive === undefined ? undefined : durationSeconds(queue.eventTimeToLive)
  if (seconds === undefined || (seconds >= 60 && seconds <= retentionDays * daySeconds)) return
  throw armErrors.invalidEventSubscription(
    `property 'deliveryConfiguration.queue.eventTimeToLive' is invalid. It must be PT1M at least and the topic's ` +
      `retention at most, P${retentionDays}D.`,
  )
}

/**
 * Reads the settings of a Queue event subscription from the body of a PUT, or of a PATCH over the existing ones.
 * Throws an ArmError.
 */
export function parseQueueSubscription(
  body: unknown,
  { existing, retentionDays }: QueueWriteContext,
): QueueSubscriptionProperties {
  const given = z
    .object({ properties: z.record(z.string(), z.unknown()).default({}) })
    .safeParse(spelledMembers(queueSubscriptionSettings, withoutNulls(body)))
  const wanted = given.success ? given.data.properties : {}
  const delivery = isRecord(wanted.deliveryConfiguration) && {
    deliveryConfiguration: { ...existing?.deliveryConfiguration, ...wanted.deliveryConfiguration },
  }
  const parsed = queueSubscriptionSettings.safeParse(
    { ...existing, ...withoutEmptyExpiry(wanted), ...delivery },
    { error: plainWords },
  )
  if (withoutEmptyExpiry(wanted).expirationTimeUtc !== undefined) {
    throw armErrors.notSupported('expirationTimeUtc of a Queue event subscription', ['expirationTimeUtc'])
  }
  const { queue: wantedQueue } = Object(wanted.deliveryConfiguration)
  if (isRecord(wantedQueue) && 'deliveryRetryPeriodInDays' in wantedQueue) {
    throw armErrors.notSupported('deliveryRetryPeriodInDays, which no api-version has')
  }
  if (given.success && parsed.success) {
    checkTimeToLive(parsed.data, retentionDays)
    return parsed.data
  }
  const [issue] = parsed.error?.issues ?? []
  const at = (issue?.path ?? ['properties']).map((part) => (typeof part === 'number' ? part : String(part)))
  if (at.join('.') === 'deliveryConfiguration.deliveryMode') {
    throw armErrors.notSupported('event subscriptions of a namespace that are not of the delivery mode Queue', at)
  }
  throw armErrors.invalidProperty(at, issue?.message ?? 'is not taken')
}

/** The settings of a Queue event subscription that options declare. Throws an ArmError that says what is wrong with them. */
export const declaredQueueProperties = (properties: Readonly<Record<string, unknown>> = {}, retentionDays: number) =>
  parseQueueSubscription(
    { properties: { deliveryConfiguration: { deliveryMode: 'Queue' }, ...properties } },
    { retentionDays },
  )

/** An event subscription's properties in ARM's shape. */
export function viewQueueSubscription({ deliveryConfiguration, ...rest }: QueueSubscriptionProperties) {
  return {
    properties: {
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      ...rest,
      deliveryConfiguration: {
        deliveryMode: 'Queue',
        queue: { receiveLockDurationInSeconds: 60, maxDeliveryCount: 10, ...deliveryConfiguration.queue },
      },
    },
  }
}
