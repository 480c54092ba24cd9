/** An event of one schema in the form of the other, where that has one: CloudEvent and Event Grid event. */
import { readEvent } from '../../dispatch/read-delivery.ts'
import type { UnknownRecord } from '../../support/text/is-record.ts'
import type { DeadLetter } from './dead-letter.ts'

/** The event in the other schema, or why that has no form for it (pure). `source`: of a CloudEvent, where the event has none. */
export function convertEvent(letter: DeadLetter, source: string): UnknownRecord | string {
  return letter.schema === 'CloudEventSchemaV1_0' ? toEventGridEvent(letter) : toCloudEvent(letter, source)
}

/** The versions have no place in a CloudEvent, and Event Grid drops them as well when it delivers one. */
function toCloudEvent({ event }: DeadLetter, topic: string): UnknownRecord | string {
  const reading = readEvent({ topic, ...event })
  return 'invalid' in reading ? reading.invalid : { ...reading.cloudEvent }
}

/** The source has no place either: Event Grid stamps its own topic. The trace is not worth an event. */
const leftOut: ReadonlySet<string> = new Set(['specversion', 'source', 'traceparent', 'tracestate'])
const carried: ReadonlySet<string> = new Set(['id', 'type', 'subject', 'time', 'data', 'datacontenttype'])
const heldMediaType = /^(?:text\/plain|application\/(?:[\w.-]+\+)?json)\s*(?:;|$)/i

function toEventGridEvent({ event, publishTime }: DeadLetter): UnknownRecord | string {
  const { id, type, data, datacontenttype: mediaType } = event
  const time = event.time ?? publishTime
  const strays = Object.keys(event).filter((name) => event[name] !== null && !leftOut.has(name) && !carried.has(name))
  if (strays.length > 0) return `the Event Grid schema has no place for ${strays.join(', ')}`
  if (typeof mediaType === 'string' && !heldMediaType.test(mediaType)) {
    return `the Event Grid schema holds JSON and text, and its datacontenttype is ${mediaType}`
  }
  if (time === undefined) return 'the Event Grid schema needs a time, and it has none'
  // As Event Grid converts the other way: an empty subject is none.
  return { id, eventType: type, subject: event.subject ?? '', eventTime: time, ...(data !== undefined && { data }) }
}
