/** The gRPC status for each error; the text of an unexpected one stays inside. */
import { status } from '@grpc/grpc-js'
import { BindingError, type BindingErrorCode } from '../../../core/errors.ts'
import { statusDetails } from '../../shared/grpc-services.ts'

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
