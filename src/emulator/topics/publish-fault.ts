import { dotNetTime } from '../model/dot-net-time.ts'

/** Why a publish request is refused, as Event Grid's data plane says it. */
export interface PublishFault {
  readonly status: number
  readonly code: string
  /** The code of the entry in `details`; the same as `code` where the service makes no difference. */
  readonly detailCode: string
  /** Without the ` Report ...` tail. */
  readonly message: string
  /** Some messages come without the tail. @default true */
  readonly report?: boolean
}

/** The error body: the message stands in it twice (Event Grid: post-to-custom-topic). */
export function faultBody(fault: PublishFault, requestId: string, now: number): string {
  const tail = ` Report '${requestId}:0:${dotNetTime(now)} (UTC)' to our forums for assistance or raise a support ticket.`
  const message = fault.report === false ? fault.message : fault.message + tail
  return JSON.stringify({
    error: { code: fault.code, message, details: [{ code: fault.detailCode, message }] },
  })
}

/** The body is not what the topic takes in. */
export function invalidInput(message: string): PublishFault {
  return { status: 400, code: 'BadRequest', detailCode: 'InputJsonInvalid', message }
}

/** Nobody we know, or nobody who may. */
export function unauthorized(message: string): PublishFault {
  return { status: 401, code: 'Unauthorized', detailCode: 'Unauthorized', message }
}

/** More bytes than Event Grid takes. The words name the limit that was passed. */
export function tooLarge(limit: number): PublishFault {
  return {
    status: 413,
    code: 'RequestEntityTooLarge',
    detailCode: 'PayloadTooLarge',
    message: `The maximum size (${limit}) has been exceeded.`,
  }
}

/** More events than a request may hold. */
export function tooManyEvents(limit: number): PublishFault {
  return { ...tooLarge(limit), message: `The maximum number of events (${limit}) has been exceeded.` }
}

/** A CloudEvents topic takes no such media type. */
export const unsupportedMediaType: PublishFault = {
  status: 415,
  code: 'UnsupportedMediaType',
  detailCode: 'UnsupportedMediaType',
  message:
    "The Content-Type header is either missing or it doesn't have a valid value. The content type header must either be " +
    'application/cloudevents+json; charset=utf-8 or application/cloudevents-batch+json; charset=UTF-8.',
}

/** Nothing is served there. */
export function notFound(url: string): PublishFault {
  const message = `No HTTP resource was found that matches the request URI '${url}'.`
  return { status: 404, code: 'NotFound', detailCode: 'ResourceNotFound', message }
}

/** The path is right, the method is not. */
export function methodNotAllowed(method: string): PublishFault {
  const message = `The requested resource does not support http method '${method}'.`
  return { status: 405, code: 'MethodNotAllowed', detailCode: 'MethodNotAllowed', message }
}

/** Another `api-version` than the one there is. */
export function unsupportedApiVersion(url: string, version: string): PublishFault {
  const message = `The HTTP resource that matches the request URI '${url}' does not support the API version '${version}'.`
  return { status: 400, code: 'UnsupportedApiVersion', detailCode: 'UnsupportedApiVersion', message }
}

/** The topic takes no more for now. */
export const throttled: PublishFault = {
  status: 429,
  code: 'TooManyRequests',
  detailCode: 'TooManyRequests',
  message: 'The rate of incoming events is more than the topic can take; try again later.',
}

/** Not the publisher's fault: it may send the same again. */
export const internalError: PublishFault = {
  status: 500,
  code: 'InternalServerError',
  detailCode: 'InternalServerError',
  message: 'The request could not be processed; try again later.',
}
