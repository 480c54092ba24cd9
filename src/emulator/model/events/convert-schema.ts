// Which input schema may become which delivery schema; Event Grid event to CloudEvent.
import { isRecord } from '../../../support/text/is-record.ts'
import type { DeliverySchema, InputSchema } from '../resources/model.ts'
import type { AcceptedEvent, EventGridEvent } from './accepted-event.ts'
import type { JsonObject } from './json-object.ts'

const allowed: Readonly<Record<InputSchema, readonly DeliverySchema[]>> = {
  EventGridSchema: ['EventGridSchema', 'CloudEventSchemaV1_0'],
  CloudEventSchemaV1_0: ['CloudEventSchemaV1_0'],
  CustomEventSchema: ['EventGridSchema', 'CloudEventSchemaV1_0', 'CustomInputSchema'],
}

/**
 * Whether a source's events can be delivered in a schema (Event Grid: cloud-event-schema;
 * CloudEvents come out as nothing else).
 */
export function canConvert(from: InputSchema, to: DeliverySchema): boolean {
  return allowed[from].includes(to)
}

/** The event in a delivery schema that it {@link canConvert} to. */
export function deliveredForm(event: AcceptedEvent, schema: DeliverySchema): JsonObject {
  if (event.schema === 'CloudEventSchemaV1_0' || schema === 'CustomInputSchema') return event.body
  const eventGridEvent = event.schema === 'CustomEventSchema' ? event.mapped : event.body
  return schema === 'CloudEventSchemaV1_0' ? toCloudEvent(eventGridEvent) : { ...eventGridEvent }
}

/**
 * `dataVersion` and `metadataVersion` vanish, times stay the text they were (Event Grid:
 * the service's own sample pairs).
 */
function toCloudEvent(event: EventGridEvent): JsonObject {
  return {
    id: event.id,
    source: event.topic,
    specversion: '1.0',
    type: event.eventType,
    subject: event.subject,
    time: event.eventTime,
    ...(Object.hasOwn(event, 'data') && { data: event.data }),
  }
}

/** Reads an event of another source than a custom topic; Azure's services raise both schemas. */
export function asAcceptedEvent(event: JsonObject): AcceptedEvent | undefined {
  if (event.specversion !== undefined) return { schema: 'CloudEventSchemaV1_0', body: event }
  return isEventGridEvent(event) ? { schema: 'EventGridSchema', body: event } : undefined
}

/** Whether all fields of the Event Grid schema but the data are there. */
export function isEventGridEvent(event: unknown): event is JsonObject & EventGridEvent {
  const fields = ['id', 'topic', 'subject', 'eventType', 'eventTime', 'dataVersion', 'metadataVersion']
  return isRecord(event) && fields.every((field) => typeof event[field] === 'string')
}
