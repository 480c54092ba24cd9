// Error codes, statuses and body of a namespace's data plane: `timestamp_utc`, `tracking_id`, `broker-errorcode`.
import { FaceError } from '../server/face.ts'

/** A refusal of a namespace's data plane. */
export class NamespaceError extends FaceError {}

/** The error body (recorded tests of Azure's SDKs). @param now milliseconds since 1970 */
export function namespaceErrorBody({ code, message }: NamespaceError, trackingId: string, now: number) {
  return { error: { code, message, timestamp_utc: new Date(now).toISOString(), tracking_id: trackingId } }
}

/** The headers that name the code: the one on record, and that of Azure's guidelines. */
export const namespaceErrorHeaders = ({ code }: NamespaceError) => ({
  'broker-errorcode': code,
  'x-ms-error-code': code,
})

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
