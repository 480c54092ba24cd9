import type { CloudEvent } from '../core/event.ts'
import { isRecord, type UnknownRecord } from '../support/is-record.ts'

/** An event as read: in CloudEvents form whatever schema it came in, and the content type of its own bytes; or why it is none. */
export type EventReading =
  | { readonly cloudEvent: CloudEvent; readonly contentType: string }
  | { readonly invalid: string }

/** Reads a parsed JSON value as an event of either schema. A `specversion` makes it a CloudEvent, an `eventType` an Event Grid event. */
export function readEvent(value: unknown): EventReading {
  if (!isRecord(value)) return { invalid: 'it is no object' }
  if (Object.hasOwn(value, 'specversion')) return readCloudEvent(value)
  if (Object.hasOwn(value, 'eventType')) return readEventGridEvent(value)
  return { invalid: 'it has neither specversion nor eventType' }
}

const optionalTexts = ['subject', 'time', 'datacontenttype', 'dataschema', 'data_base64'] as const
const contentType = 'application/cloudevents+json'

/** CloudEvents 1.x: minor versions are compatible. An attribute that is null counts as unset (CloudEvents JSON format, 2.2). */
function readCloudEvent(value: UnknownRecord): EventReading {
  const { specversion, id, source, type } = value
  if (typeof specversion !== 'string' || !specversion.startsWith('1.')) return { invalid: 'its specversion is not 1.0' }
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or no text' }
  if (typeof source !== 'string' || source === '') return { invalid: 'its source is missing or no text' }
  if (typeof type !== 'string' || type === '') return { invalid: 'its type is missing or no text' }
  let nulls = false
  for (const name of optionalTexts) {
    const attribute = value[name]
    if (attribute === null) nulls = true
    else if (attribute !== undefined && typeof attribute !== 'string') return { invalid: `its ${name} is no text` }
  }
  const event = nulls ? withoutNullAttributes(value) : value
  return isCloudEvent(event) ? { cloudEvent: event, contentType } : { invalid: 'it is no CloudEvent' }
}

function withoutNullAttributes(value: UnknownRecord): Record<string, unknown> {
  const unset = new Set<string>(optionalTexts.filter((name) => value[name] === null))
  return Object.fromEntries(Object.entries(value).filter(([name]) => !unset.has(name)))
}

/** Only the type checker's view: {@link readCloudEvent} has looked at the rest. */
function isCloudEvent(value: UnknownRecord): value is CloudEvent {
  return typeof value.specversion === 'string'
}

/** Event Grid converts in the same way (cloud-event-schema): the versions vanish, no datacontenttype or dataschema is made up. */
function readEventGridEvent(value: UnknownRecord): EventReading {
  const { id, topic, subject, eventType, eventTime } = value
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or no text' }
  if (typeof eventType !== 'string' || eventType === '') return { invalid: 'its eventType is missing or no text' }
  if (typeof topic !== 'string' || topic === '') return { invalid: 'its topic is missing or no text' }
  if (typeof subject !== 'string') return { invalid: 'its subject is missing or no text' }
  if (typeof eventTime !== 'string') return { invalid: 'its eventTime is missing or no text' }
  return {
    cloudEvent: {
      specversion: '1.0',
      id,
      source: topic,
      type: eventType,
      // CloudEvents knows no empty subject; Event Grid's own system events have one.
      ...(subject === '' ? {} : { subject }),
      time: eventTime,
      data: value.data,
    },
    contentType: 'application/json',
  }
}
