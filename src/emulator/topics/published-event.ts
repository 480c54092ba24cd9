import { randomUUID } from 'node:crypto'
import { isRecord } from '../../support/is-record.ts'
import { type AcceptedEvent, schemaNames } from '../model/accepted-event.ts'
import { isEventGridEvent } from '../model/convert-schema.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { InputSchema } from '../model/model.ts'
import type { Publishable } from '../model/resource.ts'
import { mapCustomEvent } from './input-mapping.ts'
import { invalidInput, type PublishFault, unauthorized } from './publish-fault.ts'
import { domainTopicId } from './sourced-events.ts'

export type CheckedEvent = { readonly event: AcceptedEvent } | { readonly fault: PublishFault }

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

/** Checks a published event and adds the fields that Event Grid adds. */
export function checkPublishedEvent(event: unknown, target: Publishable, now: number): CheckedEvent {
  if (!isRecord(event)) return { fault: notConforming(target.inputSchema, 'StartObject', tokenOf(event)) }
  if (target.inputSchema === 'CloudEventSchemaV1_0') return checkCloudEvent(event, target)
  if (target.inputSchema === 'EventGridSchema') return checkEventGridEvent(event, target)
  return checkCustomEvent(event, target, now)
}

function checkCloudEvent(event: JsonObject, target: Publishable): CheckedEvent {
  const schema = 'CloudEventSchemaV1_0'
  for (const name of ['id', 'source', 'type', 'specversion']) {
    const fault = requiredText(event, name, schema)
    if (fault) return { fault }
  }
  if (event.specversion !== '1.0') return { fault: badValue(schema, 'specversion') }
  for (const name of ['subject', 'datacontenttype', 'dataschema', 'data_base64']) {
    if (!isAbsent(event[name]) && typeof event[name] !== 'string') return { fault: badValue(schema, name) }
  }
  if (!isAbsent(event.time) && !isTime(event.time)) return { fault: badValue(schema, 'time') }
  if (!isAbsent(event.data) && !isAbsent(event.data_base64)) return { fault: badValue(schema, 'data_base64') }
  if (target.type === 'domains') {
    const named = namedTopic(event.source, target, schema)
    if ('fault' in named) return named
  }
  return { event: { schema, body: event } }
}

function checkEventGridEvent(event: JsonObject, target: Publishable): CheckedEvent {
  const schema = 'EventGridSchema'
  const unknown = Object.keys(event).find((name) => !eventGridFields.has(name))
  if (unknown !== undefined) return { fault: unexpectedField(unknown) }
  for (const name of ['id', 'subject', 'eventType', 'eventTime']) {
    const fault = requiredText(event, name, schema)
    if (fault) return { fault }
  }
  if (!isTime(event.eventTime)) return { fault: badValue(schema, 'eventTime') }
  if (!isAbsent(event.dataVersion) && typeof event.dataVersion !== 'string')
    return { fault: badValue(schema, 'dataVersion') }
  if (!isAbsent(event.metadataVersion) && event.metadataVersion !== '1')
    return { fault: badValue(schema, 'metadataVersion') }
  const named = namedTopic(event.topic, target, schema)
  if ('fault' in named) return named
  const body = { ...event, topic: named.id, dataVersion: event.dataVersion ?? '', metadataVersion: '1' }
  return isEventGridEvent(body) ? { event: { schema, body } } : { fault: badValue(schema, 'id') }
}

function checkCustomEvent(event: JsonObject, target: Publishable, now: number): CheckedEvent {
  const schema = 'CustomEventSchema'
  const mapped = mapCustomEvent(event, target, { now, id: randomUUID() })
  if ('missing' in mapped) return { fault: requires(schema, mapped.missing) }
  if (target.type === 'topics') return { event: { schema, body: event, mapped } }
  const named = namedTopic(mapped.topic, target, schema)
  return 'fault' in named ? named : { event: { schema, body: event, mapped: { ...mapped, topic: named.id } } }
}

/** The id of the custom topic, or of the domain topic that an event of a domain must name. */
function namedTopic(
  topic: unknown,
  target: Publishable,
  schema: InputSchema,
): { readonly id: string } | { readonly fault: PublishFault } {
  const absent = isAbsent(topic) || topic === ''
  if (target.type === 'topics') {
    if (absent || isTopic(topic, target)) return target
    return { fault: unauthorized(`The topic '${String(topic)}' of the event is not the one it was sent to.`) }
  }
  if (absent) return { fault: requires(schema, 'topic') }
  const id = typeof topic === 'string' ? domainTopicId(target, topic) : undefined
  if (id !== undefined) return { id }
  const found = String(topic).slice(0, 300)
  return {
    fault: invalidInput(
      `Required property 'topic' needs to either be a full resource id or should be just the name of the domain topic. Found: ${found}.`,
    ),
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

function isTopic(value: unknown, topic: Publishable): boolean {
  return typeof value === 'string' && value.toLowerCase() === topic.id.toLowerCase()
}

/** Whether this is a date with a time, in the form of RFC 3339 or .NET. The text is delivered unchanged. */
function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function requiredText(event: JsonObject, name: string, schema: InputSchema): PublishFault | undefined {
  const value = Object.hasOwn(event, name) ? event[name] : undefined
  if (isAbsent(value) || value === '') return requires(schema, name)
  return typeof value === 'string' ? undefined : badValue(schema, name)
}

function requires(schema: InputSchema, name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${schemaNames[schema]}' schema and requires '${name}' property to be set.`,
  )
}

function badValue(schema: InputSchema, name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${schemaNames[schema]}' schema. The value of property '${name}' ` +
      `does not conform to the expected schema.`,
  )
}

function unexpectedField(name: string): PublishFault {
  return invalidInput(
    `This resource is configured for '${schemaNames.EventGridSchema}' schema. Received unexpected ` +
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
    `This resource is configured to receive event in '${schemaNames[schema]}' schema. The JSON received does not conform to ` +
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
