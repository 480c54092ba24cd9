/** What is shown of topics, event subscriptions, queues and events: filters in words, URLs without their queries, no secret. */
import { cut } from '../../../../src/support/text/text.ts'
import { deadLetterDestinationOf } from '../delivery/queue/attempt-results.ts'
import { deliverySchemaOf, shownUrl, webhookOf } from '../delivery/send/delivery-request.ts'
import { textOf } from '../model/events/event-text.ts'
import { batchingOf, type DeliveryAttributeMapping, deliveryAttributesOf } from '../model/resources/destination.ts'
import {
  destinationOf,
  type EventSubscription,
  type SubscriptionFilter,
} from '../model/resources/event-subscription.ts'
import type { NamespaceTopic, QueueSubscription } from '../model/resources/namespace.ts'
import { type DomainTopic, type Publishable, sameName } from '../model/resources/resource.ts'
import type { HeldEvent, QueueFigures } from '../namespaces/pull-queue.ts'
import type { Fate, TrailedEvent } from '../records/event-fate.ts'
import type { DeliveryRecord, HandshakeRecord, RequestRecord } from '../records/record-types.ts'
import { recordedBodyLimit } from '../records/records.ts'

// JSON leaves out what is undefined.

const secretText = '(redacted)'

/** A topic or domain: without its keys, a domain with the names of its topics. */
export function viewPublished(
  { id, label, type, inputSchema, disableLocalAuth }: Publishable,
  addresses: { readonly https: string; readonly http: string },
  domainTopics: readonly DomainTopic[],
) {
  const path = `/topics/${label}/api/events`
  const own = domainTopics.filter(({ domainId }) => sameName(domainId, id))
  return {
    id,
    name: label,
    schema: inputSchema,
    endpoint: `${addresses.https}${path}`,
    httpEndpoint: `${addresses.http}${path}`,
    keys: !disableLocalAuth,
    ...(type === 'domains' && { domainTopics: own.slice(0, shownDomainTopics).map(({ name }) => name) }),
  }
}

const shownDomainTopics = 50

function namesOf(topicId: string) {
  const [namespace = '', , topic = ''] = topicId.split('/').slice(-3)
  return { namespace, topic }
}

/** The name of a namespace topic with that of its namespace. */
export function namespaceTopicName(topicId: string): string {
  const { namespace, topic } = namesOf(topicId)
  return `${namespace}/${topic}`
}

/** A namespace topic. */
export function viewNamespaceTopic({ id }: NamespaceTopic, https: string) {
  const { namespace, topic } = namesOf(id)
  return { id, name: namespaceTopicName(id), endpoint: `${https}/namespaces/${namespace}/topics/${topic}:publish` }
}

/** A Queue event subscription, with the number of its events in each state. */
export function viewQueue(
  { id, name, topicId }: QueueSubscription,
  figures: QueueFigures | undefined,
  deadLettered = 0,
) {
  return { id, name, topic: namespaceTopicName(topicId), ...figures, deadLettered }
}

/** An event subscription: URLs without their query, secret attributes by their names alone. */
export function viewSubscription(
  subscription: EventSubscription,
  state: {
    readonly handshake: HandshakeRecord | undefined
    readonly warning: string | undefined
    readonly queue: { readonly heldUntil: number | undefined; readonly waits: boolean } | undefined
  },
) {
  const { handshake, warning, queue } = state
  const { properties } = subscription
  const webhook = webhookOf(subscription)
  const destination = destinationOf(properties)
  const batching = batchingOf(destination)
  const { maxDeliveryAttempts = 30, eventTimeToLiveInMinutes = 1440 } = properties.retryPolicy ?? {}
  return {
    id: subscription.id,
    name: subscription.name,
    scope: subscription.scope,
    state: subscription.provisioningState,
    endpoint: webhook ? shownUrl(new URL(webhook.endpointUrl)) : (destination?.endpointType ?? ''),
    schema: deliverySchemaOf(subscription),
    filters: filterLines(properties.filter),
    retry: `${maxDeliveryAttempts} tries within ${eventTimeToLiveInMinutes} min`,
    batching: batching && `${batching.maxEvents} events, ${batching.preferredBytes / 1024} KiB`,
    deadLetter: deadLetterDestinationOf(subscription)?.properties.blobContainerName,
    expires: properties.expirationTimeUtc,
    entra: webhook?.azureActiveDirectoryApplicationIdOrUri,
    attributes: (deliveryAttributesOf(destination) ?? []).map(viewAttribute),
    handshake: handshake && viewHandshake(handshake),
    warning,
    heldUntil: queue?.heldUntil,
    waits: queue?.waits ?? false,
  }
}

/** A refused request to publish, without its URL and headers: they may hold a key. */
export function viewRefused({ at, status, code, message, publish }: RequestRecord) {
  return { at, status, code, topic: shortened(publish?.topic ?? ''), message: message && shortened(message) }
}

/** An event of a Queue event subscription, which stays there. */
export function viewHeld({ event: { value }, deliveryCount, state, until }: HeldEvent) {
  const text = (name: string) => shortened(String(value[name] ?? ''))
  return { id: text('id'), type: text('type'), subject: text('subject'), deliveryCount, state, until }
}

function viewHandshake({ at, method, outcome, status, message }: HandshakeRecord) {
  return { at, method, outcome, status, message }
}

function viewAttribute({ name, type, properties }: DeliveryAttributeMapping) {
  if (type === 'Dynamic') return { name, value: `from ${properties.sourceField}` }
  return { name, value: properties.isSecret ? secretText : properties.value }
}

/** A filter in words, one condition per line; empty for a filter that matches every event. */
export function filterLines(filter: SubscriptionFilter | undefined): string[] {
  if (!filter) return []
  const { subjectBeginsWith, subjectEndsWith, includedEventTypes, advancedFilters = [] } = filter
  const types = includedEventTypes?.filter((type) => type !== 'All') ?? []
  return [
    ...(types.length > 0 ? [`type is ${types.join(' or ')}`] : []),
    ...(subjectBeginsWith ? [`subject begins with ${subjectBeginsWith}`] : []),
    ...(subjectEndsWith ? [`subject ends with ${subjectEndsWith}`] : []),
    ...advancedFilters.map(({ key, operatorType, ...operands }) =>
      [key, operatorType, ...Object.values(operands).map((one) => JSON.stringify(one))].join(' '),
    ),
  ]
}

export function viewEvent(event: TrailedEvent) {
  return {
    key: event.key,
    at: event.at,
    topic: event.topic,
    source: shortened(event.source),
    id: shortened(event.id),
    type: shortened(event.type),
    subject: shortened(event.subject),
    fates: [...event.fates.values()].map(viewFate),
    ...(event.furtherFates > 0 && { further: event.furtherFates }),
  }
}

function viewFate(fate: Fate) {
  const { subscriptionId, subscriptionName: name, pull, state, tries, reason, nextTryAt, attempts } = fate
  const last = attempts.at(-1)
  return {
    subscriptionId,
    name,
    pull,
    state,
    tries,
    nextTryAt,
    reason,
    ...(last && { answer: answerOf(last), durationMs: Math.round(last.durationMs * 10) / 10 }),
  }
}

/** The status of a subscriber's answer, or why there is no answer. */
function answerOf({ status, error = '' }: DeliveryRecord): string {
  return status === undefined ? shortened(error) : String(status)
}

/** The event subscriptions that an event does not match. One that the event was delivered to on request has a fate. */
export const unmatchedOf = ({ fates, unmatched }: TrailedEvent) =>
  [...unmatched].flatMap(([key, one]) => (fates.has(key) ? [] : [one]))

/** Everything about one event: its body, and each attempt with its request and its answer. */
export function viewEventDetail(event: TrailedEvent) {
  return {
    ...viewEvent(event),
    schema: event.schema,
    body: textOf(event.event.body),
    unmatched: unmatchedOf(event).map(({ id, name, because }) => ({ subscriptionId: id, name, because })),
    fates: [...event.fates.values()].map((fate) => ({
      ...viewFate(fate),
      blobPath: fate.blobPath,
      attempts: fate.attempts.map((attempt) => ({
        at: attempt.at,
        url: attempt.url,
        target: attempt.target,
        answer: answerOf(attempt),
        deliveryCount: attempt.deliveryCount,
        durationMs: Math.round(attempt.durationMs * 10) / 10,
        events: attempt.eventIds.length,
        headers: attempt.headers,
        body: attempt.body,
        bodyCut: attempt.body.length >= recordedBodyLimit,
        responseHeaders: attempt.responseHeaders,
        responseBody: attempt.responseBody,
      })),
    })),
  }
}

/** Ids, types and subjects may be as long as the publisher likes. */
const shortened = (text: string) => cut(text, 299)
