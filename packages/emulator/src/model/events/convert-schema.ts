// Which input schema may become which delivery schema; Event Grid event to CloudEvent.
import type { DeliverySchema } from '../resources/event-subscription.ts'
import type { InputSchema } from '../resources/input-schema.ts'
import { type AcceptedEvent, mappedEvent } from './accepted-event.ts'
import { type EventText, renamed, textOf, withMembers } from './event-text.ts'

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
export function deliveredForm(event: AcceptedEvent, schema: DeliverySchema): EventText {
  if (event.schema === 'CloudEventSchemaV1_0' || schema === 'CustomInputSchema') return event.body
  return schema === 'CloudEventSchemaV1_0' ? toCloudEvent(mappedEvent(event)) : mappedEvent(event)
}

/** The same as JSON. */
export const deliveredText = (event: AcceptedEvent, schema: DeliverySchema): string =>
  textOf(deliveredForm(event, schema))

/**
 * `dataVersion` and `metadataVersion` vanish, times stay the text they were (Event Grid:
 * the service's own sample pairs).
 */
function toCloudEvent(event: EventText): EventText {
  return renamed(withMembers(event, { specversion: '1.0' }), {
    id: 'id',
    source: 'topic',
    specversion: 'specversion',
    type: 'eventType',
    subject: 'subject',
    time: 'eventTime',
    data: 'data',
  })
}

/** Reads an event of another source than a custom topic; Azure's services raise both schemas. */
export function asAcceptedEvent(body: EventText): AcceptedEvent | undefined {
  if (body.value.specversion !== undefined) return { schema: 'CloudEventSchemaV1_0', body }
  return isEventGridEvent(body) ? { schema: 'EventGridSchema', body } : undefined
}

/** Whether all fields of the Event Grid schema but the data are there. */
export function isEventGridEvent({ value }: EventText): boolean {
  const fields = ['id', 'topic', 'subject', 'eventType', 'eventTime', 'dataVersion', 'metadataVersion']
  return fields.every((field) => typeof value[field] === 'string')
}
