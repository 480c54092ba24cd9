/** Makes an event of plain data: from defaults and the invoke metadata. */
import type { EventSchema } from '../../metadata/typed/metadata.ts'
import type { Payload } from '../payload.ts'
import { invalidPayload, kindOf } from '../payload.ts'
import { faultsOfMetadata } from './event-faults.ts'
import { traceOfMetadata } from './event-trace.ts'

/** Invoke metadata that goes into an event made from data; names match without regard to case. */
export const metadataNames: ReadonlySet<string> = new Set([
  ...['type', 'source', 'subject', 'id', 'time', 'dataschema', 'traceparent', 'tracestate'],
])

/** The type of an event made from data, unless the invoke metadata says `type`. */
const defaultEventType = 'eventgrid-binding.create'

/** The subject of an event made from data in the Event Grid schema, which demands one, unless the invoke metadata says `subject`. */
const defaultSubject = 'eventgrid-binding'

/** Defaults for what neither data nor metadata give. */
export interface NewEventContext {
  readonly schema: EventSchema
  /** `source` of a CloudEvent, unless the invoke metadata says it: the topic endpoint without its query. */
  readonly defaultSource: string
  readonly now: () => number
  readonly newId: () => string
}

/**
 * The event that data becomes (pure; docs/publishing.md). Metadata of other names, and an invalid trace context, do not go into it. Data
 * that is JSON already stays as it is, to the byte. The Event Grid schema has no place for `dataschema` and bytes.
 *
 * @throws BindingError PAYLOAD_INVALID
 */
export function newEvent(payload: Payload, metadata: Readonly<Record<string, string>>, context: NewEventContext) {
  const { schema } = context
  const given = readAttributes(metadata)
  const faults = faultsOfMetadata(given, schema)
  if (faults.length > 0) throw invalidPayload(faults.join(', '), 'correct the metadata of the call', { faults })
  const id = given.get('id') ?? context.newId()
  const time = given.get('time') ?? new Date(context.now()).toISOString()
  const type = given.get('type') ?? defaultEventType
  const subject = given.get('subject')
  const source = given.get('source')
  const dataschema = given.get('dataschema')
  if (schema === 'CloudEventSchemaV1_0') {
    const attributes = {
      specversion: '1.0',
      id,
      source: source ?? context.defaultSource,
      type,
      ...(subject !== undefined && { subject }),
      time,
      ...(dataschema !== undefined && { dataschema }),
      ...traceOfMetadata(metadata),
      datacontenttype: mediaTypes[payload.kind],
    }
    return withData(attributes, payload)
  }
  if (dataschema !== undefined) {
    throw invalidPayload('dataschema has no place in the Event Grid schema', 'leave it out of the invoke metadata')
  }
  if (payload.kind === 'bytes') {
    throw invalidPayload(
      'the payload is bytes other than JSON, which the Event Grid schema has no place for',
      'give JSON or text, or publish to a topic of the CloudEvents schema',
    )
  }
  const attributes = {
    id,
    ...(source !== undefined && { topic: source }),
    subject: subject ?? defaultSubject,
    eventType: type,
    eventTime: time,
    dataVersion: '1.0',
  }
  return withData(attributes, payload)
}

const mediaTypes: Readonly<Record<Payload['kind'], string>> = {
  json: 'application/json',
  text: 'text/plain',
  bytes: 'application/octet-stream',
}

/** An event as JSON, and its attributes without the data. */
function withData(attributes: Readonly<Record<string, string>>, payload: Payload) {
  const data =
    payload.kind === 'bytes'
      ? `"data_base64":"${payload.bytes.toString('base64')}"`
      : `"data":${payload.kind === 'json' ? payload.text : JSON.stringify(payload.text)}`
  return { event: attributes, json: `${JSON.stringify(attributes).slice(0, -1)},${data}}` }
}

/** The known metadata by lower-case name. An empty value counts as absent. */
function readAttributes(metadata: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const given = new Map<string, string>()
  for (const [key, value] of Object.entries(metadata)) {
    const name = key.toLowerCase()
    if (!metadataNames.has(name) || value === '' || value === undefined) continue
    if (typeof value !== 'string') {
      throw invalidPayload(`metadata ${name} must be a string, not ${kindOf(value)}`, 'write it as text')
    }
    const before = given.get(name)
    if (before !== undefined && before !== value) {
      throw invalidPayload(`metadata ${name} is given twice`, 'give it once; names match without regard to case')
    }
    given.set(name, value)
  }
  return given
}
