// What a namespace topic accepts: 1 MiB, 1,000 events, content types, required attributes.
import type { IncomingHttpHeaders } from 'node:http'
import { isRecord } from '../../support/text/is-record.ts'
import { readJson } from '../../support/text/json-text.ts'
import type { JsonObject } from '../model/events/json-object.ts'
import { binaryAttributes, nestsTooDeeply } from '../model/events/published-cloud-event.ts'
import { badRequest, forbidden } from './namespace-error.ts'

/** Bounds of a publish request (Event Grid namespaces: quotas). */
export const namespacePublishLimits = { bodyBytes: 1_048_576, events: 1_000 } as const

export const messageTooLarge = () =>
  forbidden(`The message is too large: ${namespacePublishLimits.bodyBytes} bytes are allowed.`)

const jsonType = /^application\/(.+\+)?json$/

/** The events of a publish request: a single one, a batch, or one in binary mode. Throws a NamespaceError. */
export function parseCloudEvents(headers: IncomingHttpHeaders, body: Buffer): readonly JsonObject[] {
  if (body.length > namespacePublishLimits.bodyBytes) throw messageTooLarge()
  const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (jsonType.test(mediaType) && nestsTooDeeply(body)) throw badRequest('The JSON is nested too deeply.')
  if (headers['ce-specversion'] !== undefined) return [checked(binaryEvent(headers, mediaType, body))]
  const isBatch = mediaType === 'application/cloudevents-batch+json'
  if (!isBatch && mediaType !== 'application/cloudevents+json') {
    throw badRequest(`The content type '${mediaType}' is not supported by a namespace topic.`)
  }
  const parsed = readJson(body.toString())
  if (!isBatch) return [checked(parsed)]
  if (!Array.isArray(parsed)) throw badRequest('The body must be a JSON array of CloudEvents.')
  if (parsed.length > namespacePublishLimits.events) {
    throw forbidden(`A request may hold ${namespacePublishLimits.events} events at most.`)
  }
  return parsed.map(checked)
}

function checked(value: unknown): JsonObject {
  if (!isRecord(value)) throw badRequest('The body is not a CloudEvent.')
  if (value.specversion !== '1.0') throw badRequest("The 'specversion' attribute must be 1.0.")
  for (const name of ['id', 'source', 'type']) {
    const attribute = value[name]
    if (typeof attribute !== 'string' || attribute === '') throw badRequest(`The '${name}' attribute is required.`)
  }
  // Seen in a recorded test of Azure's Go client: an event without data is refused.
  if (value.data === undefined && value.data_base64 === undefined) {
    throw badRequest("The 'data' attribute is required.")
  }
  const wrong = Object.keys(value).find((name) => name !== 'data_base64' && !/^[a-z0-9]{1,20}$/.test(name))
  if (wrong !== undefined) throw badRequest(`The attribute name '${wrong.slice(0, 50)}' is not valid.`)
  return value
}

/** The event of a request in binary mode: attributes in `ce-` headers, the data in the body. */
function binaryEvent(headers: IncomingHttpHeaders, mediaType: string, body: Buffer): JsonObject | undefined {
  // Azure's own rule: the content type says what the data is.
  if (headers['ce-datacontenttype'] !== undefined) return undefined
  const event = binaryAttributes(headers, headers['content-type'] ?? 'application/octet-stream')
  if (jsonType.test(mediaType)) return { ...event, data: readJson(body.toString()) }
  if (mediaType.startsWith('text/')) return { ...event, data: body.toString() }
  return { ...event, data_base64: body.toString('base64') }
}
