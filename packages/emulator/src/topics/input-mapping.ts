// Custom schema event to Event Grid event: `inputSchemaMapping`, default values, missing id or time.
import { preciseTime } from '../model/events/event-grid-time.ts'
import { type EventText, eventOf, plainTextAt, textOf, withText } from '../model/events/event-text.ts'
import type { Publishable } from '../model/resources/resource.ts'

/**
 * Makes an Event Grid event of an event in a custom schema: from the mapped fields or the mapping's defaults, or
 * from fields with Event Grid's names where there is no mapping. A missing id or time is generated, a missing
 * dataVersion is empty. The data is the whole original event (Event Grid: input-mappings).
 */
export function mapCustomEvent(
  event: EventText,
  target: Publishable,
  made: { readonly now: number; readonly id: string },
): EventText | { readonly missing: string } {
  const mapping = target.inputSchemaMapping?.properties ?? {}
  const field = (
    name: string,
    mapped: { readonly sourceField?: string; readonly defaultValue?: string } | undefined,
  ): string | undefined => {
    return plainTextAt(event, (mapped?.sourceField ?? name).split('.')) || mapped?.defaultValue
  }
  const subject = field('subject', mapping.subject)
  const eventType = field('eventType', mapping.eventType)
  if (subject === undefined) return { missing: mapping.subject?.sourceField ?? 'subject' }
  if (eventType === undefined) return { missing: mapping.eventType?.sourceField ?? 'eventType' }
  // An event of a domain must name its domain topic.
  const topic = field('topic', mapping.topic) ?? (target.type === 'topics' ? target.id : undefined)
  if (topic === undefined) return { missing: mapping.topic?.sourceField ?? 'topic' }
  const mapped = eventOf({
    id: field('id', mapping.id) ?? made.id,
    topic,
    subject,
    eventType,
    eventTime: field('eventTime', mapping.eventTime) ?? preciseTime(made.now),
    dataVersion: field('dataVersion', mapping.dataVersion) ?? '',
    metadataVersion: '1',
  })
  return withText(mapped, 'data', textOf(event))
}
