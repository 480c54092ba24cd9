// CloudEvent in binary mode: `ce-` headers decoded; JSON nesting limit of 2,000.
import type { IncomingHttpHeaders } from 'node:http'
import { nestsDeeper } from '../../../support/text/json-text.ts'
import type { JsonObject } from './json-object.ts'

/** JSON can be written again up to a depth of some 4,000 levels. An event that can't be written could not be delivered. */
const maxDepth = 2_000

/** Whether a body holds JSON that could not be written again. */
export const nestsTooDeeply = (body: Buffer): boolean => nestsDeeper(body, maxDepth)

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
