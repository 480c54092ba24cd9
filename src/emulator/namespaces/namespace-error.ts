// Error codes and statuses of a namespace's data plane: 410 `Gone`, `TooManyRequests`.

/** An error answer of a namespace's data plane: `{ error: { code, message } }` (Azure.Core). */
export class NamespaceError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const failureOf = (status: number, code: string) => (message: string) => new NamespaceError(status, code, message)

// Which status goes with a missing event subscription, and the codes of 401 and 403, are not on record: assumed.
export const badRequest = failureOf(400, 'BadRequest')
export const unauthorized = failureOf(401, 'Unauthorized')
export const forbidden = failureOf(403, 'Forbidden')
export const notFound = failureOf(404, 'NotFound')
export const methodNotAllowed = failureOf(405, 'MethodNotAllowed')
export const throttled = failureOf(429, 'TooManyRequests')
export const topicNotFound = failureOf(410, 'Gone')
/** The publisher may send the same request again. */
export const internalError = failureOf(500, 'InternalServerError')
