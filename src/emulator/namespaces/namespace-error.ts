/** An error answer of a namespace's data plane: `{ error: { code, message } }` (Azure.Core). */
export interface NamespaceError {
  readonly status: number
  readonly code: string
  readonly message: string
}

const answer = (status: number, code: string) => (message: string) => ({ status, code, message })

// Which status goes with a missing event subscription, and the codes of 401 and 403, are not on record: assumed.
export const badRequest = answer(400, 'BadRequest')
export const unauthorized = answer(401, 'Unauthorized')
export const forbidden = answer(403, 'Forbidden')
export const notFound = answer(404, 'NotFound')
export const methodNotAllowed = answer(405, 'MethodNotAllowed')
export const throttled = answer(429, 'TooManyRequests')('Too many events are pending; try again later.')
export const topicNotFound = answer(410, 'Gone')
