// A dead letter of a namespace: `deadletterProperties` in the event or around it, and the folder of its blobs.
import { preciseTime } from '../model/events/event-grid-time.ts'
import { type EventText, eventOf, textOf, withMembers, withText } from '../model/events/event-text.ts'
import type { NamespaceStore } from '../model/resources/namespace-store.ts'
import type { QueueSubscription } from '../model/resources/queue-subscription.ts'
import type { DeadLetterReason, QueuedEvent } from './pull-queue.ts'

/** The first is from a sample of the page; the others, and the result, are assumed. */
const reasonTexts: Readonly<Record<DeadLetterReason, string>> = {
  MaxDeliveryAttemptsExceeded: 'Maximum delivery attempts was exceeded',
  TimeToLiveExceeded: 'Time to live was exceeded',
  Rejected: 'Rejected by the receiver',
}

/**
 * An event that was published in structured mode has the properties as members; one of binary mode stands under `event` (Event Grid:
 * dead-letter-event-subscriptions-namespace-topics, 2023).
 */
export function namespaceDeadLetter(queued: QueuedEvent, reason: DeadLetterReason, now: number): EventText {
  const { event, deliveryCount, acceptedAt, receivedAt = now } = queued
  const added = {
    customDeliveryProperties: {},
    deadletterProperties: {
      deadletterreason: reasonTexts[reason],
      deliveryattempts: deliveryCount,
      deliveryresult: 'GeneralError',
      publishutc: preciseTime(acceptedAt),
      deliveryattemptutc: preciseTime(receivedAt),
    },
  }
  return withMembers(event.isBinary ? withText(eventOf({}), 'event', textOf(event)) : event, added)
}

/** `{namespace}/{topic}/{event subscription}`. */
export function deadLetterFolder({ name, topicId }: QueueSubscription, store: NamespaceStore): string {
  const topic = store.topics.get(topicId)
  const namespace = topic && store.namespaces.get(topic.namespaceId)
  return [namespace?.name, topic?.name, name].filter((one) => one !== undefined).join('/')
}
