import { isRecord } from '../../support/is-record.ts'
import type { JsonObject } from '../model/json-object.ts'
import type { InputSchema } from '../model/model.ts'

export interface TopicRequest {
  readonly contentType: string
  readonly body: string
}

/** Values for the required fields that the form's event may leave out. */
export interface Stamp {
  readonly id: () => string
  /** ISO 8601. */
  readonly time: string
}

/**
 * Makes the request that publishes the form's event, or array of events, in the topic's schema. A missing id or time
 * is added, so that a sample can be published twice. The topic checks everything else.
 */
export function topicRequest(events: unknown, schema: InputSchema, stamp: Stamp): TopicRequest {
  const complete = (event: unknown) => (isRecord(event) ? stamped(event, schema, stamp) : event)
  const many = Array.isArray(events)
  const completed = many ? events.map(complete) : complete(events)
  if (schema !== 'CloudEventSchemaV1_0') {
    return { contentType: 'application/json', body: JSON.stringify(many ? completed : [completed]) }
  }
  const form = many ? 'cloudevents-batch' : 'cloudevents'
  return { contentType: `application/${form}+json; charset=utf-8`, body: JSON.stringify(completed) }
}

function stamped(event: JsonObject, schema: InputSchema, { id, time }: Stamp): JsonObject {
  if (schema === 'CustomEventSchema') return event
  if (schema === 'EventGridSchema') return { id: id(), eventTime: time, ...event }
  return { id: id(), time, ...event }
}
