import { dotNetTime } from '../model/event-grid-time.ts'

/** A refusal of a publish request, as Event Grid's data plane words it. */
export interface PublishFault {
  readonly status: number
  readonly code: string
  /** The code of the entry in `details`, often the same as `code`. */
  readonly detailCode: string
  /** Without the ` Report ...` tail. */
  readonly message: string
}

/** The error body, which contains the message twice (Event Grid: post-to-custom-topic). */
export function faultBody(fault: PublishFault, requestId: string, now: number): string {
  const tail = ` Report '${requestId}:0:${dotNetTime(now)} (UTC)' to our forums for assistance or raise a support ticket.`
  const message = fault.message + tail
  return JSON.stringify({
    error: { code: fault.code, message, details: [{ code: fault.detailCode, message }] },
  })
}

const fault = (status: number, code: string, message: string, detailCode: string = code): PublishFault => ({
  ...{ status, code, detailCode, message },
})

/** The body does not fit the topic's schema. */
export const invalidInput = (message: string) => fault(400, 'BadRequest', message, 'InputJsonInvalid')

/** The credential is unknown, or has no permission. */
export const unauthorized = (message: string) => fault(401, 'Unauthorized', message)

/** The network rules of the topic refuse the client's address (Event Grid: troubleshoot-errors). */
export function addressRefused(host: string, address: string): PublishFault {
  const to = host.toUpperCase()
  return fault(
    403,
    'Forbidden',
    `Publishing to ${to} by client ${address} is rejected due to IpAddress filtering rules.`,
  )
}

const overLimit = (message: string) => fault(413, 'RequestEntityTooLarge', message, 'PayloadTooLarge')

export const tooLarge = (limit: number) => overLimit(`The maximum size (${limit}) has been exceeded.`)

export const tooManyEvents = (limit: number) => overLimit(`The maximum number of events (${limit}) has been exceeded.`)

/** A CloudEvents topic does not accept this media type. */
export const unsupportedMediaType = fault(
  415,
  'UnsupportedMediaType',
  "The Content-Type header is either missing or it doesn't have a valid value. The content type header must either be " +
    'application/cloudevents+json; charset=utf-8 or application/cloudevents-batch+json; charset=UTF-8.',
)

export const notFound = (url: string) =>
  fault(404, 'NotFound', `No HTTP resource was found that matches the request URI '${url}'.`, 'ResourceNotFound')

export const methodNotAllowed = (method: string) =>
  fault(405, 'MethodNotAllowed', `The requested resource does not support http method '${method}'.`)

export const unsupportedApiVersion = (url: string, version: string) =>
  fault(
    400,
    'UnsupportedApiVersion',
    `The HTTP resource that matches the request URI '${url}' does not support the API version '${version}'.`,
  )

export const throttled = fault(
  429,
  'TooManyRequests',
  'The rate of incoming events is more than the topic can take; try again later.',
)

/** An internal error: the publisher may send the same request again. */
export const internalError = fault(500, 'InternalServerError', 'The request could not be processed; try again later.')
