import { STATUS_CODES } from 'node:http'

/** A whole HTTP answer as data; the listener's edge only writes it out. */
export interface Answer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Seconds in the `Retry-After` of every 503. Event Grid itself comes back after 30 s at the earliest (delivery-and-retry). */
const retryAfterSeconds = 30

/**
 * An error answer as `application/problem+json` (RFC 9457). `detail` is read by strangers: a fixed sentence, or one made of
 * field names and positions, never of what our own code threw. A 503 gets `Retry-After`.
 */
export function problemAnswer(status: number, detail: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      ...(status === 503 ? { 'retry-after': String(retryAfterSeconds) } : {}),
      ...headers,
    },
    body: JSON.stringify({ title: STATUS_CODES[status] ?? 'Error', status, detail }),
  }
}

/** The bytes of a problem for a connection on which no request could be read, so that no framework answers for us. */
export function rawProblem(status: number, detail: string): string {
  const { headers, body = '' } = problemAnswer(status, detail)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n${lines.join('')}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
}
