/** Which bodies can be read: JSON in UTF-8, not compressed. */
import type { IncomingHttpHeaders } from 'node:http'

/** The content types that Event Grid writes. They need no parsing; a Set would hash the text of each request. */
const isUsual = (contentType: string | undefined) =>
  contentType === 'application/cloudevents+json; charset=utf-8' || contentType === 'application/json; charset=utf-8'

/**
 * Judges by headers whether a body can be read: any JSON type (`application/json`, or a `+json` suffix) in UTF-8, not compressed. Returns
 * the reason for a 415, or undefined.
 */
export function refuseRepresentation(headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding']
  if (encoding && encoding.toLowerCase() !== 'identity') return 'A compressed body is not accepted.'
  const contentType = headers['content-type']
  if (isUsual(contentType)) return undefined
  if (!contentType) return 'Content-Type is missing; JSON is expected.'
  const [mediaType = '', ...parameters] = contentType.split(';')
  if (!isJson(mediaType.trim().toLowerCase()))
    return 'Content-Type must be JSON, for instance application/cloudevents+json.'
  return parameters.every(isUtf8Parameter) ? undefined : 'The charset must be UTF-8.'
}

/** A doubled header, `a, a`, is no media type. */
function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || /^[\w!#$%&'*.^`|~-]+\/[\w!#$%&'*+.^`|~-]*\+json$/.test(mediaType)
}

/** Ignores other parameters than `charset`, as RFC 9110 demands. */
function isUtf8Parameter(parameter: string): boolean {
  const charset = /^\s*charset\s*=(.*)/is.exec(parameter)?.[1]
  return charset === undefined || /^("?)utf-?8\1$/i.test(charset.trim())
}

/** The declared size of a body in bytes, or undefined for a chunked body. */
export function declaredLength(headers: IncomingHttpHeaders): number | undefined {
  const length = headers['content-length']
  if (length !== undefined) return Number(length)
  return headers['transfer-encoding'] === undefined ? 0 : undefined
}
