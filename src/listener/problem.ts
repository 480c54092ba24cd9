import { STATUS_CODES } from 'node:http'

/** A whole HTTP answer as data; the listener's edge only writes it out. */
export interface Answer {
  readonly status: number
  /** Lower-case names, `content-length` among them. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer with the length of its body. */
export function answerWith(status: number, headers: Readonly<Record<string, string>>, body?: string): Answer {
  const length = { 'content-length': String(body === undefined ? 0 : Buffer.byteLength(body)) }
  return { status, headers: { ...headers, ...length }, ...(body !== undefined && { body }) }
}

/** Seconds in the `Retry-After` of every 503. Event Grid itself comes back after 30 s at the earliest (delivery-and-retry). */
const retryAfterSeconds = 30

/**
 * An error answer as `application/problem+json` (RFC 9457). `detail` is read by strangers: a fixed sentence, or one made of
 * field names and positions, never of what our own code threw. A 503 gets `Retry-After`.
 */
export function problemAnswer(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const all = {
    'content-type': 'application/problem+json',
    ...(status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}),
    ...headers,
  }
  return answerWith(status, all, JSON.stringify({ title: STATUS_CODES[status] ?? 'Error', status, detail }))
}

/** The bytes of a problem for a connection on which no request could be read, so that no framework answers for us. */
export function rawProblem(status: number, detail: string): string {
  const { headers, body = '' } = problemAnswer(status, detail)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}connection: close\r\n\r\n${body}`
}
