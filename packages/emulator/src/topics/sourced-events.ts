// Which domain topic an event belongs to: name or id, by source or topic.
import { type AcceptedEvent, mappedEvent, type SourcedEvents } from '../model/events/accepted-event.ts'
import type { Domain, Publishable } from '../model/resources/resource.ts'

/**
 * The id of the domain topic that a text names: the name alone, or the resource id. Undefined for any other text, an
 * absolute URL for instance (Azure/azure-sdk-for-net issue 25510). The domain topic need not exist.
 */
export function domainTopicId({ id }: Pick<Domain, 'id'>, text: string): string | undefined {
  const parent = `${id}/topics/`
  const name = text.toLowerCase().startsWith(parent.toLowerCase()) ? text.slice(parent.length) : text
  return /^[^/:?#\s]{1,128}$/.test(name) ? `${parent}${name}` : undefined
}

/** The events of one publish request by their sources. An event of a domain occurs at its domain topic and at the domain. */
export function sourcedEvents(target: Publishable, events: readonly AcceptedEvent[]): SourcedEvents[] {
  if (target.type === 'topics') return [{ sources: [target.id], events }]
  const byTopic = Map.groupBy(events, (event) => domainTopicId(target, topicOf(event)) ?? target.id)
  return [...byTopic].map(([topic, own]) => ({ sources: [topic, target.id], events: own }))
}

/** A CloudEvent has no topic: its source names the domain topic (MicrosoftDocs/azure-docs issue 112147). */
function topicOf(event: AcceptedEvent): string {
  return String(event.schema === 'CloudEventSchemaV1_0' ? event.body.value.source : mappedEvent(event).value.topic)
}
