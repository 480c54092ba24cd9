/** What every single gRPC call has in common: its component, its duration, the status and the log of a failure. */
import { type handleUnaryCall, type Metadata, type ServerUnaryCall, status } from '@grpc/grpc-js'
import { BindingError, type BindingErrorCode } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { nameOf } from '../../../support/process/error-code.ts'
import { inBackground } from '../../../support/work/work.ts'
import { statusDetails } from '../../shared/grpc.ts'

interface CallEnd {
  readonly code: string
  readonly durationMs: number
  readonly error?: unknown
}

/**
 * A handler of unary calls from a function that resolves or throws.
 *
 * @param onEnd called at the end of each call
 */
export function unary<Request, Response>(
  logger: Logger,
  work: (call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  onEnd: (call: ServerUnaryCall<Request, Response>, end: CallEnd) => void = () => {},
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const since = performance.now()
    const answered = work(call).then(
      (response) => {
        onEnd(call, { code: 'OK', durationMs: performance.now() - since })
        callback(null, response)
      },
      (error: unknown) => {
        const failure = failureOf(error)
        if (!(error instanceof BindingError)) logUnexpected(logger, error)
        onEnd(call, { code: String(status[failure.code]), durationMs: performance.now() - since, error })
        callback(failure)
      },
    )
    inBackground(answered, (error) => logUnexpected(logger, error))
  }
}

/** The component's name, from the gRPC metadata of the call. Empty where the host gives none. */
export function instanceName(metadata: Metadata): string {
  return String(metadata.get('x-component-instance')[0] ?? '').slice(0, 256)
}

/** Logs the place of the error, not its message: that may hold a secret. */
function logUnexpected(logger: Logger, error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.split('\n').find((line) => /^\s+at /.test(line))
  logger.error('a call failed unexpectedly', { error: nameOf(error), at: at?.trim() })
}

/** The gRPC status for each error. */
export const statusByCode: Readonly<Record<BindingErrorCode, keyof typeof status>> = {
  METADATA_INVALID: 'INVALID_ARGUMENT',
  NOT_INITIALIZED: 'FAILED_PRECONDITION',
  ALREADY_INITIALIZED: 'FAILED_PRECONDITION',
  CLOSED: 'UNAVAILABLE',
  OPERATION_UNSUPPORTED: 'UNIMPLEMENTED',
  SIDE_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  PORT_UNAVAILABLE: 'FAILED_PRECONDITION',
  CREDENTIALS_REJECTED: 'UNAUTHENTICATED',
  PERMISSION_DENIED: 'PERMISSION_DENIED',
  PROVIDER_NOT_REGISTERED: 'FAILED_PRECONDITION',
  SCOPE_NOT_FOUND: 'NOT_FOUND',
  HANDSHAKE_FAILED: 'FAILED_PRECONDITION',
  SUBSCRIPTION_REJECTED: 'FAILED_PRECONDITION',
  PAYLOAD_INVALID: 'INVALID_ARGUMENT',
  PAYLOAD_TOO_LARGE: 'INVALID_ARGUMENT',
  PUBLISH_REJECTED: 'FAILED_PRECONDITION',
  PUBLISH_UNAVAILABLE: 'UNAVAILABLE',
  OVERLOADED: 'RESOURCE_EXHAUSTED',
  TIMEOUT: 'DEADLINE_EXCEEDED',
  ABORTED: 'CANCELLED',
  PLUGIN_FAILED: 'INTERNAL',
}

/** The status and text for an error. The text of an unexpected error stays inside: it may hold a secret. */
export function failureOf(error: unknown) {
  if (!(error instanceof BindingError)) {
    return { code: status.INTERNAL, details: 'an unexpected error; the log of the component has it' }
  }
  return { code: status[statusByCode[error.code]], details: statusDetails(error.message) }
}
