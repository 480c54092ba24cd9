/** Reads how a call to Resource Manager failed, in whatever shape the SDK reports the failure: which kind it is. */
import { isRestError } from '@azure/core-rest-pipeline'
import { isBindingError } from '../core/errors.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { readRequestId, readRetryAfter } from './http.ts'
import { NoTokenError } from './refusals/entra-refusal.ts'
import type { ArmFailure, ArmFailureKind } from './refusals/resource-manager-refusal.ts'

/** Our own failures, where the SDK throws none. */
export class ArmFailureError extends Error {
  override readonly name = 'ArmFailureError'
  readonly #failure: ArmFailure

  constructor(failure: ArmFailure) {
    super(failure.kind)
    this.#failure = failure
  }

  get failure(): ArmFailure {
    return this.#failure
  }
}

/** Reads what the SDK threw. `now` in ms since 1970, for a `Retry-After` that names a date. */
export function readFailure(error: unknown, now: number): ArmFailure {
  if (error instanceof ArmFailureError) return error.failure
  if (error instanceof NoTokenError) {
    const { message, fix, retryAfterMs } = error
    return { kind: 'token', message, fix, retryAfterMs }
  }
  if (isRestError(error)) {
    const { statusCode: status, code, message, response } = error
    if (status === undefined) return { kind: 'network', code, message }
    if (status < 400) return unreadableAnswer
    const said = readErrorBody(response?.bodyAsText)
    const word = wordOf(said.code)
    const answer = {
      status,
      // The SDK invents a code where the body is not an error of ARM. So the code is read from the body.
      code: response ? word : code,
      message:
        said.message ??
        (response && word === undefined ? 'its body is not an error of Azure Resource Manager' : message),
    }
    return {
      ...answer,
      kind: kindOfSaid(answer) ?? kindOfAnswer(answer),
      retryAfterMs: readRetryAfter((name) => response?.headers.get(name), now),
      requestId: readRequestId(response?.headers.get('x-ms-request-id')),
    }
  }
  if (!(error instanceof Error)) return { kind: 'refused', message: 'an unknown error' }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return { kind: 'network', message: 'no answer came in time' }
  }
  if (error.name === 'PollerCancelledError' || error.message === 'Operation was canceled') {
    return { kind: 'canceled', message: 'the change of the event subscription was cancelled' }
  }
  const operation = /^The long-running operation has failed(?:\. (.+?)\. (.*))?$/s.exec(error.message)
  if (operation) {
    const [, code, message = 'the operation failed without saying why'] = operation
    return failedOperation({ code, message })
  }
  if (isBindingError(error)) return { kind: 'refused', message: error.what, fix: error.fix }
  return unreadableAnswer
}

/** The SDK, or our own code, stumbled over a value that has no place in an answer of ARM. The next answer may be right. */
const unreadableAnswer: ArmFailure = {
  kind: 'answerUnread',
  message: 'it does not have the format of Azure Resource Manager; a proxy may have answered instead',
}

/** Reads the failure of a long-running operation from its status body, which has more details than the SDK's error. */
export function readOperationFailure(bodyAsText: string | null | undefined): ArmFailure | undefined {
  const read = readErrorBody(bodyAsText)
  return read.code || read.message ? failedOperation(read) : undefined
}

/** What ARM says of an error. */
interface Said {
  readonly code?: string | undefined
  readonly message?: string
}

function failedOperation({ code, message = '' }: Said): ArmFailure {
  const said = { code, message }
  return { kind: kindOfSaid(said) ?? kindOfOperation(said), code, message, isOperation: true }
}

const scopeCodes: ReadonlySet<string> = new Set([
  'parentresourcenotfound',
  'resourcegroupnotfound',
  'subscriptionnotfound',
  'invalidsubscriptionid',
  'invalidresourcetype',
  'invalidresourcenamespace',
  'noregisteredproviderfound',
  'missingapiversionparameter',
])

/** By what ARM says, whatever the status: not every 409 is a conflict, an unregistered provider is answered 409 as well. */
function kindOfSaid({ code: given = '', message = '' }: Said): ArmFailureKind | undefined {
  const code = given.toLowerCase()
  const isHandshake =
    /^url\s*validation/.test(code) ||
    /validation handshake failed|attempt to validate the provided endpoint/i.test(message)
  if (isHandshake) return 'handshake'
  if (code === 'missingsubscriptionregistration' || unregistered.test(message)) return 'unregistered'
  // It looks final and is not: the same request succeeds a little later (hashicorp/terraform-provider-azurerm#26256).
  if (code === 'messaginggatewaybadrequest') return 'busy'
  if (code === 'authorizationfailed') return 'forbidden'
  if (code.endsWith('authorizationfailed')) return 'forbiddenElsewhere'
  return scopeCodes.has(code) ? 'noScope' : undefined
}

const unregistered =
  /registration is in '(un|not)registered' state|is not registered (to use namespace|in subscription)/i

/** Codes of a 403 that comes from a policy or a setting: no role assignment helps. */
const disallowed = /^requestdisallowed|^disallowed|disabled/

/** Codes of a permanent 409: the same request would fail again. */
const lastingConflicts: ReadonlySet<string> = new Set([
  'scopelocked',
  'readonlydisabledsubscription',
  'subscriptionnotregistered',
  'requestdisallowedbypolicy',
  'quotaexceeded',
  'quotalimitreached',
  'limitexceeded',
])

function kindOfAnswer({ status, code: given = '', message = '' }: Said & { readonly status: number }): ArmFailureKind {
  const code = given.toLowerCase()
  switch (status) {
    case 401:
      // The token expired on its way, or by ARM's clock. A new one helps.
      return code === 'expiredauthenticationtoken' ? 'busy' : 'unauthorized'
    case 403:
      // Without a code a gateway or a proxy says so, and not ARM.
      if (code === '') return 'busy'
      return disallowed.test(code) ? 'refused' : 'forbidden'
    case 404:
      return code === '' ? 'busy' : 'notFound'
    case 409:
      return lastingConflicts.has(code) || /quota/i.test(message) ? 'refused' : 'busy'
    default:
      return status === 408 || status === 412 || status === 429 || status >= 500 ? 'busy' : 'refused'
  }
}

/** Codes and messages of an operation's failure that may pass: a fault of the service, or a source that is being changed. */
const passingOperations = [
  /^internal/i,
  /internal server error/i,
  /^conflict/i,
  /publisher (notification|provider) error/i,
  /^(service|server)(unavailable|busy|timeout)/i,
]

function kindOfOperation({ code = '', message = '' }: Said): ArmFailureKind {
  const passes = passingOperations.some((pattern) => pattern.test(code) || pattern.test(message))
  return code === '' || passes ? 'operation' : 'refused'
}

const maxBody = 100_000

/** What the body of an error says; no entry where the body says nothing. */
export function readErrorBody(text: string | null | undefined): Said {
  if (!text || text.length > maxBody) return {}
  const error = field(readJson(text), 'error')
  const code = nonEmpty(field(error, 'code'))
  const message = nonEmpty(field(error, 'message'))
  return { ...(code && { code }), ...(message && { message }) }
}

/** ARM's codes are words. A gateway repeats the status. */
const wordOf = (code: string | undefined) => (code !== undefined && /^\d+$/.test(code) ? undefined : code)

const field = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined)

const nonEmpty = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
