// CloudEvent in binary mode: `ce-` headers decoded.
import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from './json-object.ts'

/** The attributes of a CloudEvent in binary mode, with the media type of its data (CloudEvents, HTTP binding 3.1). */
export function binaryAttributes(headers: IncomingHttpHeaders, datacontenttype: string): JsonObject {
  const attributes = Object.entries(headers).flatMap(([name, value]) =>
    name.startsWith('ce-') && typeof value === 'string' ? [[name.slice('ce-'.length), percentDecoded(value)]] : [],
  )
  return { ...Object.fromEntries(attributes), datacontenttype }
}

/** Header values are percent-encoded where they are not plain ASCII (CloudEvents, HTTP binding 3.1.3.2). */
function percentDecoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
