/** The form of an answer, and how it is sent: by Fastify's reply, or past the hooks of the host. */
import { STATUS_CODES } from 'node:http'
import type { FastifyReply } from 'fastify'
import { declaredLength } from './request.ts'

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
 * An error answer as `application/problem+json` (RFC 9457). Strangers read `detail`: it is a fixed sentence, or names fields and positions,
 * never the text of an error. Facts for programs are `members` beside it. A 503 gets `Retry-After`.
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

/** Bytes of an unread body. Below it, reading the rest is cheaper than a new connection. */
const cheapBodyBytes = 65_536

/** Sends an answer. `closes`: the connection ends with it. */
export function sendAnswer(reply: FastifyReply, { status, headers, body }: Answer, closes = false): void {
  const { req } = reply.raw
  // Otherwise Node reads the rest of the body, to be ready for the next request.
  const isLeft = !req.complete && (declaredLength(req.headers) ?? Number.POSITIVE_INFINITY) > cheapBodyBytes
  // Node loses what was sent at once behind a request for an upgrade.
  if (closes || isLeft || req.headers.upgrade !== undefined) reply.header('connection', 'close')
  // Also where it is the status already: a redirect by a hook of the host would otherwise make it 302.
  reply.code(status)
  for (const name in headers) reply.header(name, headers[name])
  void reply.send(body)
}

/** Sends an answer past the host's hooks: the error of a hook may have a status, 400 for instance, that would end the event. */
export function sendPastHooks(reply: FastifyReply, { status, headers, body }: Answer): void {
  reply.hijack()
  reply.raw.writeHead(status, { ...headers, 'content-length': body?.length ?? 0 }).end(body)
}
