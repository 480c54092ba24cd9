/** The error of a payload that can't be published. */
import { BindingError, type PayloadDetails } from '../../core/errors.ts'

export function invalidPayload(what: string, fix: string, details?: PayloadDetails): BindingError {
  return new BindingError('PAYLOAD_INVALID', { what, fix, details })
}
