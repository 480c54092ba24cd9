/** The form of an answer: of JSON, and of an error. */
import { STATUS_CODES } from 'node:http'

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
