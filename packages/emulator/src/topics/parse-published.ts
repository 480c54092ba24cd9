/** Which events the body of a publish request holds, in the schema of the topic. */
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { type AcceptedEvent, binaryAttributes, eventSchemaNames } from '../model/events/accepted-event.ts'
import {
  type EventText,
  eventOf,
  eventSlices,
  eventText,
  nestsTooDeeply,
  textOf,
  withText,
} from '../model/events/event-text.ts'
import type { Publishable } from '../model/resources/resource.ts'
import { checkPublishedEvent, notConforming, tokenOf } from './check-published-event.ts'
import { invalidInput, tooLarge, tooManyEvents, unsupportedMediaType } from './publish-fault.ts'

/**
 * Limits of an event and of a request. The documentation says 1 MB for both; these were measured at the real service
 * (AzureEventGridSimulator, issue 201).
 */
export const publishLimits = { eventBytes: 1_049_600, requestBytes: 1_536_000, events: 5000 } as const

type Form = 'single' | 'batch' | 'binary'

/** Reads and checks a request's body in the input schema of a topic or domain. Throws a PublishFault. */
export function parsePublished(
  headers: IncomingHttpHeaders,
  sent: Buffer,
  target: Publishable,
  now: number,
): AcceptedEvent[] {
  const body = withoutMark(sent)
  if (body.length > publishLimits.requestBytes) throw tooLarge(publishLimits.requestBytes)
  const form = formOf(headers, target)
  if (!form) throw unsupportedMediaType()
  if (form === 'binary' && body.length === 0) return [checked(binaryEvent(headers))]
  const json = parseJson(body)
  if (json === undefined) throw invalidInput(unreadable(target))
  if (nestsTooDeeply(body)) throw invalidInput('The JSON received is nested too deeply.')
  if (form === 'binary') return [checked(binaryEvent(headers, body))]
  if (form === 'single') {
    if (Array.isArray(json)) throw notConforming(target.inputSchema, 'StartObject', 'StartArray')
    return [checked(asEvent(body, json))]
  }
  if (!Array.isArray(json)) throw notConforming(target.inputSchema, 'StartArray', tokenOf(json))
  if (json.length === 0) throw invalidInput(unreadable(target))
  if (json.length > publishLimits.events) throw tooManyEvents(publishLimits.events)
  return eventSlices(body, json.length).map((slice, index) => checked(asEvent(slice, json[index])))

  function asEvent(bytes: Buffer, value: unknown): EventText {
    if (!isRecord(value)) throw notConforming(target.inputSchema, 'StartObject', tokenOf(value))
    return eventText(bytes, value)
  }

  function checked(event: EventText): AcceptedEvent {
    // An event is not larger than its request, so most events need not be measured.
    const isMeasured = body.length > publishLimits.eventBytes
    if (isMeasured && Buffer.byteLength(textOf(event)) > publishLimits.eventBytes)
      throw tooLarge(publishLimits.eventBytes)
    return checkPublishedEvent(event, target, now)
  }
}

const isBinary = (headers: IncomingHttpHeaders) =>
  ['ce-id', 'ce-source', 'ce-type', 'ce-specversion'].some((name) => headers[name] !== undefined)

/**
 * The other schemas are accepted with any media type: Microsoft's quickstart posts them with `curl -d`, as a form.
 */
function formOf(headers: IncomingHttpHeaders, target: Publishable): Form | undefined {
  const contentType = (headers['content-type'] ?? '').toLowerCase()
  const [type = ''] = contentType.split(';')
  const charset = /charset\s*=\s*"?([^";\s]+)/.exec(contentType)?.[1]
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') return undefined
  if (target.inputSchema !== 'CloudEventSchemaV1_0') return 'batch'
  const media = type.trim()
  if (media === 'application/cloudevents-batch+json') return 'batch'
  if (media === 'application/cloudevents+json') return 'single'
  // Binary mode supports JSON data only; JSON without `ce-` headers is read as a structured event.
  if (media !== 'application/json') return undefined
  return isBinary(headers) ? 'binary' : 'single'
}

/** Undefined for what is not JSON in UTF-8. */
function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    return undefined
  }
}

/** A body without the byte order mark that some programs begin a text with. */
function withoutMark(body: Buffer): Buffer {
  return body.subarray(body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0)
}

function unreadable(target: Publishable): string {
  return (
    `This resource is configured to receive event in '${eventSchemaNames[target.inputSchema]}' schema. ` +
    'The JSON received does not conform to the expected schema.'
  )
}

/** A CloudEvent of headers and data, which is JSON (CloudEvents: HTTP binding, binary content mode). */
function binaryEvent(headers: IncomingHttpHeaders, data?: Buffer): EventText {
  const attributes = eventOf(binaryAttributes(headers, headers['content-type'] ?? 'application/json'))
  return data === undefined ? attributes : withText(attributes, 'data', data.toString().trim())
}
