/** HTTP itself: what of a request can be read (path, headers, body), and the form of an answer. */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/**
 * The value of a header; `undefined` where the header has none, or several that differ. A proxy may send a header twice, and Node joins the
 * two values with a comma. Case does not count as a difference.
 */
export function soleValue(header: string | readonly string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined
  if (!header.includes(',')) return header.trim()
  const [first = '', ...others] = header.split(',').map((value) => value.trim())
  return others.every((value) => value.toLowerCase() === first.toLowerCase()) ? first : undefined
}

/**
 * Judges by headers whether a body can be read: any JSON type (`application/json`, or a `+json` suffix) in UTF-8, not compressed. Returns
 * the reason for a 415, or undefined.
 */
export function refuseRepresentation(headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding']
  if (encoding && encoding.toLowerCase() !== 'identity') return 'A compressed body is not accepted.'
  const contentType = headers['content-type']
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

/** How reading a body ended without its bytes: the body is over the limit, or there was no room for its bytes. */
export const overLimit = Symbol('body over the limit')
export const noRoom = Symbol('no room for the body')

/** The bytes of a body, or why there are none. */
type BodyResult = Buffer | typeof overLimit | typeof noRoom

/**
 * Reads a body and counts its bytes, because a chunked body declares no length. Stops reading beyond `limit`. Calls back once; with an
 * error for a body that is cut off. A hook of the host may replace the stream: an error, too, if that stream breaks, or does not give
 * Buffers.
 *
 * @param hasRoom called for the bytes of each piece. @default there is room
 */
export function readBody(
  body: Readable,
  limit: number,
  done: (error: Error | null, result?: BodyResult) => void,
  hasRoom: (bytes: number) => boolean = () => true,
): void {
  let chunks: Buffer[] = []
  let length = 0
  let ended = false
  const end = (error: Error | null, result?: BodyResult) => {
    if (ended) return
    ended = true
    // The request lives until the handler has ended; its chunks need not.
    chunks = []
    done(error, result)
  }
  body.on('data', (chunk: unknown) => {
    if (ended) return
    if (!Buffer.isBuffer(chunk)) return end(new TypeError('the stream of the body does not give Buffers'))
    length += chunk.length
    if (length <= limit && hasRoom(chunk.length)) return void chunks.push(chunk)
    body.pause()
    end(null, length > limit ? overLimit : noRoom)
  })
  // A copy: an event keeps its body in memory, and must not keep a larger buffer of the connection with it.
  body.on('end', () => end(null, Buffer.concat(chunks, length)))
  const breakOff = () => {
    // Each body is closed. An Error costs a fifth of a delivery, so only a body that has not ended gets an Error.
    if (!ended) end(new Error('the body was cut off'))
  }
  body.on('error', breakOff)
  body.on('close', breakOff)
}

/** The path of Event Grid's deliveries where no ingress rewrites it. */
export const defaultPath = '/api/events'

/** Is the path of a request target one of the listener's? Ignores the query. */
export type PathCheck = (target: string) => boolean

/**
 * Accepts `/api/events` and the paths of `subscriberEndpoint`, the present one and former ones, because an ingress may rewrite or not. A
 * path has to be spelled as the URL spells it: what an ingress encodes in another way is another path.
 */
export function createPathCheck(...subscriberEndpoints: readonly string[]): PathCheck {
  const paths = new Set([defaultPath, ...subscriberEndpoints.map((url) => new URL(url).pathname)])
  return (target) => paths.has(pathOf(target))
}

/** The path of a request target. */
export function pathOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/** A whole HTTP answer as data. */
export interface Answer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** Bytes, because Fastify adds a charset to the content type of a text. */
  readonly body?: Buffer
}

/** An answer with a JSON body. */
export function jsonAnswer(status: number, headers: Readonly<Record<string, string>>, value: unknown): Answer {
  const body = Buffer.from(JSON.stringify(value) ?? 'null')
  return { status, headers: { 'content-type': 'application/json', ...headers }, body }
}

/** Seconds in the `Retry-After` of every 503. Event Grid waits 30 s at least (delivery-and-retry). */
const retryAfterSeconds = 30

/**
 * An error answer as `application/problem+json` (RFC 9457). Strangers read `detail`: a fixed sentence, or names of fields and positions,
 * never the text of an error. Facts for programs are the `members`. A 503 gets `Retry-After`.
 */
export function problemAnswer(
  status: number,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  members: Readonly<Record<string, string>> = {},
): Answer {
  const all = {
    'content-type': 'application/problem+json',
    ...(status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}),
    ...headers,
  }
  return jsonAnswer(status, all, { title: STATUS_CODES[status] ?? 'Error', status, detail, ...members })
}

/** Whether the sender has gone, or the answer was cut off. */
export const hasEnded = ({ raw }: FastifyReply): boolean => raw.destroyed || raw.req.socket.destroyed

/**
 * Calls back once, when the answer was sent or the sender has gone. An answer that waits for the answer to an earlier request of its
 * connection has no socket yet, and Node 22 does not tell such an answer that the connection has closed.
 */
export function whenEnded({ raw }: FastifyReply, callback: () => void): void {
  if (raw.socket) {
    raw.on('close', callback)
    return
  }
  const { socket } = raw.req
  let isOver = false
  const end = () => {
    socket.off('close', end)
    // The end of the connection reaches both listeners.
    if (isOver) return
    isOver = true
    callback()
  }
  raw.on('close', end)
  socket.on('close', end)
}

/** Bytes of an unread body. A smaller body is cheaper to read than a new connection is to open. */
const cheapBodyBytes = 65_536

/** Sends an answer. @param closes the connection, after the answer */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer, closes: boolean): void {
  const { req } = reply.raw
  // Otherwise Node reads the rest of the body, to be ready for the next request.
  const isLeft = !req.complete && (declaredLength(req.headers) ?? Number.POSITIVE_INFINITY) > cheapBodyBytes
  // Node loses what was sent at once behind a request for an upgrade.
  if (closes || isLeft || req.headers.upgrade !== undefined) reply.header('connection', 'close')
  // Also where the reply has this status already: a redirect by a hook of the host would otherwise make the status 302.
  reply.code(status)
  for (const name in headers) reply.header(name, headers[name])
  void reply.send(body)
}

/**
 * Sends an answer past the host's hooks: the error of a hook may have a status, 400 for instance, that would end the event. Never throws,
 * because it may run in a timer, where an error would end the process.
 */
export function sendPastHooks(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.hijack()
  try {
    reply.raw.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 }).end(body)
  } catch {
    // A hook of the host has begun an answer, or has broken it. Event Grid delivers again when the connection closes before the end of an
    // answer.
    reply.raw.destroy()
  }
}
