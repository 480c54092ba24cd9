/** In which words, and with which code and status, a publish request is refused. */
import { advice, dotNetTime, withAdvice } from '../model/wording.ts'
import { ServiceError } from '../server/service.ts'

/** A refusal of a publish request, in the words of Event Grid's data plane, without the ` Report ...` tail. */
export class PublishFault extends ServiceError {
  /** The code of the entry in `details`. */
  readonly detailCode: string

  constructor(status: number, code: string, message: string, detailCode = code) {
    super(status, code, message)
    this.detailCode = detailCode
  }
}

/** The error body, which contains the message twice (Event Grid: post-to-custom-topic). */
export function faultBody({ code, detailCode, message: text }: PublishFault, requestId: string, now: number): string {
  const tail = ` Report '${requestId}:0:${dotNetTime(now)} (UTC)' to our forums for assistance or raise a support ticket.`
  const message = text + tail
  return JSON.stringify({ error: { code, message, details: [{ code: detailCode, message }] } })
}

/** The body does not fit the topic's schema. */
export const invalidInput = (message: string) => new PublishFault(400, 'BadRequest', message, 'InputJsonInvalid')

/** The credential is unknown, or has no permission. */
export const unauthorized = (message: string) => new PublishFault(401, 'Unauthorized', message)

/** The network rules of the topic refuse the client's address (Event Grid: troubleshoot-errors). */
export const addressRefused = (host: string, address: string) =>
  new PublishFault(
    403,
    'Forbidden',
    `Publishing to ${host.toUpperCase()} by client ${address} is rejected due to IpAddress filtering rules.`,
  )

const overLimit = (message: string) => new PublishFault(413, 'RequestEntityTooLarge', message, 'PayloadTooLarge')

export const tooLarge = (limit: number) => overLimit(`The maximum size (${limit}) has been exceeded.`)

export const tooManyEvents = (limit: number) => overLimit(`The maximum number of events (${limit}) has been exceeded.`)

/** A CloudEvents topic does not accept this media type. */
export const unsupportedMediaType = () =>
  new PublishFault(
    415,
    'UnsupportedMediaType',
    "The Content-Type header is either missing or it doesn't have a valid value. The content type header must either be " +
      'application/cloudevents+json; charset=utf-8 or application/cloudevents-batch+json; charset=UTF-8.',
  )

export const notFound = (url: string) =>
  new PublishFault(
    404,
    'NotFound',
    withAdvice(`No HTTP resource was found that matches the request URI '${url}'.`, advice.topic),
    'ResourceNotFound',
  )

export const methodNotAllowed = (method: string) =>
  new PublishFault(405, 'MethodNotAllowed', `The requested resource does not support http method '${method}'.`)

export const unsupportedApiVersion = (url: string, version: string) =>
  new PublishFault(
    400,
    'UnsupportedApiVersion',
    `The HTTP resource that matches the request URI '${url}' does not support the API version '${version}'.`,
  )

export const throttled = () =>
  new PublishFault(
    429,
    'TooManyRequests',
    'The rate of incoming events is more than the topic can take; try again later.',
  )

/** An internal error: the publisher may send the same request again. */
export const internalError = () =>
  new PublishFault(500, 'InternalServerError', 'The request could not be processed; try again later.')
