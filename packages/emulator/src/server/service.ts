/** How each emulated service of Azure reads requests and refuses them, each in its own form. */

import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { codeOf } from '../../../../src/support/process/error-code.ts'
import { readJson } from '../../../../src/support/text/json-text.ts'
import { nestsTooDeeply } from '../model/events/event-text.ts'
import type { RequestRecord } from '../records/record-types.ts'
import { recordedBodyLimit } from '../records/records.ts'
import { shownText } from '../records/shown-request.ts'
import type { Fault } from './faults.ts'
import { type RecordingOptions, recordRequests } from './recording.ts'

/**
 * A refusal of a request, thrown by what answers it. What its message quotes of the request's URL is shown without the values that
 * may be secret: it stands in records, on the page and in the client's log.
 */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(shownText(message))
    this.status = status
    this.code = code
  }
}

/** How a service reads bodies and refuses requests. */
export interface ServiceForm<Own extends ServiceError> {
  readonly route: RequestRecord['route']
  /** The longest body, in bytes. */
  readonly bodyLimit: number
  readonly read: (body: Buffer) => unknown
  /** The class of the service's refusals. */
  readonly own: new (
    ...args: never[]
  ) => Own
  readonly tooLarge: () => Own
  readonly unreadable: () => Own
  readonly internal: () => Own
  /** The refusal that an injected fault is. */
  readonly injected: (fault: Fault & { status: number }) => Own
  readonly bodyOf: (refusal: Own, request: FastifyRequest) => unknown
  /** Headers of a refusal. An injected fault gets none of them. */
  readonly headersOf?: (refusal: Own) => Readonly<Record<string, string>>
}

const recordedMessageLimit = 2_000

/** Prepares a Fastify scope for the routes of a service. Routes throw the refusals of that service. */
export function serveAs<Own extends ServiceError>(
  scope: FastifyInstance,
  options: RecordingOptions,
  form: ServiceForm<Own>,
): void {
  recordRequests(scope, form.route, options, (fault, request) => form.bodyOf(form.injected(fault), request))
  readBodies(scope, form.bodyLimit, form.read)
  scope.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, form)
    const { status, code, message } = refusal
    // A message may hold what the request brought, and many records are kept.
    Object.assign(request.outcome, { code, message: message.slice(0, recordedMessageLimit) })
    return reply
      .code(status)
      .headers(form.headersOf?.(refusal) ?? {})
      .send(form.bodyOf(refusal, request))
  })
}

function refusalOf<Own extends ServiceError>(error: unknown, form: ServiceForm<Own>): Own {
  if (error instanceof form.own) return error
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') return form.tooLarge()
  return statusOfError(error) < 500 ? form.unreadable() : form.internal()
}

/** The status that Fastify gives to an error of a request; 500 for any other error, which is the emulator's own. */
function statusOfError(error: unknown): number {
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
}

/** Has a Fastify scope read bodies as `read` does. Longer ones are refused with Fastify's own error. */
export function readBodies(scope: FastifyInstance, bodyLimit: number, read: (body: Buffer) => unknown): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, read(body)),
  )
}

/** A body for the record: parsed where it is JSON that can be written again, else as text, or its length where it is long. */
export function recordedBody(body: Buffer | string): unknown {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (bytes.length > recordedBodyLimit) return `(${bytes.length} bytes)`
  const text = String(bytes)
  if (text === '') return undefined
  return (nestsTooDeeply(bytes) ? undefined : readJson(text)) ?? text
}

export interface Authorization {
  /** In lower case: `bearer`, `basic`, `sharedaccesskey` and so on. */
  readonly scheme: string
  /** What follows the scheme; empty where nothing does. */
  readonly credential: string
}

/** Reads the header; undefined where it is missing or empty. */
export function readAuthorization({ authorization = '' }: IncomingHttpHeaders): Authorization | undefined {
  const [, scheme, credential = ''] = /^\s*(\S+)\s*(.*)$/s.exec(authorization) ?? []
  return scheme === undefined ? undefined : { scheme: scheme.toLowerCase(), credential: credential.trim() }
}

/** The parameters after the first question mark. The first of several with one name counts. */
export function queryOf({ url }: { readonly url: string }): URLSearchParams {
  const [, search = ''] = url.split(/\?(.*)/s)
  return new URLSearchParams(search)
}
