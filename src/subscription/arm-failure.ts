import { isRestError } from '@azure/core-rest-pipeline'
import { NoTokenError } from '../core/no-token.ts'
import { readRetryAfter } from '../core/retry-after.ts'
import { isRecord } from '../support/is-record.ts'

/** What became of a call to ARM that failed. */
export type ArmFailureKind =
  /** ARM answered with an error status. */
  | 'answer'
  /** ARM took the write, and its long-running operation failed. */
  | 'operation'
  /** Somebody else came between: the operation was cancelled, or its event subscription changed or deleted. */
  | 'canceled'
  /** ARM took the write, and then did not tell how it ended. */
  | 'lost'
  /** Event Grid waits until somebody confirms the endpoint by hand, since it did not by itself. */
  | 'manual'
  /** No answer came: name, connection, certificate or time. */
  | 'network'
  /** ARM was not asked, for there was no token to show it. */
  | 'token'
  /** What is under way did not end in time. */
  | 'deadline'
  /** Nothing that Azure does: the SDK refused the call itself. */
  | 'unexpected'

/**
 * How a call to ARM failed, taken out of the several shapes in which the SDK reports it. Texts are Azure's own and may
 * repeat what was sent, secrets too: they are shown only by way of `scrub`.
 */
export interface ArmFailure {
  readonly kind: ArmFailureKind
  readonly status: number | undefined
  /** Azure's error code, or the system's for the network. */
  readonly code: string | undefined
  readonly message: string
  /** Targets of the details, for instance the provider that is not registered. */
  readonly targets: readonly string[]
  /** What to do about it, where whoever gives the token said so. */
  readonly fix: string | undefined
  readonly retryAfterMs: number | undefined
  readonly requestId: string | undefined
}

/** Thrown by our own calls where the SDK would not: it is a failure already taken apart. */
export class ArmFailureError extends Error {
  override readonly name = 'ArmFailureError'
  readonly #failure: ArmFailure

  constructor(failure: Pick<ArmFailure, 'kind' | 'message'> & Partial<ArmFailure>) {
    super(failure.kind)
    this.#failure = { ...nothing, ...failure }
  }

  get failure(): ArmFailure {
    return this.#failure
  }
}

const nothing = {
  status: undefined,
  code: undefined,
  targets: [],
  fix: undefined,
  retryAfterMs: undefined,
  requestId: undefined,
} as const

/** Longest error body that is looked into. */
const longestBody = 100_000

/** Reads what the SDK threw. `now` in ms since 1970, for a `Retry-After` that names a date. */
export function readFailure(error: unknown, now: number): ArmFailure {
  if (error instanceof ArmFailureError) return error.failure
  if (error instanceof NoTokenError) {
    const { message, fix, retryAfterMs } = error
    return { ...nothing, kind: 'token', message, fix, retryAfterMs }
  }
  if (isRestError(error)) {
    const { statusCode: status, response } = error
    if (status === undefined || status < 400) {
      return { ...nothing, kind: 'network', code: error.code, message: error.message }
    }
    const read = readErrorBody(response?.bodyAsText ?? undefined)
    return {
      ...nothing,
      kind: 'answer',
      status,
      code: read.code ?? error.code,
      message: read.message ?? error.message,
      targets: read.targets,
      retryAfterMs: readRetryAfter((name) => response?.headers.get(name), now),
      requestId: response?.headers.get('x-ms-request-id'),
    }
  }
  if (!(error instanceof Error)) return { ...nothing, kind: 'unexpected', message: 'an unknown error' }
  if (error.name === 'AbortError' || error.name === 'TimeoutError') {
    return { ...nothing, kind: 'network', message: 'no answer came in time' }
  }
  if (error.name === 'PollerCancelledError' || error.message === 'Operation was canceled') {
    return { ...nothing, kind: 'canceled', message: 'the change of the event subscription was cancelled' }
  }
  const operation = /^The long-running operation has failed(?:\. (?<code>.+?)\. (?<message>.*))?$/s.exec(error.message)
  if (operation) {
    const { code, message = 'the operation failed without saying why' } = operation.groups ?? {}
    return { ...nothing, kind: 'operation', code, message }
  }
  return { ...nothing, kind: 'unexpected', message: error.message }
}

/**
 * Reads the failure of a long-running operation from its status body, which says more than the
 * error that the SDK makes of it.
 */
export function readOperationFailure(bodyAsText: string | null | undefined): ArmFailure | undefined {
  const { code, message, targets } = readErrorBody(bodyAsText ?? undefined)
  if (code === undefined && message === undefined) return undefined
  return { ...nothing, kind: 'operation', code, message: message ?? '', targets }
}

interface ErrorBody {
  readonly code: string | undefined
  readonly message: string | undefined
  readonly targets: readonly string[]
}

/** Codes that only wrap another error, which stands in their details. */
const wrappers: ReadonlySet<string> = new Set([
  'ResourceOperationFailure',
  'ResourceDeploymentFailure',
  'DeploymentFailed',
  'DeploymentOperationFailed',
])

function readErrorBody(text: string | undefined): ErrorBody {
  const absent: ErrorBody = { code: undefined, message: undefined, targets: [] }
  if (text === undefined || text.length > longestBody) return absent
  let error: unknown
  try {
    error = field(JSON.parse(text), 'error')
  } catch {
    return absent
  }
  for (let depth = 0; depth < 5; depth++) {
    const [inner] = details(error)
    if (!wrappers.has(String(field(error, 'code'))) || inner === undefined) break
    error = inner
  }
  return {
    code: nonEmpty(field(error, 'code')),
    message: nonEmpty(field(error, 'message')),
    targets: details(error).flatMap((detail) => nonEmpty(field(detail, 'target')) ?? []),
  }
}

const field = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

function details(error: unknown): readonly unknown[] {
  const list = field(error, 'details')
  return Array.isArray(list) ? list : []
}

const nonEmpty = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
