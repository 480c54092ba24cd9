/** How a call to Resource Manager failed, whatever shape the SDK reports it in. */
import { isRestError } from '@azure/core-rest-pipeline'
import { isBindingError } from '../core/errors.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { readRequestId, readRetryAfter } from './http.ts'
import { NoTokenError } from './refusals/entra-refusal.ts'
import { type Denial, readDenial } from './refusals/remedies.ts'

/** How a call to ARM failed. */
export type ArmFailureKind =
  /** ARM answered with an error status. */
  | 'answer'
  /** ARM accepted the write, and its long-running operation failed. */
  | 'operation'
  /** Somebody else interfered: the operation was cancelled, or the event subscription was changed or deleted. */
  | 'canceled'
  /** ARM accepted the write. How it ended is not known. */
  | 'lost'
  /** Event Grid waits for manual validation, because the endpoint did not answer the handshake. */
  | 'manual'
  /** Nothing was written: the endpoint gave an answer without consent to the same question that Event Grid would ask. */
  | 'noConsent'
  /** No answer: name resolution, connection, certificate or time-out. */
  | 'network'
  /** An answer came that is not one of ARM's: of another form, or from a gateway or proxy. */
  | 'answerUnread'
  /** There is no event subscription, and this binding does not create it. */
  | 'missing'
  /** There was no token, so ARM was not asked. */
  | 'token'
  /** An operation did not end in time. */
  | 'deadline'
  /** The SDK itself refused the call. */
  | 'unexpected'

/** A failed call to ARM, whatever shape the SDK reports it in. The texts are Azure's and may repeat secrets: show them through `scrub`. */
export interface ArmFailure {
  readonly kind: ArmFailureKind
  readonly status?: number | undefined
  /** Azure's error code, or the system's for the network. */
  readonly code?: string | undefined
  readonly message: string
  /** What the endpoint answered, with `noConsent`: the status. */
  readonly answer?: string | undefined
  /** Targets of the details, for instance the provider that is not registered. */
  readonly targets?: readonly string[]
  /** What a refusal names: a right, and where it is missing. */
  readonly denied?: Denial
  /** What to do about it, where the credential says so. */
  readonly fix?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly requestId?: string | undefined
}

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

const maxBody = 100_000

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
    return {
      kind: 'answer',
      status,
      // Of a text that is not ARM's the SDK makes a code of its own.
      code: response ? word : code,
      message:
        said.message ??
        (response && word === undefined ? 'its body is not an error of Azure Resource Manager' : message),
      targets: said.targets ?? [],
      ...(said.denied && { denied: said.denied }),
      retryAfterMs: readRetryAfter((name) => response?.headers.get(name), now),
      requestId: readRequestId(response?.headers.get('x-ms-request-id')),
    }
  }
  if (!(error instanceof Error)) return { kind: 'unexpected', message: 'an unknown error' }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return { kind: 'network', message: 'no answer came in time' }
  }
  if (error.name === 'PollerCancelledError' || error.message === 'Operation was canceled') {
    return { kind: 'canceled', message: 'the change of the event subscription was cancelled' }
  }
  const operation = /^The long-running operation has failed(?:\. (.+?)\. (.*))?$/s.exec(error.message)
  if (operation) {
    const [, code, message = 'the operation failed without saying why'] = operation
    return { kind: 'operation', code, message }
  }
  if (isBindingError(error)) return { kind: 'unexpected', message: error.what, fix: error.fix }
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
  return read.code || read.message ? { message: '', ...read, kind: 'operation' } : undefined
}

/** Codes that wrap another error. It is in their details. */
const wrappers: ReadonlySet<string> = new Set([
  'ResourceOperationFailure',
  'ResourceDeploymentFailure',
  'DeploymentFailed',
  'DeploymentOperationFailed',
])

/** What the body of an error says: no entry where it says nothing. */
function readErrorBody(
  text: string | null | undefined,
): Partial<Pick<ArmFailure, 'code' | 'message' | 'targets' | 'denied'>> {
  if (!text || text.length > maxBody) return {}
  let error = field(readJson(text), 'error')
  for (let depth = 0; depth < 5; depth++) {
    const [inner] = details(error)
    if (!wrappers.has(String(field(error, 'code'))) || inner === undefined) break
    error = inner
  }
  const code = nonEmpty(field(error, 'code'))
  const message = nonEmpty(field(error, 'message'))
  const targets = details(error).flatMap((detail) => nonEmpty(field(detail, 'target')) ?? [])
  return { ...(code && { code }), ...(message && { message, denied: readDenial(message) }), targets }
}

/** ARM's codes are words. A gateway repeats the status. */
const wordOf = (code: string | undefined) => (code !== undefined && /^\d+$/.test(code) ? undefined : code)

const field = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined)

function details(error: unknown): readonly unknown[] {
  const list = field(error, 'details')
  return Array.isArray(list) ? list : []
}

const nonEmpty = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
