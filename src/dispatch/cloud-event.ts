/** Received JSON as a CloudEvent, whatever its schema was, or the reason why it is not an event. */
import type { CloudEvent } from '../core/event.ts'
import { schemaOf } from '../core/schema-of.ts'
import { isRecord, type UnknownRecord } from '../support/text/is-record.ts'

/** An event in CloudEvents form, whatever its schema was, with the content type of its bytes; or the reason why it is not an event. */
export type EventReading =
  | { readonly cloudEvent: CloudEvent; readonly contentType: string }
  | { readonly invalid: string }

/** Reads a parsed JSON value as an event of either schema. */
export function readEvent(value: unknown): EventReading {
  if (!isRecord(value)) return { invalid: 'it is not an object' }
  const schema = schemaOf(value)
  if (schema === undefined) return { invalid: 'it has neither specversion nor eventType' }
  return schema === 'EventGridSchema' ? readEventGridEvent(value) : readCloudEvent(value)
}

const optionalTexts = ['subject', 'time', 'datacontenttype', 'dataschema', 'data_base64'] as const
const contentType = 'application/cloudevents+json'

/** CloudEvents 1.x: minor versions are compatible. An attribute that is null counts as unset (CloudEvents JSON format, 2.2). */
function readCloudEvent(value: UnknownRecord): EventReading {
  const { specversion, id, source, type } = value
  if (typeof specversion !== 'string' || !specversion.startsWith('1.')) return { invalid: 'its specversion is not 1.0' }
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or not a text' }
  if (typeof source !== 'string' || source === '') return { invalid: 'its source is missing or not a text' }
  if (typeof type !== 'string' || type === '') return { invalid: 'its type is missing or not a text' }
  for (const name of optionalTexts) {
    const attribute = value[name] ?? undefined
    if (attribute !== undefined && typeof attribute !== 'string') return { invalid: `its ${name} is not a text` }
  }
  const event = withoutNullAttributes(value)
  return isCloudEvent(event) ? { cloudEvent: event, contentType } : { invalid: 'it is not a CloudEvent' }
}

/** `data` may be null; it is no attribute. */
function withoutNullAttributes(value: UnknownRecord): UnknownRecord {
  if (!Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([name, set]) => set !== null || name === 'data'))
}

/** For the type checker: {@link readCloudEvent} has checked the rest. */
function isCloudEvent(value: UnknownRecord): value is CloudEvent {
  return typeof value.specversion === 'string'
}

/** Converts as Event Grid does (cloud-event-schema): the versions are dropped, and no datacontenttype or dataschema is added. */
function readEventGridEvent(value: UnknownRecord): EventReading {
  const { id, topic, subject, eventType, eventTime } = value
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or not a text' }
  if (typeof eventType !== 'string' || eventType === '') return { invalid: 'its eventType is missing or not a text' }
  if (typeof topic !== 'string' || topic === '') return { invalid: 'its topic is missing or not a text' }
  if (typeof subject !== 'string') return { invalid: 'its subject is missing or not a text' }
  if (typeof eventTime !== 'string') return { invalid: 'its eventTime is missing or not a text' }
  return {
    cloudEvent: {
      specversion: '1.0',
      id,
      source: topic,
      type: eventType,
      // A CloudEvent must not have an empty subject; Event Grid's own system events have one.
      ...(subject === '' ? {} : { subject }),
      time: eventTime,
      data: value.data,
    },
    contentType: 'application/json',
  }
}
