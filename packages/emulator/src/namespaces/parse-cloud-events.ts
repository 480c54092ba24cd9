// Publish formats of namespaces: structured, batch, binary; limits of 1 MiB and 1,000 events; attribute names and times.
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'
import { binaryAttributes } from '../model/events/binary-cloud-event.ts'
import { utcTime } from '../model/events/event-grid-time.ts'
import { type EventText, eventOf, eventSlices, eventText, withMembers, withText } from '../model/events/event-text.ts'
import { jsonTextOf, nestsTooDeeply } from '../model/events/json-object.ts'
import { badRequest, forbidden, NamespaceError } from './namespace-error.ts'

/** Bounds of a publish request (Event Grid namespaces: quotas). */
export const namespacePublishLimits = { bodyBytes: 1_048_576, events: 1_000 } as const

export const messageTooLarge = () =>
  forbidden(`The message is too large: ${namespacePublishLimits.bodyBytes} bytes are allowed.`)

const jsonType = /^application\/(.+\+)?json$/

/** The events of a publish request: a single one, a batch, or one in binary mode. Throws a NamespaceError. */
export function parseCloudEvents(headers: IncomingHttpHeaders, body: Buffer): readonly EventText[] {
  if (body.length > namespacePublishLimits.bodyBytes) throw messageTooLarge()
  const contentType = headers['content-type']
  if (contentType === undefined) throw badRequest('CONTENT-TYPE is not provided')
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (jsonType.test(mediaType) && nestsTooDeeply(body)) throw badRequest('The JSON is nested too deeply.')
  // The media type decides: `ce-` headers beside a structured event are ignored (recorded test of Azure's JavaScript client).
  const isBatch = mediaType === 'application/cloudevents-batch+json'
  if (!isBatch && mediaType !== 'application/cloudevents+json') {
    if (headers['ce-specversion'] !== undefined)
      return [{ ...checked(binaryEvent(headers, contentType, mediaType, body)), isBinary: true }]
    throw badRequest(`The content type '${mediaType}' is not supported by a namespace topic.`)
  }
  const parsed = readJson(body.toString())
  if (!isBatch) return [checked(asEvent(body, parsed))]
  if (!Array.isArray(parsed)) throw badRequest('The body must be a JSON array of CloudEvents.')
  if (parsed.length > namespacePublishLimits.events) {
    throw forbidden(`A request may hold ${namespacePublishLimits.events} events at most.`)
  }
  return eventSlices(body, parsed.length).map((slice, index) => checked(asEvent(slice, parsed[index])))
}

/** Events that are raised at a namespace topic, checked as if published. Throws a TypeError for an invalid one. */
export function raisedCloudEvents(events: readonly unknown[]): readonly EventText[] {
  return events.map((event, index) => {
    jsonTextOf(event, `event ${index}`)
    if (!isRecord(event)) throw new TypeError('a raised event must be an object')
    try {
      return checked(eventOf(event))
    } catch (error) {
      if (error instanceof NamespaceError) throw new TypeError(`event ${index}: ${error.message}`)
      throw error
    }
  })
}

function asEvent(bytes: Buffer, value: unknown): EventText {
  if (!isRecord(value)) throw badRequest('The body is not a CloudEvent.')
  return eventText(bytes, value)
}

/** Checks an event in the order and the words (two kinds of quotes) of recorded answers, and writes its time as Azure does. */
function checked(event: EventText): EventText {
  const { value } = event
  if (value.data === undefined && value.data_base64 === undefined) throw badRequest("'data' attribute is required")
  if (value.specversion !== '1.0') throw badRequest('`specversion` attribute must be 1.0')
  for (const name of ['id', 'source', 'type']) {
    const attribute = value[name]
    if (typeof attribute !== 'string' || attribute === '') throw badRequest(`\`${name}\` attribute is required`)
  }
  const wrong = Object.keys(value).find((name) => name !== 'data_base64' && !/^[a-z0-9]{1,20}$/.test(name))
  if (wrong !== undefined) throw badRequest(`The attribute name '${wrong.slice(0, 50)}' is not valid.`)
  if (value.time === undefined || value.time === null) return event
  const time = utcTime(value.time)
  if (time === undefined) throw badRequest('`time` attribute is not valid')
  return withMembers(event, { time })
}

/** The event of a request in binary mode: attributes in `ce-` headers, the data in the body. */
function binaryEvent(headers: IncomingHttpHeaders, contentType: string, mediaType: string, body: Buffer): EventText {
  // Azure's own rule: the content type says what the data is.
  if (headers['ce-datacontenttype'] !== undefined) throw badRequest('`ce-datacontenttype` must not be given')
  const event = eventOf(binaryAttributes(headers, contentType))
  const text = body.toString()
  if (!jsonType.test(mediaType)) {
    return withMembers(event, mediaType.startsWith('text/') ? { data: text } : { data_base64: body.toString('base64') })
  }
  if (readJson(text) === undefined) throw badRequest('The data is not valid JSON.')
  return withText(event, 'data', text.trim())
}
