import { dotNetTime } from '../model/event-grid-time.ts'

/** A refusal of a publish request, as Event Grid's data plane words it. */
export interface PublishFault {
  readonly status: number
  readonly code: string
  /** The code of the entry in `details`, often the same as `code`. */
  readonly detailCode: string
  /** Without the ` Report ...` tail. */
  readonly message: string
  /** Some messages come without the tail. @default true */
  readonly report?: boolean
}

/** The error body, which contains the message twice (Event Grid: post-to-custom-topic). */
export function faultBody(fault: PublishFault, requestId: string, now: number): string {
  const tail = ` Report '${requestId}:0:${dotNetTime(now)} (UTC)' to our forums for assistance or raise a support ticket.`
  const message = fault.report === false ? fault.message : fault.message + tail
  return JSON.stringify({
    error: { code: fault.code, message, details: [{ code: fault.detailCode, message }] },
  })
}

/** The body does not fit the topic's schema. */
export function invalidInput(message: string): PublishFault {
  return { status: 400, code: 'BadRequest', detailCode: 'InputJsonInvalid', message }
}

/** The credential is unknown, or has no permission. */
export function unauthorized(message: string): PublishFault {
  return { status: 401, code: 'Unauthorized', detailCode: 'Unauthorized', message }
}

/** The network rules of the topic refuse the client's address (Event Grid: troubleshoot-errors). */
export function addressRefused(host: string, address: string): PublishFault {
  const message = `Publishing to ${host.toUpperCase()} by client ${address} is rejected due to IpAddress filtering rules.`
  return { status: 403, code: 'Forbidden', detailCode: 'Forbidden', message }
}

/** The request or an event is too large. The message names the limit. */
export function tooLarge(limit: number): PublishFault {
  return {
    status: 413,
    code: 'RequestEntityTooLarge',
    detailCode: 'PayloadTooLarge',
    message: `The maximum size (${limit}) has been exceeded.`,
  }
}

/** The request has too many events. */
export function tooManyEvents(limit: number): PublishFault {
  return { ...tooLarge(limit), message: `The maximum number of events (${limit}) has been exceeded.` }
}

/** A CloudEvents topic does not accept this media type. */
export const unsupportedMediaType: PublishFault = {
  status: 415,
  code: 'UnsupportedMediaType',
  detailCode: 'UnsupportedMediaType',
  message:
    "The Content-Type header is either missing or it doesn't have a valid value. The content type header must either be " +
    'application/cloudevents+json; charset=utf-8 or application/cloudevents-batch+json; charset=UTF-8.',
}

/** No topic has this URL. */
export function notFound(url: string): PublishFault {
  const message = `No HTTP resource was found that matches the request URI '${url}'.`
  return { status: 404, code: 'NotFound', detailCode: 'ResourceNotFound', message }
}

/** The path does not support this method. */
export function methodNotAllowed(method: string): PublishFault {
  const message = `The requested resource does not support http method '${method}'.`
  return { status: 405, code: 'MethodNotAllowed', detailCode: 'MethodNotAllowed', message }
}

/** The `api-version` is not supported. */
export function unsupportedApiVersion(url: string, version: string): PublishFault {
  const message = `The HTTP resource that matches the request URI '${url}' does not support the API version '${version}'.`
  return { status: 400, code: 'UnsupportedApiVersion', detailCode: 'UnsupportedApiVersion', message }
}

/** The topic accepts no more events for now. */
export const throttled: PublishFault = {
  status: 429,
  code: 'TooManyRequests',
  detailCode: 'TooManyRequests',
  message: 'The rate of incoming events is more than the topic can take; try again later.',
}

/** An internal error: the publisher may send the same request again. */
export const internalError: PublishFault = {
  status: 500,
  code: 'InternalServerError',
  detailCode: 'InternalServerError',
  message: 'The request could not be processed; try again later.',
}
