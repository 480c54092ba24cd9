/** What a published event must have in the schema of its topic, and what Event Grid adds to it. */

import { randomUUID } from 'node:crypto'
import { type AcceptedEvent, eventSchemaNames, isEventGridEvent } from '../model/events/accepted-event.ts'
import {
  type EventText,
  eventOf,
  type JsonObject,
  plainTextAt,
  textOf,
  withMembers,
  withText,
} from '../model/events/event-text.ts'
import type { InputSchema, Publishable } from '../model/resources/resource.ts'
import { preciseTime } from '../model/wording.ts'
import { domainTopicId } from './accept-events.ts'
import { invalidInput, type PublishFault, unauthorized } from './publish-fault.ts'

const eventGridFields: ReadonlySet<string> = new Set([
  'id',
  'topic',
  'subject',
  'eventType',
  'eventTime',
  'data',
  'dataVersion',
  'metadataVersion',
])

/** Checks a published event and adds the fields that Event Grid adds. Throws a PublishFault. */
export function checkPublishedEvent(event: EventText, target: Publishable, now: number): AcceptedEvent {
  if (target.inputSchema === 'CloudEventSchemaV1_0') return checkCloudEvent(event, target)
  if (target.inputSchema === 'EventGridSchema') return checkEventGridEvent(event, target)
  return checkCustomEvent(event, target, now)
}

function checkCloudEvent(body: EventText, target: Publishable): AcceptedEvent {
  const { value: event } = body
  const schema = 'CloudEventSchemaV1_0'
  for (const name of ['id', 'source', 'type', 'specversion']) requireText(event, name, schema)
  if (event.specversion !== '1.0') throw badValue(schema, 'specversion')
  for (const name of ['subject', 'datacontenttype', 'dataschema', 'data_base64']) {
    if (!isAbsent(event[name]) && typeof event[name] !== 'string') throw badValue(schema, name)
  }
  if (!isAbsent(event.time) && !isTime(event.time)) throw badValue(schema, 'time')
  if (!isAbsent(event.data) && !isAbsent(event.data_base64)) throw badValue(schema, 'data_base64')
  if (target.type === 'domains') namedTopic(event.source, target, schema)
  return { schema, body }
}

function checkEventGridEvent(given: EventText, target: Publishable): AcceptedEvent {
  const { value: event } = given
  const schema = 'EventGridSchema'
  const unknown = Object.keys(event).find((name) => !eventGridFields.has(name))
  if (unknown !== undefined) throw unexpectedField(unknown)
  for (const name of ['id', 'subject', 'eventType', 'eventTime']) requireText(event, name, schema)
  const { eventTime, dataVersion, metadataVersion } = event
  if (!isTime(eventTime)) throw badValue(schema, 'eventTime')
  if (!isAbsent(dataVersion) && typeof dataVersion !== 'string') throw badValue(schema, 'dataVersion')
  if (!isAbsent(metadataVersion) && metadataVersion !== '1') throw badValue(schema, 'metadataVersion')
  const topic = namedTopic(event.topic, target, schema)
  const body = withMembers(given, { topic, dataVersion: dataVersion ?? '', metadataVersion: '1' })
  if (!isEventGridEvent(body)) throw badValue(schema, 'id')
  return { schema, body }
}

function checkCustomEvent(body: EventText, target: Publishable, now: number): AcceptedEvent {
  const schema = 'CustomEventSchema'
  const mapped = mapCustomEvent(body, target, { now, id: randomUUID() })
  if ('missing' in mapped) throw requires(schema, mapped.missing)
  if (target.type === 'topics') return { schema, body, mapped }
  return { schema, body, mapped: withMembers(mapped, { topic: namedTopic(mapped.value.topic, target, schema) }) }
}

/** The id of the custom topic, or of the domain topic that an event of a domain must name. Throws a PublishFault. */
function namedTopic(topic: unknown, target: Publishable, schema: InputSchema): string {
  const absent = isAbsent(topic) || topic === ''
  if (target.type === 'topics') {
    if (absent || (typeof topic === 'string' && topic.toLowerCase() === target.id.toLowerCase())) return target.id
    throw unauthorized(`The topic '${String(topic)}' of the event is not the one it was sent to.`)
  }
  if (absent) throw requires(schema, 'topic')
  const id = typeof topic === 'string' ? domainTopicId(target, topic) : undefined
  if (id !== undefined) return id
  const found = String(topic).slice(0, 300)
  throw invalidInput(
    `Required property 'topic' needs to either be a full resource id or should be just the name of the domain topic. Found: ${found}.`,
  )
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

/** Whether this is a date with a time, in the form of RFC 3339 or .NET. The text is delivered unchanged. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function requireText(event: JsonObject, name: string, schema: InputSchema): void {
  const value = Object.hasOwn(event, name) ? event[name] : undefined
  if (isAbsent(value) || value === '') throw requires(schema, name)
  if (typeof value !== 'string') throw badValue(schema, name)
}

function requires(schema: InputSchema, name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${eventSchemaNames[schema]}' schema and requires '${name}' property to be set.`,
  )
}

function badValue(schema: InputSchema, name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${eventSchemaNames[schema]}' schema. The value of property '${name}' ` +
      `does not conform to the expected schema.`,
  )
}

function unexpectedField(name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${eventSchemaNames.EventGridSchema}' schema. Received unexpected ` +
      `property '${name}' in JSON which does not conform to the expected schema.`,
  )
}

/** The JSON begins with the wrong token. */
export function notConforming(
  schema: InputSchema,
  expected: 'StartArray' | 'StartObject',
  actual: string,
): PublishFault {
  return invalidInput(
    `This resource is configured to receive event in '${eventSchemaNames[schema]}' schema. The JSON received does not conform to ` +
      `the expected schema. Token Expected: ${expected}, Actual Token Received: ${actual}.`,
  )
}

/** What .NET's JSON reader calls the beginning of a value. */
export function tokenOf(value: unknown): string {
  if (Array.isArray(value)) return 'StartArray'
  if (value === null) return 'Null'
  if (typeof value === 'string') return 'String'
  if (typeof value === 'boolean') return 'Boolean'
  if (typeof value === 'number') return Number.isInteger(value) ? 'Integer' : 'Float'
  return value === undefined ? 'None' : 'StartObject'
}

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
