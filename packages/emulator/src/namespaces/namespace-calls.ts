/** Which calls a namespace takes: callers, published events and lock tokens; and the words of each refusal. */
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'
import { isSameText } from '../../../../src/support/text/text.ts'
import type { Directory } from '../entra/directory.ts'
import { roleThatAllows } from '../entra/roles.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import { binaryAttributes } from '../model/events/accepted-event.ts'
import {
  type EventText,
  eventOf,
  eventSlices,
  eventText,
  jsonTextOf,
  nestsTooDeeply,
  ownField,
  sortedText,
  withMembers,
  withText,
} from '../model/events/event-text.ts'
import type { Namespace, NamespaceTopic } from '../model/resources/namespace.ts'
import { advice, utcTime, withAdvice } from '../model/wording.ts'
import { readAuthorization, ServiceError } from '../server/service.ts'
import type { PullQueue, SettleOutcome } from './pull-queue.ts'

/** A refusal of a namespace's data plane. */
export class NamespaceError extends ServiceError {}

/**
 * The error body: the time with nine digits, the id in capitals (recorded, Python 2023, Go 2024).
 *
 * @param now milliseconds since 1970
 */
export function namespaceErrorBody({ code, message }: NamespaceError, trackingId: string, now: number) {
  const timestamp = new Date(now).toISOString().replace('Z', '000000+00:00')
  return { error: { code, message, timestamp_utc: timestamp, tracking_id: trackingId.toUpperCase() } }
}

/** The header that names the code; there is no `x-ms-error-code` (recorded, Go 2024). */
export const namespaceErrorHeaders = ({ code }: NamespaceError) => ({ 'broker-errorcode': code })

const failureOf = (status: number, code: string) => (message: string) => new NamespaceError(status, code, message)

// The codes of 401 and 403 are not on record: assumed.
export const badRequest = failureOf(400, 'BadRequest')
const argumentInvalid = failureOf(400, 'ArgumentInvalid')
export const namespaceUnauthorized = failureOf(401, 'Unauthorized')
export const forbidden = failureOf(403, 'Forbidden')
export const namespaceNotFound = failureOf(404, 'NotFound')
export const namespaceMethodNotAllowed = failureOf(405, 'MethodNotAllowed')
export const namespaceThrottled = failureOf(429, 'TooManyRequests')
/** The publisher may send the same request again. */
export const namespaceInternalError = failureOf(500, 'InternalServerError')

export interface NamespaceAccess {
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  readonly directory: Pick<Directory, 'allows'>
}

export type DataAction = 'send' | 'receive'

/** Checks that a caller may do this. Keys and Entra tokens are accepted. Throws a NamespaceError. */
export async function authorizeNamespaceCall(
  { tokens, directory }: NamespaceAccess,
  request: FastifyRequest,
  asked: { readonly namespace: Namespace; readonly topic: NamespaceTopic | undefined; readonly action: DataAction },
): Promise<void> {
  const { namespace, topic, action } = asked
  const { scheme, credential = '' } = readAuthorization(request.headers) ?? {}
  if (scheme === 'sharedaccesskey') {
    const keys = [...namespace.keys, ...(topic?.keys ?? [])]
    if (keys.some((key) => isSameText(key, credential))) return
    throw namespaceUnauthorized(withAdvice('The access key is not valid.', advice.key))
  }
  if (scheme !== 'bearer') {
    throw namespaceUnauthorized(withAdvice('The request carries no credential.', advice.namespaceCredential))
  }
  const verdict = await tokens.verifyToken(credential, { audience: dataPlaneAudience })
  if ('problem' in verdict) throw namespaceUnauthorized(`The access token is not valid. ${verdict.message}`.trim())
  const { clientId, objectId } = verdict.token
  request.outcome.clientId = clientId
  const scope = topic?.id ?? namespace.id
  const dataAction = `Microsoft.EventGrid/events/${action}/action`
  if (directory.allows({ principalId: objectId, data: true, action: dataAction, scope })) return
  throw forbidden(
    withAdvice(
      `The principal does not have permission to ${action} events at ${scope}.`,
      advice.role(roleThatAllows({ action: dataAction, data: true }), clientId),
    ),
  )
}

/** Bounds of a publish request (Event Grid namespaces: quotas). */
export const namespacePublishLimits = { bodyBytes: 1_048_576, events: 1_000 } as const

export const messageTooLarge = () =>
  forbidden(`The message is too large: ${namespacePublishLimits.bodyBytes} bytes are allowed.`)

const jsonType = /^application\/(.+\+)?json$/

/** The events of a publish request: a single one, a batch, or one in binary mode. Throws a NamespaceError. */
export function parseCloudEvents(headers: IncomingHttpHeaders, body: Buffer): readonly EventText[] {
  if (body.length > namespacePublishLimits.bodyBytes) throw messageTooLarge()
  const contentType = headers['content-type']
  if (contentType === undefined) throw badRequest('CONTENT-TYPE is not provided')
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (jsonType.test(mediaType) && nestsTooDeeply(body)) throw badRequest('The JSON is nested too deeply.')
  // The media type decides: `ce-` headers beside a structured event are ignored (recorded test of Azure's JavaScript client).
  const isBatch = mediaType === 'application/cloudevents-batch+json'
  if (!isBatch && mediaType !== 'application/cloudevents+json') {
    if (headers['ce-specversion'] !== undefined)
      return [{ ...checked(binaryEvent(headers, contentType, mediaType, body)), isBinary: true }]
    throw badRequest(`The content type '${mediaType}' is not supported by a namespace topic.`)
  }
  const parsed = readJson(body.toString())
  if (!isBatch) return [checked(asEvent(body, parsed))]
  if (!Array.isArray(parsed)) throw badRequest('The body must be a JSON array of CloudEvents.')
  if (parsed.length > namespacePublishLimits.events) {
    throw forbidden(`A request may hold ${namespacePublishLimits.events} events at most.`)
  }
  return eventSlices(body, parsed.length).map((slice, index) => checked(asEvent(slice, parsed[index])))
}

/** Events that are raised at a namespace topic, checked as if published. Throws a TypeError for an invalid one. */
export function raisedCloudEvents(events: readonly unknown[]): readonly EventText[] {
  return events.map((event, index) => {
    jsonTextOf(event, `event ${index}`)
    if (!isRecord(event)) throw new TypeError('a raised event must be an object')
    try {
      return checked(eventOf(event))
    } catch (error) {
      if (error instanceof NamespaceError) throw new TypeError(`event ${index}: ${error.message}`)
      throw error
    }
  })
}

function asEvent(bytes: Buffer, value: unknown): EventText {
  if (!isRecord(value)) throw badRequest('The body is not a CloudEvent.')
  return eventText(bytes, value)
}

/** Checks an event in the order and the words (two kinds of quotes) of recorded answers, and writes its data and time as Azure does. */
function checked(given: EventText): EventText {
  const data = given.members.get('data')
  // Of objects the members come in the order of their names (recorded, .NET and Java 2024).
  const event = data && /^[{[]/.test(data) ? withText(given, 'data', sortedText(data)) : given
  const { value } = event
  if (value.data === undefined && value.data_base64 === undefined) throw badRequest("'data' attribute is required")
  if (value.specversion !== '1.0') throw badRequest('`specversion` attribute must be 1.0')
  for (const name of ['id', 'source', 'type']) {
    const attribute = value[name]
    if (typeof attribute !== 'string' || attribute === '') throw badRequest(`\`${name}\` attribute is required`)
  }
  const wrong = Object.keys(value).find((name) => name !== 'data_base64' && !/^[a-z0-9]{1,20}$/.test(name))
  if (wrong !== undefined) throw badRequest(`The attribute name '${wrong.slice(0, 50)}' is not valid.`)
  if (value.time === undefined || value.time === null) return event
  const time = utcTime(value.time)
  if (time === undefined) throw badRequest('`time` attribute is not valid')
  return withMembers(event, { time })
}

/** The event of a request in binary mode: attributes in `ce-` headers, the data in the body. */
function binaryEvent(headers: IncomingHttpHeaders, contentType: string, mediaType: string, body: Buffer): EventText {
  // Azure's own rule: the content type says what the data is.
  if (headers['ce-datacontenttype'] !== undefined) throw badRequest('`ce-datacontenttype` must not be given')
  const event = eventOf(binaryAttributes(headers, contentType))
  const text = body.toString()
  if (!jsonType.test(mediaType)) {
    return withMembers(event, mediaType.startsWith('text/') ? { data: text } : { data_base64: body.toString('base64') })
  }
  if (readJson(text) === undefined) throw badRequest('The data is not valid JSON.')
  return withText(event, 'data', text.trim())
}

/** Versions of the data plane, the previews that recorded tests still used in 2024 among them. */
export const dataPlaneVersions: readonly string[] = [
  '2023-06-01-preview',
  '2023-10-01-preview',
  '2023-11-01',
  '2024-06-01',
]

/** Those that have `renewLock` and delays of `release`. */
const versionsWithDelays: readonly string[] = ['2023-10-01-preview', '2024-06-01']

/** Its errors have other members and more words (recorded, Python 2023). */
const firstPreview = '2023-06-01-preview'

/**
 * A whole number of a query, from `min` to `max`. What is no number is refused before one that is out of bounds (recorded, Python 2023).
 * Throws a NamespaceError.
 */
export function numberOf(query: URLSearchParams, name: string, usual: number, min: number, max: number): number {
  const text = query.get(name) ?? String(usual)
  if (!/^\+?\d+$/.test(text)) {
    const why = query.get('api-version') === firstPreview ? ': invalid digit found in string' : ''
    throw badRequest(`Error parsing query parameters${why}`)
  }
  const value = Number(text)
  if (value < min || value > max) throw argumentInvalid(`Invalid ${name} parameter`)
  return value
}

export const settleOperations = ['acknowledge', 'release', 'reject', 'renewLock'] as const
type SettleOperation = (typeof settleOperations)[number]

const releaseDelays = ['0', '10', '60', '600', '3600']
const maxLockTokens = 1_000

/** Settles the events of the lock tokens in a body (Event Grid namespaces, data plane). Throws a NamespaceError. */
export function settleLockTokens(queue: PullQueue, operation: SettleOperation, query: URLSearchParams, body: Buffer) {
  const delay = query.get('releaseDelayInSeconds') ?? '0'
  const hasDelays = versionsWithDelays.includes(query.get('api-version') ?? '')
  if (!hasDelays && (operation === 'renewLock' || delay !== '0')) {
    throw badRequest(`${operation} needs api-version ${dataPlaneVersions.at(-1)}.`)
  }
  if (operation === 'release' && !releaseDelays.includes(delay)) {
    throw badRequest(`releaseDelayInSeconds must be one of ${releaseDelays.join(', ')}.`)
  }
  const lockTokens = lockTokensOf(body)
  const settle: Readonly<Record<SettleOperation, (token: string) => SettleOutcome>> = {
    acknowledge: queue.acknowledge,
    release: (token) => queue.release(token, Number(delay) * 1000),
    reject: queue.reject,
    renewLock: queue.renewLock,
  }
  const outcomes = lockTokens.map((lockToken) => ({ lockToken, outcome: settle[operation](lockToken) }))
  const isFirst = query.get('api-version') === firstPreview
  const failure = (code: Exclude<SettleOutcome, 'done'>) =>
    isFirst ? { errorCode: code, errorDescription: messages[code] } : { error: { code, message: messages[code] } }
  return {
    succeededLockTokens: outcomes.filter(({ outcome }) => outcome === 'done').map(({ lockToken }) => lockToken),
    failedLockTokens: outcomes.flatMap(({ lockToken, outcome }) =>
      outcome === 'done' ? [] : [{ lockToken, ...failure(outcome) }],
    ),
  }
}

const messages: Readonly<Record<Exclude<SettleOutcome, 'done'>, string>> = {
  BadToken: 'Cannot decode lockToken',
  TokenLost: 'Token has expired.',
}

function lockTokensOf(body: Buffer): readonly string[] {
  const tokens = ownField(readJson(body.toString()), 'lockTokens')
  const areTokens = Array.isArray(tokens) && tokens.length > 0 && tokens.length <= maxLockTokens
  if (areTokens && tokens.every((token) => typeof token === 'string')) return tokens
  throw badRequest('The body must be { "lockTokens": [ ... ] }.')
}
