/** What of a request can be read: a header that a proxy may have doubled, and a body of JSON in UTF-8, within bounds of size and memory. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

/**
 * The value of a header; `undefined` where it has none, or several that differ. A proxy may send a header twice, and Node joins the two
 * values with a comma. Case does not count as a difference.
 */
export function soleValue(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  if (!header.includes(',')) return header.trim()
  const [first = '', ...others] = header.split(',').map((value) => value.trim())
  return others.every((value) => value.toLowerCase() === first.toLowerCase()) ? first : undefined
}

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

/**
 * How reading a body ended without its bytes: it is over the limit, or there was no room for it. Symbols, because a hook of the host may
 * replace a body by any text.
 */
export const overLimit = Symbol('body over the limit')
export const noRoom = Symbol('no room for the body')

/** The bytes of a body, or why there are none. */
type BodyResult = Buffer | typeof overLimit | typeof noRoom

/** Memory for unfinished bodies of strangers: those who stop early cannot fill the memory. */
export interface BodyBudget {
  /** The most bytes of all unfinished bodies together. */
  readonly maxBytes: number
  /** Bytes of the unfinished bodies. */
  usedBytes: number
}

/**
 * Reads a body and counts its bytes, because a chunked body declares no length. Stops reading beyond `limit`. Calls back once; with an
 * error for a body that is cut off. A hook of the host may replace the stream: an error, too, if that stream breaks, or gives neither
 * bytes nor text.
 */
export function readBody(
  body: Readable,
  limit: number,
  budget: BodyBudget | undefined,
  done: (error: Error | null, result?: BodyResult) => void,
): void {
  let chunks: Buffer[] = []
  let length = 0
  let ended = false
  const end = (error: Error | null, result?: BodyResult) => {
    if (ended) return
    ended = true
    if (budget) budget.usedBytes -= length
    // The request lives until the handler has ended; its chunks need not.
    chunks = []
    done(error, result)
  }
  body.on('data', (chunk: unknown) => {
    if (ended) return
    const bytes = bytesOf(chunk)
    if (bytes === undefined) return end(new TypeError('the stream of the body gives neither bytes nor text'))
    length += bytes.length
    if (budget) budget.usedBytes += bytes.length
    if (length <= limit && (!budget || budget.usedBytes <= budget.maxBytes)) return void chunks.push(bytes)
    body.pause()
    end(null, length > limit ? overLimit : noRoom)
  })
  body.on('end', () => end(null, joined(chunks, length)))
  const breakOff = () => {
    // Each body is closed. An Error costs a fifth of a delivery, so it is made only for a body that has not ended.
    if (!ended) end(new Error('the body was cut off'))
  }
  body.on('error', breakOff)
  body.on('close', breakOff)
}

/** A hook of the host may give text or other arrays of bytes in place of a Buffer. `undefined` for anything else. */
export function bytesOf(value: unknown): Buffer | undefined {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'string') return Buffer.from(value)
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined
}

/** An event keeps its body in memory, and must not keep a larger buffer of the connection with it. */
function joined(chunks: readonly Buffer[], length: number): Buffer {
  const [first] = chunks
  return first?.length === length && first.buffer.byteLength === length ? first : Buffer.concat(chunks, length)
}
