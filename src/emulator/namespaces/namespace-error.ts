// Error codes, statuses and body of a namespace's data plane: `timestamp_utc`, `tracking_id`, `broker-errorcode`.
import type { FastifyReply } from 'fastify'

/** A refusal of a namespace's data plane. */
export class NamespaceError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The error body (recorded tests of Azure's SDKs). @param now milliseconds since 1970 */
export function namespaceErrorBody(code: string, message: string, trackingId: string, now: number) {
  return { error: { code, message, timestamp_utc: new Date(now).toISOString(), tracking_id: trackingId } }
}

/** Sends it, with the headers that name the code: the one on record, and that of Azure's guidelines. */
export function sendNamespaceError(reply: FastifyReply, error: NamespaceError, now: number): FastifyReply {
  const { status, code, message } = error
  Object.assign(reply.request.outcome, { code, message })
  return reply
    .code(status)
    .headers({ 'broker-errorcode': code, 'x-ms-error-code': code })
    .send(namespaceErrorBody(code, message, reply.request.id, now))
}

const failureOf = (status: number, code: string) => (message: string) => new NamespaceError(status, code, message)

// The codes of 401 and 403 are not on record: assumed.
export const badRequest = failureOf(400, 'BadRequest')
export const argumentInvalid = failureOf(400, 'ArgumentInvalid')
export const namespaceUnauthorized = failureOf(401, 'Unauthorized')
export const forbidden = failureOf(403, 'Forbidden')
export const namespaceNotFound = failureOf(404, 'NotFound')
export const namespaceMethodNotAllowed = failureOf(405, 'MethodNotAllowed')
export const namespaceThrottled = failureOf(429, 'TooManyRequests')
/** The publisher may send the same request again. */
export const namespaceInternalError = failureOf(500, 'InternalServerError')
